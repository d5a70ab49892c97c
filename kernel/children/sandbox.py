"""What keeps children from what is ours, and the sandbox's command line (bubblewrap)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

from kernel.children.users import can_change_user
from kernel.ports import Isolation

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" + (
    ":/opt/homebrew/bin" if sys.platform == "darwin" else ""
)
"""Where children look for programs."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
_OF_ETC = (
    *("alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("localtime", "mime.types", "nsswitch.conf", "passwd", "pki", "protocols", "resolv.conf", "services", "ssl"),
)
"""Of /etc a sandbox shows what programs need to find names and trust certificates."""


def find_isolation() -> Isolation:
    """The best that this machine offers this process. Starts a program to see: not for an event loop."""
    if can_change_user():
        return Isolation.SEPARATE_USER
    return Isolation.SANDBOX if sandbox_program() else Isolation.NONE


def sandbox_program(path: str = PATH) -> str | None:
    """Where bubblewrap is; None when it is not there or may not do its work here."""
    program = shutil.which("bwrap", path=path)
    if program is None:
        return None
    trial = sandboxed(program, ("/bin/sh", "-c", ":"), folders=(), readable=())
    try:
        done = subprocess.run(trial, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if done.returncode == 0 else None


def sandboxed(program: str, argv: Iterable[str], *, folders: Iterable[str], readable: Iterable[str]) -> tuple[str, ...]:
    """The command line that runs `argv` where only `folders` can be written and only they and `readable` be seen."""
    words = [program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    for system in _SYSTEM:
        words += ["--ro-bind-try", system, system]
    for name in _OF_ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]  # noqa: S108
    for shown in readable:
        real = os.path.realpath(shown)
        words += ["--ro-bind", real, real]
    for folder in folders:
        words += ["--bind", folder, folder]
    return (*words, "--", *argv)
