"""Numbers with units, exact as long as the arithmetic is, and what the signs + − × ÷ mean for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from kernel.builtin.calculator import reals
from kernel.builtin.calculator.units import AMOUNT, MASS, PLAIN, Dimension, units
from kernel.errors import ModelError

Powers = tuple[tuple[str, int], ...]
"""Unit symbols with their exponents: km/h is (("km", 1), ("h", -1))."""

_MAX_EXPONENT = 12


@dataclass(frozen=True, slots=True)
class Value:
    """So much of a unit. `is_bare` says that it was written as a unit alone: the `kg` of `5 mg/kg`."""

    amount: Fraction
    powers: Powers = ()
    is_exact: bool = True
    is_percent: bool = False
    is_bare: bool = False


def written(powers: Powers) -> str:
    """The units as people write them: `km/h`, `m^2`, `mg/(kg·d)`."""
    above = [_power_text(symbol, exponent) for symbol, exponent in powers if exponent > 0]
    below = [_power_text(symbol, -exponent) for symbol, exponent in powers if exponent < 0]
    if not below:
        return "·".join(above)
    return f"{'·'.join(above) or '1'}/{below[0] if len(below) == 1 else '(' + '·'.join(below) + ')'}"


def negative(value: Value) -> Value:
    """`-value`; −40 °C is forty below zero of its own scale."""
    return replace(value, amount=-value.amount, is_bare=False)


def percent(value: Value) -> Value:
    """`value %`."""
    _refuse_units(value, "a percentage")
    return Value(value.amount / 100, is_exact=value.is_exact, is_percent=True)


def add(left: Value, right: Value) -> Value:
    """`left + right`, in the unit of `left`; `80 + 15%` is 80 and 15 % of it."""
    if right.is_percent and not left.is_percent:
        return multiply(left, Value(1 + right.amount, is_exact=right.is_exact))
    other = like(left, right)
    is_exact = left.is_exact and other.is_exact
    total = left.amount + other.amount
    if not is_exact and abs(total) * 10**35 < max(abs(left.amount), abs(other.amount)):
        total = Fraction(0)  # What is left of two equal inexact numbers is noise.
    return _made(total, left.powers, is_exact=is_exact, is_percent=left.is_percent and right.is_percent)


def subtract(left: Value, right: Value) -> Value:
    """`left - right`."""
    return add(left, negative(right))


def multiply(left: Value, right: Value) -> Value:
    """`left * right`; `60 km/h * 30 min` are kilometres."""
    powers, ratio = _joined(left, right, 1)
    return _made(left.amount * right.amount * ratio, powers, is_exact=left.is_exact and right.is_exact)


def divide(left: Value, right: Value) -> Value:
    """`left / right`. Raises `ModelError` for a division by zero."""
    _refuse_zero(right)
    powers, ratio = _joined(left, right, -1)
    return _made(left.amount / right.amount * ratio, powers, is_exact=left.is_exact and right.is_exact)


def floor_divide(left: Value, right: Value) -> Value:
    """`left // right`: how often `right` fits whole, rounded down."""
    _refuse_zero(right)
    other = like(left, right)
    return Value(Fraction(floor(left.amount / other.amount)), is_exact=left.is_exact and other.is_exact)


def modulo(left: Value, right: Value) -> Value:
    """What `left // right` leaves; it has the sign of `right`."""
    _refuse_zero(right)
    other = like(left, right)
    rest = left.amount - other.amount * floor(left.amount / other.amount)
    return _made(rest, left.powers, is_exact=left.is_exact and other.is_exact)


def power(base: Value, exponent: Value) -> Value:
    """`base ** exponent`; of a unit only whole powers, and roots that come out even."""
    _refuse_units(exponent, "an exponent")
    powers = _raised(base.powers, exponent.amount)
    amount, is_exact = reals.power(base.amount, exponent.amount)
    return _made(amount, powers, is_exact=is_exact and base.is_exact and exponent.is_exact, is_bare=base.is_bare)


def like(model: Value, value: Value) -> Value:
    """`value` in the unit of `model`. Raises `ModelError` when they cannot be compared."""
    _refuse_scales(model, value)
    return value if model.powers == value.powers else convert(value, model.powers)


def plain(value: Value, what: str) -> Fraction:
    """The number of a value without unit. Raises `ModelError` for any other; `what` is what it should be."""
    _refuse_units(value, what)
    return value.amount


def convert(value: Value, target: Powers, molar_mass: Fraction | None = None) -> Value:
    """The same quantity in the units of `target`; with a molar mass also from mg/dL to mmol/L and back.

    Raises `ModelError` when the two measure different things.
    """
    scales = _scale(value.powers), _scale(target)
    if scales[0] is not None and scales[1] is not None:
        (factor, zero), (into, into_zero) = scales[0], scales[1]
        amount = (value.amount * factor + zero - into_zero) / into
    else:
        amount = value.amount * _ratio(value.powers, target, molar_mass)
    is_exact = value.is_exact and _are_exact(value.powers, target) and molar_mass is None
    return _made(amount, target, is_exact=is_exact)


def dimension(powers: Powers) -> Dimension:
    """What the units measure."""
    total = list(PLAIN)
    for symbol, exponent in powers:
        for place, size in enumerate(units()[symbol].dimension):
            total[place] += size * exponent
    return (total[0], total[1], total[2], total[3], total[4], total[5], total[6])


def _made(
    amount: Fraction, powers: Powers, *, is_exact: bool, is_percent: bool = False, is_bare: bool = False
) -> Value:
    kept, fits = reals.bounded(amount)
    is_exact = is_exact and fits
    return Value(kept if is_exact else reals.settled(kept), powers, is_exact, is_percent, is_bare)


def _refuse_scales(*values: Value) -> None:
    if any(units()[symbol].zero for value in values for symbol, _ in value.powers):
        raise ModelError("Temperatures in °C and °F can only be converted; calculate with plain numbers or in K.")


def _scale(powers: Powers) -> tuple[Fraction, Fraction] | None:
    """Factor and zero of a temperature scale: of °C, °F, and of K beside them; None for other units."""
    if len(powers) == 1 and powers[0][1] == 1:
        unit = units()[powers[0][0]]
        if unit.zero or unit.symbol == "K":
            return unit.factor, unit.zero
    return None


def _ratio(powers: Powers, target: Powers, molar_mass: Fraction | None) -> Fraction:
    have, want = dimension(powers), dimension(target)
    ratio = _factor(powers) / _factor(target)
    if have == want:
        return ratio
    moles = tuple(a - b for a, b in zip(want, have, strict=True))
    sign = {_less(AMOUNT, MASS): 1, _less(MASS, AMOUNT): -1}.get(moles)
    if sign is None:
        left, right = (written(each) or "a number without unit" for each in (powers, target))
        raise ModelError(f"{left} cannot become {right}: they measure different things.")
    if molar_mass is None:
        raise ModelError(
            "Between mass and moles the substance is needed, like “100 mg/dL glucose in mmol/L” "
            "(glucose, cholesterol, triglycerides, creatinine, urea, uric_acid, bilirubin, calcium)."
        )
    return ratio / molar_mass**sign


def _less(left: Dimension, right: Dimension) -> tuple[int, ...]:
    return tuple(a - b for a, b in zip(left, right, strict=True))


def _factor(powers: Powers) -> Fraction:
    factor = Fraction(1)
    for symbol, exponent in powers:
        unit = units()[symbol]
        if unit.zero:
            raise ModelError(f"{unit.symbol} stands only alone; use K inside compound units.")
        factor *= unit.factor**exponent
    return factor


def _are_exact(*powers: Powers) -> bool:
    return all(units()[symbol].is_exact for each in powers for symbol, _ in each)


def _joined(left: Value, right: Value, sign: int) -> tuple[Powers, Fraction]:
    """The units of a product or quotient, and what the amount must be multiplied by.

    Units of one kind become one (`km` and `m`), except where a unit was written alone: `5 mg/kg` stays as it is.
    """
    _refuse_scales(left, right)
    powers, ratio = dict(left.powers), Fraction(1)
    for symbol, exponent in right.powers:
        unit, home = units()[symbol], symbol
        if symbol not in powers and not right.is_bare:
            home = next((known for known in powers if units()[known].dimension == unit.dimension), symbol)
            ratio *= (unit.factor / units()[home].factor) ** (exponent * sign)
        powers[home] = powers.get(home, 0) + exponent * sign
    return _checked(tuple((symbol, exponent) for symbol, exponent in powers.items() if exponent)), ratio


def _raised(powers: Powers, exponent: Fraction) -> Powers:
    if powers and abs(exponent) > _MAX_EXPONENT:
        raise ModelError(f"Exponents of units go up to {_MAX_EXPONENT}.")
    raised = [(symbol, each * exponent) for symbol, each in powers]
    if any(each.denominator != 1 for _, each in raised):
        raise ModelError(f"{written(powers)} has no such root.")
    return _checked(tuple((symbol, int(each)) for symbol, each in raised if each))


def _checked(powers: Powers) -> Powers:
    if any(abs(exponent) > _MAX_EXPONENT for _, exponent in powers):
        raise ModelError(f"Exponents of units go up to {_MAX_EXPONENT}.")
    return powers


def _refuse_units(value: Value, what: str) -> None:
    if value.powers:
        raise ModelError(f"{written(value.powers)} stands where {what} without unit is needed.")


def _refuse_zero(value: Value) -> None:
    if value.amount == 0:
        raise ModelError("That divides by zero.")


def _power_text(symbol: str, exponent: int) -> str:
    return symbol if exponent == 1 else f"{symbol}^{exponent}"
