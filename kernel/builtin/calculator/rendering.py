"""A value as the model reads it: exact where it can be, and marked where it is rounded."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from kernel.builtin.calculator import reals
from kernel.builtin.calculator.values import Value, written

_SHOWN_DIGITS = 15
_MAX_DECIMALS = 60
_MAX_FRACTION_CHARS = 9


def render(value: Value) -> str:
    """The value with its unit: `0.3`, `3.10685596118667 mi (rounded)`, `0.333333333333333 (rounded; exactly 1/3)`."""
    is_share = value.is_percent
    amount = value.amount * 100 if is_share else value.amount
    unit = "%" if is_share else f" {written(value.powers)}" if value.powers else ""
    whole = _exact(amount) if value.is_exact else None
    if whole is not None:
        return f"{whole}{unit}"
    shown = reals.rounded(amount, _SHOWN_DIGITS)
    near = f"{_decimal(shown)}{unit}"
    if value.is_exact and Fraction(shown) == amount:
        return near
    fraction = f"{amount.numerator}/{amount.denominator}"
    if value.is_exact and len(fraction) <= _MAX_FRACTION_CHARS:
        return f"{near} (rounded; exactly {fraction}{unit})"
    return f"{near} (rounded)"


def _exact(amount: Fraction) -> str | None:
    """All digits of a number that ends; None for one that does not, or only after very many."""
    if amount.denominator == 1:
        return str(amount.numerator)
    rest, fives = amount.denominator, 0
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    while rest % 5 == 0 and fives <= _MAX_DECIMALS:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > _MAX_DECIMALS:
        return None
    digits = str(abs(amount.numerator) * 10**places // amount.denominator).rjust(places + 1, "0")
    return f"{'-' if amount < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def _decimal(number: Decimal) -> str:
    """Plain digits within reach of a reader, else a power of ten."""
    return f"{number:f}" if -8 <= number.adjusted() <= 20 else f"{number:e}".replace("e", "E")
