"""What a sandbox shows, and which isolation is found."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kernel.children.guarded import GuardedChildren
from kernel.children.sandbox import find_isolation, sandbox_program, sandboxed
from kernel.children.users import can_change_user
from kernel.ports import ChildCommand, Isolation


def test_only_named_folders_can_be_written() -> None:
    words = sandboxed("bwrap", ("prog", "--bind"), folders=("/a b",), readable=("/usr/share",))

    assert words[-2:] == ("prog", "--bind")
    ours = words[: words.index("--")]
    assert [ours[at + 1 : at + 3] for at, word in enumerate(ours) if word == "--bind"] == [("/a b", "/a b")]
    assert {"--die-with-parent", "--unshare-pid"} <= set(ours)
    assert not {"/", "/home", "/root", "/etc", "/run", "/var"} & set(ours)


def test_a_sandbox_that_does_not_work_here_is_none(tmp_path: Path) -> None:
    assert sandbox_program(str(tmp_path)) is None

    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)

    assert sandbox_program(str(tmp_path)) is None


def test_the_best_isolation_is_found() -> None:
    found = find_isolation()

    assert (found is Isolation.SEPARATE_USER) == can_change_user()
    if found is Isolation.NONE:
        assert sandbox_program() is None


async def test_a_sandboxed_child_sees_its_own_folder_and_nobody_else(
    children: GuardedChildren, isolation: Isolation, inside: Path
) -> None:
    if isolation is not Isolation.SANDBOX:
        pytest.skip("no bubblewrap here")
    (inside / "store.sock").write_text("canary")
    script = f"ls -a {inside}; cat {inside}/store.sock; cat /proc/[0-9]*/cmdline; ls /home /root {Path.home()}"

    done = await children.run(ChildCommand(("/bin/sh", "-c", script), is_merged=True), within=timedelta(minutes=1))

    (inside / "store.sock").unlink()
    assert "canary" not in done.stdout.text
    assert "guard" not in done.stdout.text
    assert done.stdout.text.count("No such file or directory") >= 3
