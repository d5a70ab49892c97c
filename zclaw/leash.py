"""The role's end of the supervisor's pipe: when it closes, the supervisor is gone and the role ends too."""

from __future__ import annotations

import os
import signal
import threading
import time

GRACE_S = 4.5
"""From the closing of the pipe to the hard end; a role is gone within 5 s."""


def hold(pipe: int, grace_s: float = GRACE_S) -> None:
    """End this process when `pipe` closes: as if by SIGTERM at once, without asking after `grace_s`.

    Returns at once; a thread watches. A killed supervisor cannot send signals, but its pipes close.
    """
    threading.Thread(target=_watch, args=(pipe, grace_s), name="leash", daemon=True).start()


def _watch(pipe: int, grace_s: float) -> None:
    while os.read(pipe, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)  # The process's last seconds: nothing is left that could wake this thread.
    os._exit(1)
