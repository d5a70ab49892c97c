"""The shell tool: a person sees the whole command; the files go in and come back; nothing else does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from kernel.access import Access
from kernel.builtin.shell import MAX_SHOWN_CHARS, TIME_LIMIT, shell
from kernel.chat import ConversationId
from kernel.children.guarded import GuardedChildren
from kernel.children.sandbox import find_isolation
from kernel.errors import BadArguments, CannotStart, ModelError
from kernel.messages import Concurrency, ToolCall
from kernel.ports import ChildCommand, Children, Exit, Finished, Isolation, Output, Taken
from kernel.settings import PlatformId
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.state import Memory
from kernel.tools import Approval, BoundCall, Requester, ToolContext, ToolOutcome, ToolRegistry
from kernel.workspace import MAX_FILES, Workspace
from tests.twins.children import TwinChildren
from tests.twins.clock import JumpingClock
from tests.twins.processes import living, until, word
from tests.twins.rights import rights_of

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def bound(children: Children, command: object) -> BoundCall:
    call = ToolCall("c1", "shell", json.dumps({"command": command}))
    return ToolRegistry([shell(children, rights_of(Access()))]).bind(call)


def card(command: str, language: str = "en", isolation: Isolation = Isolation.SANDBOX) -> str:
    call = bound(TwinChildren(isolation=isolation), command)
    return call.tool.describe(call.arguments, language)


async def workspace(files: dict[str, bytes] | None = None) -> Workspace:
    blobs = MemoryBlobs(Memory(JumpingClock()))
    here = Workspace({}, blobs)
    for path, content in (files or {}).items():
        await here.write(path, content)
    return Workspace({path: str(blob) for path, blob in here.changes.items()}, blobs)


async def run(
    children: Children, command: str, here: Workspace | None = None, left: timedelta = timedelta(seconds=80)
) -> ToolOutcome:
    call = bound(children, command)
    context = ToolContext(
        conversation=ConversationId("console", "1", ""),
        requester="u1",
        language="en",
        zone="UTC",
        now=NOW,
        deadline=NOW + left,
        call="t1:c1:1",
        workspace=here or await workspace(),
    )
    assert call.tool.run is not None
    return await call.tool.run(call.arguments, context)


@pytest.fixture
async def real() -> AsyncIterator[GuardedChildren]:
    children = GuardedChildren(find_isolation())
    yield children
    await children.close()


def says(finished: Finished) -> TwinChildren:
    return TwinChildren(programs={"sh": lambda *_: finished})


def test_every_command_asks_and_runs_alone() -> None:
    call = bound(TwinChildren(), "ls")

    assert (call.approval, call.concurrency) == (Approval.ASK, Concurrency.EXCLUSIVE)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_card_shows_the_whole_command(language: str) -> None:
    command = "find . -name \"*.md\" | xargs grep -l '查房' > out; rm -rf *"

    assert command in card(command, language)


def test_a_long_command_says_how_long_it_is_and_is_shown_whole() -> None:
    command = "echo " + "a" * 1500

    shown = card(command)

    assert "1505 characters, 1 lines" in shown
    assert command in shown


def test_what_no_card_can_show_whole_is_refused() -> None:
    with pytest.raises(BadArguments, match="too long"):
        bound(TwinChildren(), "echo " + "a" * MAX_SHOWN_CHARS)
    with pytest.raises(BadArguments, match="too long"):
        bound(TwinChildren(), "\u200b" * (MAX_SHOWN_CHARS // 8 + 1))


@pytest.mark.parametrize("command", ["", 5, None, "a\0b"])
def test_what_is_no_command_is_refused(command: object) -> None:
    with pytest.raises(ModelError):
        bound(TwinChildren(), command)


def test_hidden_signs_are_written_out() -> None:
    assert "rm ⟨U+202E⟩txt.elif" in card("rm \u202etxt.elif")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_without_isolation_the_card_says_so_first(language: str) -> None:
    shown = card("ls", language, Isolation.NONE)

    assert shown.startswith("⚠️")
    assert not card("ls", language, Isolation.SANDBOX).startswith("⚠️")
    assert not card("ls", language, Isolation.SEPARATE_USER).startswith("⚠️")


async def test_output_and_code_come_back() -> None:
    children = says(Finished(Exit(code=2), Output(b"no such file\n")))

    outcome = await run(children, "ls x")

    assert outcome == ToolOutcome("exit code 2\nno such file")
    assert children.runs == [
        ChildCommand(("/bin/sh", "-c", "ls x"), files={}, output_bytes=children.runs[0].output_bytes, is_merged=True)
    ]


async def test_a_command_has_a_minute_and_never_more_than_its_turn() -> None:
    children = says(Finished(Exit(code=0)))

    await run(children, "x")
    await run(children, "x", left=timedelta(seconds=50))
    await run(children, "x", left=timedelta(seconds=5))

    assert children.limits == [TIME_LIMIT, timedelta(seconds=30), timedelta(seconds=1)]


@pytest.mark.parametrize(
    ("finished", "text", "is_error"),
    [
        (Finished(Exit(signal=9), is_timed_out=True), "The command was still running", True),
        (Finished(Exit(signal=9), is_flooded=True), "The command wrote without end", True),
        (Finished(Exit(signal=11)), "ended by signal 11", False),
        (Finished(Exit(code=0)), "exit code 0", False),
        (Finished(Exit(code=0), taken=Taken(skipped=("l",))), "[files not taken", False),
    ],
)
async def test_every_ending_is_told(finished: Finished, text: str, is_error: bool) -> None:
    outcome = await run(says(finished), "x")

    assert text in outcome.text
    assert outcome.is_error == is_error


async def test_a_command_that_is_broken_off_may_have_had_effects() -> None:
    children = says(Finished(Exit(code=0)))
    children.is_lost = True

    outcome = await run(children, "x")

    assert outcome.is_error
    assert "may have had effects" in outcome.text


async def test_a_machine_that_cannot_start_programs_has_run_nothing() -> None:
    def refuse(_command: ChildCommand, _stdin: bytes) -> Finished:
        raise CannotStart("/bin/sh cannot be started (Permission denied: /tmp/x)")

    with pytest.raises(ModelError, match="Not run") as caught:
        await run(TwinChildren(programs={"sh": refuse}), "x")
    assert "/tmp/x" not in str(caught.value)


async def test_files_that_do_not_fit_stay_as_they_are() -> None:
    files = {f"f{number:03}": b"x" for number in range(MAX_FILES)}
    here = await workspace(files)
    taken = Taken({"f000": b"new", "one-more": b"1", "bad\\name": b"2"}, deleted=())

    outcome = await run(says(Finished(Exit(code=0), taken=taken)), "x", here)

    assert set(here.changes) == {"f000"}
    assert "[files written: 'f000']" in outcome.text
    assert "'bad\\\\name', 'one-more'" in outcome.text


async def test_room_that_is_made_can_be_used() -> None:
    here = await workspace({f"f{number:03}": b"x" for number in range(MAX_FILES)})
    taken = Taken({"new": b"1"}, deleted=("f000",))

    await run(says(Finished(Exit(code=0), taken=taken)), "x", here)

    assert here.changes["f000"] is None
    assert here.changes["new"] is not None


async def test_a_file_whose_content_is_gone_is_neither_given_nor_deleted() -> None:
    here = Workspace({"gone": "no-such-blob"}, MemoryBlobs(Memory(JumpingClock())))
    children = says(Finished(Exit(code=0)))

    await run(children, "x", here)

    assert children.runs[0].files == {}
    assert here.changes == {}


async def test_a_real_command_changes_the_conversations_files(real: GuardedChildren) -> None:
    here = await workspace({"notes/a.txt": "一\n二\n".encode(), "b": b"old", "same": b"same"})

    outcome = await run(real, "wc -l notes/a.txt; sort -r notes/a.txt >sorted; rm b; ln -s /etc/passwd l", here)

    assert outcome.text == (
        "exit code 0\n2 notes/a.txt\n[files written: 'sorted']\n[files deleted: 'b']\n"
        "[files not taken (links, specials, bad names, too many or too large): 'l']"
    )
    assert set(here.changes) == {"sorted", "b"}
    assert await here.read("sorted") == "二\n一\n".encode()


async def test_a_real_command_that_is_stopped_leaves_nothing(real: GuardedChildren) -> None:
    name = word()
    running = asyncio.create_task(run(real, f"(setsid sleep {name} &); sleep {name}; :"))
    await until(lambda: len(living(name)) >= 2)

    running.cancel()
    async with asyncio.timeout(2):
        with pytest.raises(asyncio.CancelledError):
            await running

    assert living(name) == []


@pytest.mark.parametrize("isolation", list(Isolation))
@pytest.mark.parametrize(("person", "is_private"), [("owner", True), ("owner", False), ("guest", True)])
async def test_without_isolation_only_an_owner_has_it_and_in_private(
    isolation: Isolation, person: str, is_private: bool
) -> None:
    access = Access(owners=frozenset({PlatformId("twin", "owner")}))
    tool = shell(TwinChildren(isolation=isolation), rights_of(access))
    assert tool.resolve is not None
    here = Requester(person, ConversationId("twin", "1"), is_private)
    arguments = {"command": "ls"}

    if isolation is not Isolation.NONE or (person == "owner" and is_private):
        assert await tool.resolve(arguments, here) == arguments
        return
    with pytest.raises(ModelError, match="owner's private chat"):
        await tool.resolve(arguments, here)
