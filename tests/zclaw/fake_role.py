"""A role for tests: notes in a journal when it starts and stops, and what it was given.

`python -m tests.zclaw.fake_role NAME JOURNAL BEHAVIOUR FOLDER`; the behaviours are steady, dies, wrong, stubborn.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from kernel import config
from zclaw import leash
from zclaw.folder import DataFolder
from zclaw.locks import is_locked


def main() -> int:
    name, journal, behaviour, root = sys.argv[1:]
    folder = DataFolder(Path(root))
    given = config.read()
    assert given.pipe is not None
    leash.hold(given.pipe, grace_s=1.0)

    def note(event: str) -> None:
        entry = {"event": event, "role": name, "pid": os.getpid(), "keys": sorted(given.values)}
        entry["store"] = is_locked(folder.store_lock)
        with Path(journal).open("a") as file:
            file.write(json.dumps(entry) + "\n")

    asked = threading.Event()

    def on_term(_number: int, _frame: FrameType | None) -> None:
        if behaviour != "stubborn":
            asked.set()

    signal.signal(signal.SIGTERM, on_term)
    note("start")
    match behaviour:
        case "dies":
            return 1
        case "wrong":
            sys.stderr.write("some noise\nTELEGRAM_BOT_TOKEN was refused: ask BotFather for a new one.\n")
            return 2
        case _:
            while not asked.wait(1.0):
                pass
    note("stop")
    return 0


sys.exit(main())
