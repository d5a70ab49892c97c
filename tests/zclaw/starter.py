"""A process that owns a store for tests: `python -m tests.zclaw.starter FOLDER [START_AT]`.

Says the server's pid and address, or why not, in one line; then stays until its input closes or it is killed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from kernel.errors import OperatorError
from zclaw.store import start_store


def main() -> int:
    if len(sys.argv) > 2:
        time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
    try:
        with start_store(Path(sys.argv[1])) as store:
            print(store.pid, store.url, flush=True)
            sys.stdin.read()
    except OperatorError as error:
        print(error, flush=True)
        return 2
    return 0


sys.exit(main())
