"""The signs of an expression: digits, names and operators, however they were typed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache

from kernel.builtin.calculator.functions import FUNCTIONS, constant
from kernel.builtin.calculator.reals import too_large
from kernel.builtin.calculator.units import MOLAR_MASSES, find_unit, units
from kernel.errors import ModelError

MAX_SIGNS = 1_000


class Kind(Enum):
    """What a token is."""

    NUMBER = "number"
    UNIT = "unit"
    CONSTANT = "constant"
    FUNCTION = "function"
    SUBSTANCE = "substance"
    SIGN = "sign"
    CONVERT = "convert"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `text` as the parser compares it, `number` of a number."""

    kind: Kind
    text: str
    number: Fraction = Fraction(0)


_BEFORE_FOLDING = str.maketrans(
    # What NFKC would turn into something else than people mean by it.
    {"²": "^2", "³": "^3", "㎡": "m^2", "㎥": "m^3", "㎞": "km", "½": " 1/2", "¼": " 1/4", "¾": " 3/4"}
)
_AFTER_FOLDING = str.maketrans(
    {"×": "*", "⋅": "*", "·": "*", "∙": "*", "∗": "*", "÷": "/", "⁄": "/", "∕": "/", "−": "-", "–": "-", "—": "-"}
    | {"µ": "μ", "。": ".", "、": ",", "[": "(", "]": ")", "【": "(", "】": ")", "‰": " * 0.001"}
)
_CHINESE_WORDS = {
    **dict.fromkeys(("等于多少", "换算成", "换算为", "转换成", "转换为", "换成", "转成", "是多少", "合多少"), "in"),
    **{"加上": "+", "加": "+", "减去": "-", "减": "-", "乘以": "*", "乘": "*", "除以": "/", "的": "of"},
    **{"万": "万", "亿": "亿"},
}
_MULTIPLES = {"万": Fraction(10_000), "亿": Fraction(100_000_000)}
_CONVERT = frozenset({"in", "to", "as", "into", "->", "→", "=>"})

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+(?![\dA-Za-z.]))?", re.ASCII)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?", re.ASCII)
_NAME = re.compile(r"log10|log2|uric_acid|cmH2O|°[CF]?|[A-Za-zμπ]+", re.ASCII)
_RAISED = frozenset({"m", "km", "dm", "cm", "mm", "in", "ft", "yd", "mi", "s"})
"""Units behind which a 2 or 3 is an exponent: m2, m/s2."""
_POWER = re.compile(r"[23](?![\w.])")
_SIGN = re.compile(r"\*\*|//|->|=>|→|[-+*/%^(),!]")
_MAX_POWER_OF_TEN = 1_000


def tokens(expression: str) -> list[Token]:
    """The tokens, the last one END. Raises `ModelError` for a sign or name that is unknown, or too many of them."""
    if len(expression) > MAX_SIGNS:
        raise ModelError(f"The expression has {len(expression):,} characters; the limit is {MAX_SIGNS:,}.")
    text = unicodedata.normalize("NFKC", expression.translate(_BEFORE_FOLDING)).translate(_AFTER_FOLDING)
    if len(text) > 2 * MAX_SIGNS:
        raise ModelError("The expression is too long.")
    return [*_scan(re.sub(r"[\s=?]+$", "", text)), Token(Kind.END, "")]


def _scan(text: str) -> Iterator[Token]:
    at, calls, is_call = 0, list[bool](), False
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if found := (None if any(calls[-1:]) else _GROUPED.match(text, at)) or _NUMBER.match(text, at):
            token = Token(Kind.NUMBER, found[0], _number(found[0]))
        elif found := _SIGN.match(text, at):
            token = Token(Kind.CONVERT if found[0] in _CONVERT else Kind.SIGN, found[0].replace("**", "^"))
            # Commas are thousands separators outside of a function's own parentheses, and part arguments inside.
            if found[0] == "(":
                calls.append(is_call)
            elif found[0] == ")" and calls:
                calls.pop()
        elif found := _NAME.match(text, at) or _chinese().match(text, at):
            token = _name(found[0], is_called=text[found.end() :].lstrip()[:1] == "(")
        else:
            raise ModelError(f"{text[at]!r} is not understood here.")
        yield token
        is_call = token.kind is Kind.FUNCTION
        at = found.end()
        if token.text in _RAISED and found[0].isascii() and (squared := _POWER.match(text, at)):
            yield from (Token(Kind.SIGN, "^"), Token(Kind.NUMBER, squared[0], Fraction(squared[0])))
            at = squared.end()


def _number(text: str) -> Fraction:
    digits, _, exponent = text.lower().replace(",", "").partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_POWER_OF_TEN):
        raise too_large()
    return Fraction(digits.rstrip(".") if digits != "." else "0") * Fraction(10) ** int(exponent or 0)


def _name(name: str, *, is_called: bool) -> Token:
    lower = name.lower()
    word = _CHINESE_WORDS.get(name, lower)
    if is_called and lower in FUNCTIONS:
        return Token(Kind.FUNCTION, lower)
    if word in _CONVERT:
        return Token(Kind.CONVERT, word)
    if word in ("of", "mod", "+", "-", "*", "/"):
        return Token(Kind.SIGN, "*" if word == "of" else word)
    if name in _MULTIPLES:
        return Token(Kind.NUMBER, name, _MULTIPLES[name])
    if constant(lower if lower == "pi" else name) is not None:
        return Token(Kind.CONSTANT, lower)
    if unit := find_unit(name):
        return Token(Kind.UNIT, unit.symbol)
    if lower in MOLAR_MASSES:
        return Token(Kind.SUBSTANCE, lower)
    if lower in FUNCTIONS:
        raise ModelError(f"{lower} needs parentheses: {lower}(…).")
    raise ModelError(f"{name!r} is not a unit, function or constant that I know.")


@cache
def _chinese() -> re.Pattern[str]:
    """Chinese words, the longest first: they stand without blanks between them."""
    words = [word for word in (*_CHINESE_WORDS, *units(), *MOLAR_MASSES) if not word.isascii()]
    return re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
