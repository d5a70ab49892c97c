"""What a command is given, what it may use, and what comes back of it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from kernel.children.guarded import GuardedChildren
from kernel.errors import CannotStart
from kernel.ports import ChildCommand, ChildLimits, Exit, Finished, Isolation, TakeBack
from tests.kernel.children.conftest import is_empty
from tests.twins.processes import living, until, word

MINUTE = timedelta(minutes=1)


def sh(script: str, *arguments: str, **more: object) -> ChildCommand:
    return ChildCommand(("/bin/sh", "-c", script, *arguments), **more)  # type: ignore[arg-type]  # test shorthand


async def run(children: GuardedChildren, script: str, *arguments: str, **more: object) -> Finished:
    return await children.run(sh(script, *arguments, **more), within=MINUTE)


async def test_a_command_gives_its_code_and_both_outputs(children: GuardedChildren) -> None:
    done = await run(children, "echo 正文; echo bad >&2; exit 3")

    assert done.exit == Exit(code=3)
    assert (done.stdout.text, done.stderr.text) == ("正文\n", "bad\n")
    assert not done.is_timed_out
    assert not done.is_flooded


async def test_merged_outputs_keep_their_order(children: GuardedChildren) -> None:
    done = await run(children, "echo 1; echo 2 >&2; echo 3", is_merged=True)

    assert (done.stdout.text, done.stderr.text) == ("1\n2\n3\n", "")


async def test_a_command_that_is_killed_names_its_signal(children: GuardedChildren, isolation: Isolation) -> None:
    done = await run(children, "kill -SEGV $$")

    # A sandbox tells of it as a shell does.
    assert done.exit == (Exit(code=139) if isolation is Isolation.SANDBOX else Exit(signal=11))


async def test_arguments_are_no_shell_words(children: GuardedChildren) -> None:
    done = await children.run(ChildCommand(("/bin/echo", "$HOME `id`; x", "é ⏎", "")), within=MINUTE)

    assert done.stdout.text == "$HOME `id`; x é ⏎ \n"


async def test_input_arrives_whole_and_ends(children: GuardedChildren) -> None:
    done = await children.run(sh("wc -c"), within=MINUTE, stdin=b"x" * 1_000_000)

    assert done.stdout.text.split() == ["1000000"]


async def test_input_that_nobody_reads_is_no_error(children: GuardedChildren) -> None:
    done = await children.run(sh("exit 0"), within=MINUTE, stdin=b"x" * 1_000_000)

    assert done.exit == Exit(code=0)


@pytest.mark.parametrize("program", ["no-such-program", "/no/such/program", "/etc/passwd"])
async def test_what_is_no_program_cannot_be_started(children: GuardedChildren, program: str) -> None:
    with pytest.raises(CannotStart, match=program):
        await children.run(ChildCommand((program,)), within=MINUTE)

    assert (await run(children, "echo on")).stdout.text == "on\n"


async def test_a_folder_that_is_not_there_cannot_be_worked_in(inside: Path) -> None:
    children = GuardedChildren(Isolation.NONE, inside=inside)

    with pytest.raises(CannotStart, match="/no/such/folder"):
        await children.run(ChildCommand(("/bin/true",), folder="/no/such/folder"), within=MINUTE)

    await children.close()


async def test_a_command_may_work_in_a_folder_of_the_operators(children: GuardedChildren) -> None:
    done = await children.run(ChildCommand(("/bin/pwd",), folder="/usr"), within=MINUTE)

    assert done.stdout.text == "/usr\n"


async def test_the_environment_is_four_words_and_what_was_added(children: GuardedChildren) -> None:
    command = ChildCommand(("/usr/bin/env",), environment={"MORE": "yes", "LANG": "de_DE.UTF-8"})

    done = await children.run(command, within=MINUTE)

    found = dict(line.split("=", 1) for line in done.stdout.text.splitlines())
    assert set(found) - {"PWD"} == {"PATH", "HOME", "LANG", "TMPDIR", "MORE"}  # PWD is the sandbox's own.
    assert (found["MORE"], found["LANG"]) == ("yes", "de_DE.UTF-8")
    assert found["HOME"] != str(Path.home())


async def test_home_and_temporary_folder_are_its_own_and_go_with_it(children: GuardedChildren, inside: Path) -> None:
    done = await run(children, 'echo x >"$HOME/a" && echo x >"$TMPDIR/b" && echo "$HOME"')

    assert done.exit == Exit(code=0)
    assert done.stdout.text.startswith(str(inside))
    assert is_empty(inside)


async def test_a_child_holds_no_open_file_but_its_three(children: GuardedChildren) -> None:
    leaks = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    for leak in leaks:
        os.set_inheritable(leak, True)

    done = await run(children, "ls /proc/self/fd" if sys.platform == "linux" else "ls /dev/fd")

    for leak in leaks:
        os.close(leak)
    # The fourth is the folder that `ls` reads.
    assert done.stdout.text.split() == ["0", "1", "2", "3"]


async def test_limits_hold(children: GuardedChildren) -> None:
    limits = ChildLimits(cpu=timedelta(seconds=7), file_bytes=1024 * 512, open_files=50)

    done = await run(children, "ulimit -t; ulimit -f; ulimit -n; ulimit -c; umask", limits=limits)

    assert done.stdout.text.split() == ["7", "1024", "50", "0", "0077"]


async def test_a_file_that_grows_too_large_ends_its_writer(children: GuardedChildren) -> None:
    done = await run(
        children, "head -c 2000000 /dev/zero >big; stat -c %s big", limits=ChildLimits(file_bytes=1024 * 512)
    )

    assert done.stdout.text.split() == [str(1024 * 512)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a process's memory")
async def test_memory_is_bounded(children: GuardedChildren) -> None:
    done = await run(children, "tail -c 400m /dev/zero", limits=ChildLimits(memory_bytes=100 * 1024 * 1024))

    assert done.exit.code != 0


async def test_a_program_gains_no_right_by_being_set_user_id(children: GuardedChildren) -> None:
    done = await run(children, "grep NoNewPrivs /proc/self/status")

    assert done.stdout.text.split() == ["NoNewPrivs:", "1"]


async def test_a_child_is_polite_and_first_to_go(children: GuardedChildren) -> None:
    done = await run(children, "nice; cat /proc/self/oom_score_adj")

    assert done.stdout.text.split() == ["10", "1000"]


async def test_more_processes_than_allowed_are_not_to_be_had(children: GuardedChildren) -> None:
    """Also for root, whom the system does not limit. (Slow growth: a bomb that is not stopped would stop all else.)"""
    name = word()
    script = 'i=0; while [ $i -lt 300 ]; do sleep "$0" & i=$((i+1)); done; echo all; wait'

    done = await run(children, script, name, limits=ChildLimits(processes=60))

    assert "all" not in done.stdout.text
    assert living(name) == []


async def test_its_time_ends_a_command(children: GuardedChildren) -> None:
    began = time.monotonic()

    done = await children.run(sh('echo begun; sleep "$0"', word()), within=timedelta(seconds=0.3))

    assert done.is_timed_out
    assert done.stdout.text == "begun\n"
    assert time.monotonic() - began < 3


async def test_long_output_keeps_beginning_and_end(children: GuardedChildren) -> None:
    done = await run(children, "seq 1 100000", output_bytes=1000)

    text = done.stdout.text
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("99999\n100000\n")
    assert f"[… {588895 - 1000} bytes left out …]" in text
    assert done.exit == Exit(code=0)


async def test_a_flood_ends_its_writer_and_costs_little(children: GuardedChildren) -> None:
    done = await run(children, "yes | head -c 1000000000; echo never", output_bytes=1000)

    assert done.is_flooded
    assert not done.is_timed_out
    assert "never" not in done.stdout.text
    assert len(done.stdout.head + done.stdout.tail) == 1000


async def test_fifty_children_at_once(children: GuardedChildren) -> None:
    wave = [run(children, 'cat; echo "$0"', str(number), files={"f": b"x"}) for number in range(50)]

    done = await asyncio.gather(*wave)

    assert [each.stdout.text for each in done] == [f"{number}\n" for number in range(50)]


async def test_one_child_too_many_is_told_so(children: GuardedChildren) -> None:
    name = word()
    many = [asyncio.create_task(run(children, 'exec sleep "$0"', name)) for _ in range(128)]

    await until(lambda: children.guard and len(psutil.Process(children.guard).children()) == 128)
    with pytest.raises(CannotStart, match="too many"):
        await run(children, "echo more")

    for each in many:
        each.cancel()
    await asyncio.wait(many)
    assert living(name) == []
    assert (await run(children, "echo on")).stdout.text == "on\n"


async def test_the_files_come_back_as_the_command_left_them(children: GuardedChildren) -> None:
    files = {"a.txt": "一".encode(), "b/c.txt": b"two", "keep": b"same", "深/层.txt": b"deep"}
    script = "rm a.txt; echo three >b/c.txt; mkdir -p n/m; echo new >n/m/x; cat 深/层.txt; touch keep"

    done = await children.run(sh(script, files=files), within=MINUTE, take_back=TakeBack(10, 10_000))

    assert done.stdout.text == "deep"
    assert done.taken.written == {"b/c.txt": b"three\n", "n/m/x": b"new\n"}
    assert done.taken.deleted == ("a.txt",)
    assert done.taken.skipped == ()


async def test_links_lead_nowhere(children: GuardedChildren, inside: Path) -> None:
    (inside / "secret").write_text("canary")
    script = (
        "ln -s /etc/passwd l; ln -sf /etc/passwd given; rm -r folder; ln -s / folder; mkfifo p; ln -s . loop; "
        "mkdir real; ln -s ../../../secret real/up; echo fine >real/x"
    )
    files = {"given": b"old", "folder/etc/passwd": b"old"}

    done = await children.run(sh(script, files=files), within=MINUTE, take_back=TakeBack(10, 10_000))

    (inside / "secret").unlink()
    assert done.taken.written == {"real/x": b"fine\n"}
    assert done.taken.deleted == ()
    assert set(done.taken.skipped) == {"l", "given", "folder", "p", "loop", "real/up"}


async def test_the_folder_itself_replaced_by_a_link_gives_nothing(children: GuardedChildren) -> None:
    script = "cd ..; rm -r files; ln -s /etc files"

    done = await children.run(sh(script, files={"passwd": b"old"}), within=MINUTE, take_back=TakeBack(500, 10**7))

    assert (done.taken.written, done.taken.deleted) == ({}, ())
    assert done.taken.skipped == ("passwd",)


async def test_a_folder_full_of_traps_is_removed(children: GuardedChildren, inside: Path) -> None:
    script = (
        "i=0; while [ $i -lt 100 ]; do mkdir ddddddddddddddddddd; cd ddddddddddddddddddd; i=$((i+1)); done; "
        'cd "$HOME"; mkdir -p locked/in; echo x >locked/in/f; chmod 000 locked/in locked; chmod 000 .'
    )

    done = await run(children, script)

    assert done.exit == Exit(code=0)
    await until(lambda: is_empty(inside))
