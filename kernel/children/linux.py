"""What Linux alone can do for one process: prctl. Elsewhere each of these does nothing and says so."""

from __future__ import annotations

import ctypes
import sys

_PDEATHSIG, _DUMPABLE, _SUBREAPER, _NO_NEW_PRIVS = 1, 4, 36, 38


def adopt_orphans() -> bool:
    """From now on whoever loses its parent below this process becomes our child; whether this can be."""
    return _prctl(_SUBREAPER, 1)


def die_with_parent(signal_number: int) -> bool:
    """Get this signal when the thread that started us ends. To be called after a change of user, which undoes it."""
    return _prctl(_PDEATHSIG, signal_number)


def gain_nothing() -> bool:
    """No program that we or ours start gains a right by it: set-user-id programs run as we do."""
    return _prctl(_NO_NEW_PRIVS, 1)


def hide(*, is_hidden: bool = True) -> bool:
    """Other processes of our user can read neither our memory nor our environment, nor open our files in /proc.

    A fork stays hidden, a new program is not.
    """
    return _prctl(_DUMPABLE, 0 if is_hidden else 1)


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
