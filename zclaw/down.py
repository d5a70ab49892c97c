"""`zclaw down`: ends the installation of a data folder, also what a killed supervisor left behind."""

from __future__ import annotations

import sys
import time

from kernel.config import CommonSettings, Given
from zclaw.background import installed
from zclaw.folder import DataFolder
from zclaw.locks import is_locked
from zclaw.store import start_store

WITHIN_S = 75.0
"""Bots, workers and scheduler have 50 s to stop, then the store has 20 s."""
_POLL_S = 0.05


def run(given: Given) -> int:
    """Exit code: 0 when nothing runs any more, 1 when it does not end. Raises OperatorError."""
    folder = DataFolder(given.settings(CommonSettings).data_dir.resolve())
    if not is_locked(folder.owner_lock):
        if not is_locked(folder.store_lock):
            sys.stdout.write(f"zclaw does not run on {folder.root}.\n")
            return 0
        start_store(folder.root).stop()
        sys.stdout.write(f"The store that was left on {folder.root} has ended.\n")
        return 0
    folder.stop_request.touch()
    deadline = time.monotonic() + WITHIN_S
    while is_locked(folder.owner_lock):
        if time.monotonic() > deadline:
            sys.stderr.write(f"zclaw on {folder.root} has not ended after {WITHIN_S:.0f} s.\n")
            return 1
        time.sleep(_POLL_S)
    folder.stop_request.unlink(missing_ok=True)
    sys.stdout.write("zclaw has ended.\n")
    service = installed(folder)
    if service is not None:
        sys.stdout.write(f"It starts again at your next login: `{service.disabling}` keeps it from that.\n")
    return 0
