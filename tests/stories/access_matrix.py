"""Who may do what on which way in, as a table: 8 ways in, 6 kinds of people, 10 actions.

    does   it takes effect
    told   it does not, and they are told so in words
    talk   their words go to the model, as words and nothing else
    says   a reminder says those words, and nothing comes of them
    ends   the card's time is over, undecided, and the model reads so
    -      nothing at all

On the ways where one writes, what belongs to a button is its data written by hand; on those where one presses, what
belongs to words is a forged button that carries them (Slack's buttons carry no Chinese and no blank: such a press is
nobody's). Telegram's owner has paired and its people are let in by grants; on Slack only the operator's lists count.

A member reads a group that was opened, alone they are a stranger; the group of a stranger was not opened. `nobody` is
an anonymous administrator (a notice of Telegram's in private); on Slack a guest. A job is a reminder that they set
while they might, or the end of a card's time.
"""

from __future__ import annotations

from enum import Enum

ACTIONS = ("talk", "set", "list", "cancel", "done", "other", "own", "new", "allow", "usage")
"""Say something, set, list and cancel a reminder, 完成 under one that fired, 允许 on another's card and on one's own,
/new, /allow somebody, /usage."""
ACTORS = ("owner", "allowed", "member", "stranger", "bot", "nobody")


class Outcome(Enum):
    """See above."""

    DOES = "does"
    TOLD = "told"
    TALK = "talk"
    SAYS = "says"
    ENDS = "ends"
    NOTHING = "-"


_TABLE = """
private   talk  set   list  cancel done  other own   new   allow usage
owner     does  does  does  does   talk  talk  talk  does  does  does
allowed   does  does  does  does   talk  talk  talk  does  told  does
member    told  told  told  told   told  told  told  told  told  told
stranger  told  told  told  told   told  told  told  told  told  told
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

group     talk  set   list  cancel done  other own   new   allow usage
owner     does  does  does  does   talk  talk  talk  does  does  does
allowed   does  does  does  does   talk  talk  talk  does  told  does
member    does  told  told  told   talk  talk  talk  told  told  told
stranger  told  told  told  told   told  told  told  told  told  told
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

edit      talk  set   list  cancel done  other own   new   allow usage
owner     -     -     -     -      -     -     -     -     -     -
allowed   -     -     -     -      -     -     -     -     -     -
member    -     -     -     -      -     -     -     -     -     -
stranger  -     -     -     -      -     -     -     -     -     -
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

callback  talk  set   list  cancel done  other own   new   allow usage
owner     told  told  told  does   does  does  does  told  told  told
allowed   told  told  told  does   does  told  does  told  told  told
member    told  told  told  told   does  told  does  told  told  told
stranger  told  told  told  told   does  told  told  told  told  told
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

slash     talk  set   list  cancel done  other own   new   allow usage
owner     does  does  does  does   talk  talk  talk  does  told  does
allowed   does  does  does  does   talk  talk  talk  does  told  does
member    does  told  told  told   talk  talk  talk  told  told  told
stranger  told  told  told  told   told  told  told  told  told  told
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

action    talk  set   list  cancel done  other own   new   allow usage
owner     -     -     told  does   does  does  does  told  -     told
allowed   -     -     told  does   does  told  does  told  -     told
member    -     -     told  told   does  told  does  told  -     told
stranger  -     -     told  told   does  told  told  told  -     told
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

file      talk  set   list  cancel done  other own   new   allow usage
owner     does  does  does  does   talk  talk  talk  does  does  does
allowed   does  does  does  does   talk  talk  talk  does  told  does
member    does  told  told  told   talk  talk  talk  told  told  told
stranger  told  told  told  told   told  told  told  told  told  told
bot       -     -     -     -      -     -     -     -     -     -
nobody    -     -     -     -      -     -     -     -     -     -

job       talk  set   list  cancel done  other own   new   allow usage
owner     says  says  says  says   says  ends  ends  says  says  says
allowed   says  says  says  says   says  ends  ends  says  says  says
member    says  says  says  says   says  ends  ends  says  says  says
stranger  says  says  says  says   says  ends  ends  says  says  says
bot       -     -     -     -      -     ends  ends  -     -     -
nobody    -     -     -     -      -     ends  ends  -     -     -
"""


def cells() -> dict[tuple[str, str, str], Outcome]:
    """What is expected, by way in, kind of person and action. Raises ValueError when the table is not whole."""
    found: dict[tuple[str, str, str], Outcome] = {}
    for block in _TABLE.strip().split("\n\n"):
        (path, *actions), *rows = (line.split() for line in block.splitlines())
        if tuple(actions) != ACTIONS or tuple(row[0] for row in rows) != ACTORS:
            raise ValueError(f"the block of {path!r} does not name every action and actor")
        for actor, *outcomes in rows:
            for action, outcome in zip(actions, outcomes, strict=True):
                found[path, actor, action] = Outcome(outcome)
    return found
