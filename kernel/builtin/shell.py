"""The `shell` tool: runs a command over the conversation's files, after a person has seen it whole and allowed it."""

from __future__ import annotations

from datetime import timedelta

import structlog

from kernel.access import Rights, Standing
from kernel.builtin.visible import visible
from kernel.errors import BadArguments, CannotStart, ChildLost, ModelError
from kernel.messages import Concurrency, Json, ToolWords
from kernel.ports import ChildCommand, Children, Finished, Isolation, TakeBack
from kernel.texts import say
from kernel.tools import Approval, Requester, Tool, ToolContext, ToolOutcome
from kernel.workspace import Workspace

log = structlog.get_logger()

TIME_LIMIT = timedelta(seconds=60)
MAX_SHOWN_CHARS = 2_500
"""As a card shows it, everything written out; a longer command is refused, because nobody could read it whole."""
MAX_OUTPUT_BYTES = 16 * 1024
GIVEN_BYTES = 64 * 1024 * 1024
"""Of the conversation's files so much is laid out; what does not fit stays away and is said."""
TAKEN = TakeBack(files=100, total_bytes=20 * 1024 * 1024)

_AROUND = timedelta(seconds=20)
"""For laying out the files, ending what is left and taking the files back."""
_LONG_CHARS = 300
_NAMED_FILES = 20

_WORDS = ToolWords(
    "shell",
    "Run a command with /bin/sh in a folder that holds this conversation's files. A person sees the exact command and "
    "must allow it, so keep it short and readable. Gives the exit code and what it printed. It may run for 60 seconds; "
    "it has no input and no terminal. Files that it changes, makes or deletes in that folder are changed in the "
    "conversation; links and anything outside the folder are lost. Nothing keeps running afterwards.",
    '{"type":"object","properties":{"command":{"type":"string","minLength":1}},"required":["command"],'
    '"additionalProperties":false}',
)


def shell(children: Children, rights: Rights) -> Tool:
    """The tool over the one way to start a process; its card says what `children.isolation` means.

    Where nothing isolates, only an owner may have it, and in private: a command reads what our user reads.
    """

    async def resolve(arguments: Json, requester: Requester) -> Json:
        if children.isolation is Isolation.NONE and not (requester.is_private and await _is_owner(requester)):
            raise ModelError("Not available here: without isolation, commands are for the owner's private chat alone.")
        return arguments

    async def _is_owner(requester: Requester) -> bool:
        return await rights.of_person(requester.person, requester.conversation) is Standing.OWNER

    async def run(arguments: Json, context: ToolContext) -> ToolOutcome:
        return await _run(str(arguments["command"]), context, children)

    return Tool(
        words=_WORDS,
        concurrency=lambda _: Concurrency.EXCLUSIVE,
        approval=_approval,
        timeout=TIME_LIMIT + _AROUND,
        describe=lambda arguments, language: _card(str(arguments["command"]), language, children.isolation),
        run=run,
        resolve=resolve,
        needs=Standing.ALLOWED,
    )


def _approval(arguments: Json) -> Approval:
    """Always asks. Raises BadArguments for what no card can show whole."""
    shown = visible(str(arguments["command"]))
    if len(shown) > MAX_SHOWN_CHARS:
        raise BadArguments(
            f"The command is too long to be shown to a person ({len(shown)} of {MAX_SHOWN_CHARS} characters): "
            "write a script into a file with another tool and run that, or split it."
        )
    if "\0" in str(arguments["command"]):
        raise BadArguments("A command cannot hold a NUL character.")
    return Approval.ASK


def _card(command: str, language: str, isolation: Isolation) -> str:
    lines = command.count("\n") + 1
    key = "shell.asks_long" if len(command) > _LONG_CHARS or lines > 1 else "shell.asks"
    asks = say(key, language, words=visible(command), chars=str(len(command)), lines=str(lines))
    # The warning comes first: the command's own text must not be able to push it away.
    return f"{say('shell.unguarded', language)}\n{asks}" if isolation is Isolation.NONE else asks


async def _run(command: str, context: ToolContext, children: Children) -> ToolOutcome:
    files, absent = await _given(context.workspace)
    left = context.deadline - context.now - _AROUND
    asked = ChildCommand(("/bin/sh", "-c", command), files=files, output_bytes=MAX_OUTPUT_BYTES, is_merged=True)
    try:
        done = await children.run(asked, within=max(timedelta(seconds=1), min(TIME_LIMIT, left)), take_back=TAKEN)
    except CannotStart as error:
        log.error("shell cannot start", why=str(error))
        raise ModelError("Not run: no program can be started here. The people who run me must look at it.") from error
    except ChildLost:
        return ToolOutcome("The command was broken off from outside; it may have had effects.", is_error=True)
    notes = [_note("not there, they are too large", absent)]
    notes += await _take_back(done, context.workspace)
    text = "\n".join(part for part in (_ending(done), done.stdout.text.rstrip("\n"), *notes) if part)
    return ToolOutcome(text, is_error=done.is_timed_out or done.is_flooded)


async def _given(workspace: Workspace) -> tuple[dict[str, bytes], list[str]]:
    files: dict[str, bytes] = {}
    absent: list[str] = []
    room = GIVEN_BYTES
    for path in workspace.paths():
        try:
            content = await workspace.read(path)
        except ModelError:  # Its content is gone from the store.
            continue
        if len(content) > room:
            absent.append(path)
            continue
        room -= len(content)
        files[path] = content
    return files, absent


def _ending(done: Finished) -> str:
    if done.is_timed_out:
        return "The command was still running when its time was over, and was ended."
    if done.is_flooded:
        return "The command wrote without end, and was ended."
    return f"exit code {done.exit.code}" if done.exit.signal is None else f"ended by signal {done.exit.signal}"


async def _take_back(done: Finished, workspace: Workspace) -> list[str]:
    """Make the conversation's files what the command left; what to say about it."""
    for path in done.taken.deleted:
        workspace.delete(path)
    written: list[str] = []
    skipped = list(done.taken.skipped)
    for path, content in done.taken.written.items():
        try:
            await workspace.write(path, content)
            written.append(path)
        except ModelError:  # A name that we cannot keep, or one file too many.
            skipped.append(path)
    return [
        _note("written", written),
        _note("deleted", list(done.taken.deleted)),
        _note("not taken (links, specials, bad names, too many or too large)", sorted(skipped)),
    ]


def _note(what: str, paths: list[str]) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - _NAMED_FILES} more" if len(paths) > _NAMED_FILES else ""
    return f"[files {what}: {', '.join(map(repr, paths[:_NAMED_FILES]))}{more}]"
