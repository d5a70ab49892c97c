"""Services of our own, each in a process that prints its port as its first line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def port_of(module: str) -> Iterator[int]:
    """The port of `python -m <module>`, which runs as long as the block."""
    with subprocess.Popen([sys.executable, "-m", module], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()
