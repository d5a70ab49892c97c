"""Functions whose values are no fractions: to fifty digits, and exact wherever the value happens to be one."""

from __future__ import annotations

import math
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from functools import cache

from kernel.errors import ModelError

MAX_BITS = 3_330
"""Numbers up to 1,000 digits: large enough for what people ask, and every step on them takes microseconds."""

PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
E = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138217852516642743")

_MAX_ROOT = 64
_MAX_ANGLE = 10**30

Real = tuple[Fraction, bool]
"""A value, and whether it is exact."""


@cache
def _context(digits: int) -> Context:
    return Context(prec=digits, Emax=3000, Emin=-3000, traps=[InvalidOperation, Overflow, DivisionByZero])


def too_large() -> ModelError:
    """What is said of a number beyond the bounds."""
    return ModelError("That number is beyond the limit of 1,000 digits.")


def rounded(amount: Fraction, digits: int) -> Decimal:
    """The amount to so many significant digits, without trailing zeros."""
    context = _context(digits)
    return context.divide(Decimal(amount.numerator), Decimal(amount.denominator)).normalize(context)


def settled(amount: Fraction) -> Fraction:
    """An inexact amount, to fifty digits; noise behind forty goes when what stands before it is short."""
    short = rounded(amount, 40)
    return Fraction(short if len(short.as_tuple().digits) <= 25 else rounded(amount, 50))


def bounded(amount: Fraction) -> Real:
    """The amount, inexact when its exact form would be too long. Raises `ModelError` beyond the largest number."""
    above, below = amount.numerator.bit_length(), amount.denominator.bit_length()
    if max(above, below) <= MAX_BITS:
        return amount, True
    if abs(above - below) > MAX_BITS:
        raise too_large()
    # Shifted first: libmpdec would take long for the exact digits of both.
    spare = max(0, min(above, below) - 400)
    return settled(Fraction(amount.numerator >> spare, amount.denominator >> spare)), False


def power(base: Fraction, exponent: Fraction) -> Real:
    """`base ** exponent`. Raises `ModelError` where that is no real number, or one beyond the bounds."""
    if base == 0:
        if exponent < 0:
            raise ModelError("0 has no negative power.")
        return Fraction(int(exponent == 0)), True
    size = abs(math.log2(abs(base.numerator)) - math.log2(base.denominator))
    if abs(exponent) * Fraction(size) > MAX_BITS:
        raise too_large()
    if exponent.denominator == 1:
        length = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(base) == 1 or abs(exponent) * length <= MAX_BITS:
            return Fraction(base ** int(exponent)), True
        sign = -1 if base < 0 and exponent.numerator % 2 else 1
        return sign * _power(abs(base), exponent), False
    if base < 0:
        raise ModelError("A negative number has no real power with a fraction as exponent.")
    root = _exact_root(base, exponent.denominator)
    if root is not None and abs(exponent.numerator) * max(root.numerator, root.denominator).bit_length() <= MAX_BITS:
        return root**exponent.numerator, True
    return _power(base, exponent), False


def exp(exponent: Fraction) -> Real:
    """`e ** exponent`."""
    return (Fraction(1), True) if exponent == 0 else (_inexact("exp", exponent), False)


def log(amount: Fraction, base: Fraction | None = None) -> Real:
    """The logarithm to `base`, to e without one. Raises `ModelError` where there is none."""
    if amount <= 0 or (base is not None and (base <= 0 or base == 1)):
        raise ModelError("Logarithms exist of numbers above 0, to a base above 0 that is not 1.")
    natural = _inexact("ln", amount)
    if base is None or amount == 1:
        return natural, amount == 1
    scale = _inexact("ln", base)
    if scale == 0:
        raise ModelError("That base is too close to 1.")
    found = settled(natural / scale)
    is_exact = found.denominator <= 10 and power(base, found) == (amount, True)
    return found, is_exact


def sine(angle: Fraction) -> Fraction:
    """The sine of an angle in radians."""
    if abs(angle) > _MAX_ANGLE:
        raise ModelError("That angle is too large.")
    turn = 2 * PI
    return _series(angle - turn * round(angle / turn))


def cosine(angle: Fraction) -> Fraction:
    """The cosine of an angle in radians."""
    return sine(angle + PI / 2)


def _series(angle: Fraction) -> Fraction:
    """The sine's own series; for angles up to half a turn. What is left beside zero is noise."""
    context = _context(52)
    x = rounded(angle, 60)
    square, term, total, n = context.multiply(x, x), x, x, 1
    while abs(term) > Decimal("1e-58"):
        n += 2
        term = context.divide(context.multiply(term, square), Decimal(-n * (n - 1)))
        total = context.add(total, term)
    return settled(Fraction(total)) if abs(total) > Decimal("1e-45") else Fraction(0)


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    """The root, where it is a fraction of ordinary length."""
    if degree > _MAX_ROOT:
        return None
    parts = [_whole_root(part, degree) for part in base.as_integer_ratio()]
    root = Fraction(parts[0], parts[1] or 1)
    length = max(parts).bit_length()
    return root if length * degree <= 2 * MAX_BITS and root**degree == base else None


def _whole_root(number: int, degree: int) -> int:
    """The whole number next to the root."""
    if number.bit_length() <= degree:
        return 1
    return math.isqrt(number) if degree == 2 else round(_power(Fraction(number), Fraction(1, degree)))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    context = _context(52)
    try:
        return settled(Fraction(context.power(rounded(base, 52), rounded(exponent, 52))))
    except DecimalException as error:
        raise too_large() from error


def _inexact(name: str, amount: Fraction) -> Fraction:
    context = _context(52)
    try:
        return settled(Fraction(getattr(context, name)(rounded(amount, 60))))
    except DecimalException as error:
        raise too_large() from error
