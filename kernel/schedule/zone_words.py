"""Reads words that name a zone: 北京时间, London time, 9am PT, UTC+8."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.lengths import Read
from kernel.schedule.phrases import InZone, Unclear
from kernel.schedule.tokens import Kind, Token
from kernel.schedule.words_en import ZONE_ALONE, ZONES

K = Kind


def zone_phrase(tokens: list[Token], i: int) -> Read:
    """The zone named at `i`: a place with "time", letters beside a time, UTC+8."""
    token = tokens[i]
    if token.kind is K.ZONE:
        return InZone(token.word), i + 1
    pair = f"{token.word}_{at(tokens, i + 1).word}"
    if pair in ZONES and at(tokens, i + 2).word == "time":
        return InZone(ZONES[pair]), i + 3
    if token.word in ZONES and at(tokens, i + 1).word == "time":
        return InZone(ZONES[token.word]), i + 2
    if token.word not in ZONE_ALONE:
        return None
    before, follow = at(tokens, i - 1), at(tokens, i + 1)
    beside = before.kind in (K.POINT, K.CLOCK, K.NUM) or before.word == "("
    opens = follow.kind in (K.CLOCK, K.PERIOD, K.DAY) or (follow.kind is K.NUM and at(tokens, i + 2).kind is K.POINT)
    if token.word in ("pt", "et") and (not beside or before.word == "(" or follow.kind in (K.WORD, K.TEXT)):
        return None  # 9am pt rounds: the patient's
    if token.word in ("utc", "gmt") and follow.word in ("+", "-") and follow.start == token.end:
        return _offset(tokens, i + 1)
    return (InZone(ZONES[token.word]), i + 1) if beside or opens else None


def _offset(tokens: list[Token], i: int) -> Read:
    """UTC+8, GMT-3时间: whole hours only, as the zone database names them (with the sign turned)."""
    sign, hours, j = at(tokens, i).word, at(tokens, i + 1), i + 2
    if hours.kind is not K.NUM or not hours.word.isdigit() or hours.n > 12:
        return Unclear(impossible=False), j
    if at(tokens, j).word in ("时间", "time"):
        j += 1
    return InZone(f"Etc/GMT{'-' if sign == '+' else '+'}{int(hours.n)}"), j
