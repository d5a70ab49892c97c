"""Whoever imports this is caught: it leaves the file that ZCLAW_TEST_TRAP names."""

import os
from pathlib import Path

Path(os.environ["ZCLAW_TEST_TRAP"]).touch()


def spring(*_: object) -> None:
    """Do what a stranger's job wants done."""
