"""The table of units says each thing once and means it exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kernel.builtin.calculator.parser import evaluate
from kernel.builtin.calculator.tokens import Kind, tokens
from kernel.builtin.calculator.units import _ROWS, find_unit, units


def test_no_name_stands_for_two_units() -> None:
    names = [name for _, block in _ROWS for line in block.strip().splitlines() for name in _names(line)]

    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_every_name_can_be_written_behind_a_number_and_converted_to() -> None:
    for name, unit in units().items():
        if name == "in":
            continue  # A word of its own: tests/kernel/builtin/test_calculate.py.

        value = evaluate(f"2 {name} in {name}")

        assert value.powers == ((unit.symbol, 1),), name
        assert value.amount == 2, name


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("1 mi", "1609.344 m"),
        ("1 lb", "453.59237 g"),
        ("1 atm", "101325 Pa"),
        ("1 kWh", "3600 kJ"),
        ("1 gal", "3.785411784 L"),
        ("1 亩", "10000/15 m^2"),
        ("1 斤", "500 g"),
        ("36 km/h", "10 m/s"),
        ("1 kn", "1.852 km/h"),
        ("1 Mbit", "125 kB"),
    ],
)
def test_factors_are_what_the_definitions_say(text: str, base: str) -> None:
    amount, unit = base.split(" ")

    assert evaluate(f"{text} in {unit}").amount == Fraction(amount)


def test_capitals_are_forgiven_only_where_one_unit_fits() -> None:
    assert find_unit("KG") == find_unit("kg")
    assert find_unit("MIN") == find_unit("min")
    assert find_unit("mb") is None
    assert find_unit("M") is None


def test_an_exponent_may_stand_right_behind_its_unit() -> None:
    assert [token.text for token in tokens("5 m2")][:4] == ["5", "m", "^", "2"]
    assert [token.kind for token in tokens("5 m 2")][:3] == [Kind.NUMBER, Kind.UNIT, Kind.NUMBER]


def _names(line: str) -> list[str]:
    symbol, _, *names = line.split()
    return [symbol, *names]
