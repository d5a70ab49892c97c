"""Small moves on the frames of a turn; what they mean stands in `kernel.transitions`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kernel.session import Frame, Gate, Turn

_GateChange = Callable[[Gate], Gate]


def map_gates(turn: Turn, change: _GateChange) -> Turn:
    """The turn with every gate of every frame changed."""
    frames = tuple(
        replace(frame, open=replace(frame.open, gates=tuple(change(gate) for gate in frame.open.gates)))
        if frame.open
        else frame
        for frame in turn.frames
    )
    return replace(turn, frames=frames)


def map_top_gates(turn: Turn, change: _GateChange) -> Turn:
    """The turn with every gate of its top frame changed; the same turn when no message is open there."""
    opened = turn.top.open
    if opened is None:
        return turn
    gates = tuple(change(gate) for gate in opened.gates)
    return with_top(turn, replace(turn.top, open=replace(opened, gates=gates)))


def with_top(turn: Turn, frame: Frame) -> Turn:
    """The turn with `frame` in place of its top one."""
    return replace(turn, frames=(*turn.frames[:-1], frame))


def drop_frames(turn: Turn, kept: int) -> Turn:
    """The turn with its first `kept` frames; the ids of calls in the others stay spent."""
    gone = turn.frames[kept:]
    closed = [call.id for frame in gone for message in frame.messages for call in message.calls]
    still_open = [gate.call.id for frame in gone if frame.open for gate in frame.open.gates]
    return replace(turn, frames=turn.frames[:kept], spent=(*turn.spent, *closed, *still_open))
