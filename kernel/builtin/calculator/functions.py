"""The functions and constants of the calculator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kernel.builtin.calculator import reals
from kernel.builtin.calculator.units import ANGLE
from kernel.builtin.calculator.values import Value, convert, dimension, like, plain, power
from kernel.errors import ModelError

_MAX_PLACES = 100
_HALVES = {Fraction(at): halves for at, halves in ((0, 0), (30, 1), (90, 2), (150, 1), (180, 0))} | {
    Fraction(at): -halves for at, halves in ((210, 1), (270, 2), (330, 1))
}
"""The sines of these degrees, in halves."""
_MAX_FACTORIAL = 1_000


@dataclass(frozen=True, slots=True)
class Function:
    """What a name in front of parentheses does, and how many arguments it takes."""

    run: Callable[[Sequence[Value]], Value]
    least: int = 1
    most: int = 1


def constant(name: str) -> Value | None:
    """`pi` and `e`; None for other names."""
    known = {"pi": reals.PI, "π": reals.PI, "e": reals.E}.get(name)
    return None if known is None else Value(reals.settled(known), is_exact=False)


def factorial(value: Value) -> Value:
    """`n!` of a whole number."""
    number = plain(value, "a factorial's number")
    if number.denominator != 1 or number < 0:
        raise ModelError("Factorials exist of whole numbers from 0 on.")
    if number > _MAX_FACTORIAL:
        raise reals.too_large()
    amount, is_exact = reals.bounded(Fraction(math.factorial(int(number))))
    return Value(amount, is_exact=is_exact)


def _square_root(values: Sequence[Value]) -> Value:
    if values[0].amount < 0:
        raise ModelError("A negative number has no real square root.")
    return power(values[0], Value(Fraction(1, 2)))


def _absolute(values: Sequence[Value]) -> Value:
    return replace(values[0], amount=abs(values[0].amount))


def _round(values: Sequence[Value]) -> Value:
    """Halves go away from zero, as people learn it."""
    places = plain(values[1], "the number of places") if len(values) > 1 else Fraction(0)
    if places.denominator != 1 or abs(places) > _MAX_PLACES:
        raise ModelError(f"round takes a whole number of places up to {_MAX_PLACES}.")
    scale = Fraction(10) ** int(places)
    size = Fraction(math.floor(abs(values[0].amount) * scale + Fraction(1, 2))) / scale
    return replace(values[0], amount=size if values[0].amount >= 0 else -size, is_exact=True)


def _floor(values: Sequence[Value]) -> Value:
    return replace(values[0], amount=Fraction(math.floor(values[0].amount)), is_exact=True)


def _ceil(values: Sequence[Value]) -> Value:
    return replace(values[0], amount=Fraction(math.ceil(values[0].amount)), is_exact=True)


def _least(values: Sequence[Value]) -> Value:
    return min(values, key=lambda value: like(values[0], value).amount)


def _most(values: Sequence[Value]) -> Value:
    return max(values, key=lambda value: like(values[0], value).amount)


def _log(values: Sequence[Value]) -> Value:
    return _logarithm(values[0], plain(values[1], "the base") if len(values) > 1 else Fraction(10))


def _logarithm(value: Value, base: Fraction | None) -> Value:
    amount, is_exact = reals.log(plain(value, "the number of a logarithm"), base)
    return Value(amount, is_exact=is_exact and value.is_exact)


def _exp(values: Sequence[Value]) -> Value:
    amount, is_exact = reals.exp(plain(values[0], "an exponent"))
    return Value(amount, is_exact=is_exact and values[0].is_exact)


def _sine(values: Sequence[Value]) -> Value:
    return _wave(values[0], 0)


def _cosine(values: Sequence[Value]) -> Value:
    return _wave(values[0], 90)


def _tangent(values: Sequence[Value]) -> Value:
    above, below = _wave(values[0], 0), _wave(values[0], 90)
    if below.amount == 0:
        raise ModelError("The tangent has no value there.")
    if above.is_exact and below.is_exact:
        return Value(above.amount / below.amount)
    degrees = _degrees(values[0])
    if degrees is not None and degrees % 90 == 45 and values[0].is_exact:
        return Value(Fraction(1 if degrees % 180 == 45 else -1))
    return Value(reals.settled(above.amount / below.amount), is_exact=False)


def _wave(value: Value, ahead: int) -> Value:
    """The sine of the angle and so many degrees more; exact at multiples of 30° where it is a fraction."""
    degrees = _degrees(value)
    if degrees is not None:
        turned = (degrees + ahead) % 360
        if value.is_exact and turned in _HALVES:
            return Value(Fraction(_HALVES[turned], 2))
        return Value(reals.sine(turned * reals.PI / 180), is_exact=False)
    radians = plain(value, "an angle (like 30 deg or 1.5 rad)")
    if radians == 0:
        return Value(Fraction(ahead // 90), is_exact=value.is_exact)
    return Value(reals.sine(radians) if ahead == 0 else reals.cosine(radians), is_exact=False)


def _degrees(value: Value) -> Fraction | None:
    """The angle, when it was given in degrees or radians; None for a plain number."""
    return convert(value, (("deg", 1),)).amount if dimension(value.powers) == ANGLE else None


FUNCTIONS = {
    "sqrt": Function(_square_root),
    "abs": Function(_absolute),
    "round": Function(_round, 1, 2),
    "floor": Function(_floor),
    "ceil": Function(_ceil),
    "min": Function(_least, 1, 100),
    "max": Function(_most, 1, 100),
    "log": Function(_log, 1, 2),
    "log10": Function(lambda values: _logarithm(values[0], Fraction(10))),
    "log2": Function(lambda values: _logarithm(values[0], Fraction(2))),
    "ln": Function(lambda values: _logarithm(values[0], None)),
    "exp": Function(_exp),
    "sin": Function(_sine),
    "cos": Function(_cosine),
    "tan": Function(_tangent),
    "factorial": Function(lambda values: factorial(values[0])),
}
