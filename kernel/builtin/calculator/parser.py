"""An expression as people write it, read and worked out in one pass.

expression  sum {(in | to | as | ->) target}           the target is a unit, or %
sum         product {(+ | -) product}
product     signed {(* | / | // | % | mod | of) signed}
signed      {+ | -} power
power       operand [(^ | **) signed]                  from the right: 2^3^2 is 2^9
operand     primary {! | % | unit [^ number] | 万}     a % in front of another operand is the remainder
primary     number | constant | unit | function(expression, …) | (expression)

`2 h 30 min` is one number: units of one kind that get smaller. Other numbers side by side need a sign between them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from kernel.builtin.calculator import values
from kernel.builtin.calculator.functions import FUNCTIONS, constant, factorial
from kernel.builtin.calculator.tokens import Kind, Token, tokens
from kernel.builtin.calculator.units import MOLAR_MASSES
from kernel.builtin.calculator.values import Powers, Value
from kernel.errors import ModelError

MAX_DEPTH = 40
_STARTS = frozenset({Kind.NUMBER, Kind.CONSTANT, Kind.FUNCTION, Kind.UNIT})


def evaluate(expression: str) -> Value:
    """The value of the expression. Raises `ModelError`, in words, for everything that has none or is too large."""
    return _Parser(tokens(expression)).result()


class _Parser:
    def __init__(self, read: list[Token]) -> None:
        self._tokens = read
        self._at = 0
        self._depth = 0
        self._molar_mass: Fraction | None = None

    def result(self) -> Value:
        """The value of all tokens."""
        if self._is_at_end():
            raise ModelError("There is nothing to calculate.")
        self._inches()
        value = self._expression()
        if not self._is_at_end():
            raise self._unexpected()
        return value

    def _expression(self) -> Value:
        value = self._sum()
        while self._token.kind is Kind.CONVERT:
            self._at += 1
            value = self._converted(value)
        return value

    def _is_at_end(self) -> bool:
        return self._at == len(self._tokens) - 1

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _after(self, distance: int = 1) -> Token:
        return self._tokens[min(self._at + distance, len(self._tokens) - 1)]

    def _takes(self, *signs: str) -> str | None:
        """The sign, when the next token is one of these; it is used up then."""
        if self._token.kind is Kind.SIGN and self._token.text in signs:
            self._at += 1
            return self._tokens[self._at - 1].text
        return None

    def _inches(self) -> None:
        """`in` behind a number is inches where no unit follows it: `7 in in cm`, `5 ft 7 in`."""
        for at in range(1, len(self._tokens) - 1):
            before, here, after = self._tokens[at - 1 : at + 2]
            goes_on = after.kind is Kind.UNIT or after == Token(Kind.SIGN, "%")
            if here == Token(Kind.CONVERT, "in") and before.kind is Kind.NUMBER and not goes_on:
                self._tokens[at] = Token(Kind.UNIT, "in")
        last = len(self._tokens) - 2
        if self._tokens[last] == Token(Kind.CONVERT, "in") and last and self._tokens[last - 1].kind is Kind.CONVERT:
            self._tokens[last] = Token(Kind.UNIT, "in")

    def _converted(self, value: Value) -> Value:
        if self._takes("%"):
            return replace(value, amount=values.plain(value, "what becomes a percentage"), is_percent=True)
        target = self._sum()
        if target.amount != 1 or not target.powers:
            raise ModelError("Behind “in” stands a unit, like “5 km in miles”.")
        return values.convert(value, target.powers, self._molar_mass)

    def _sum(self) -> Value:
        value = self._product()
        while sign := self._takes("+", "-"):
            right = self._product()
            value = values.add(value, right) if sign == "+" else values.subtract(value, right)
        return value

    def _product(self) -> Value:
        value = self._signed()
        while sign := self._takes("*", "/", "//", "%", "mod"):
            right = self._signed()
            match sign:
                case "*":
                    value = values.multiply(value, right)
                case "/":
                    value = values.divide(value, right)
                case "//":
                    value = values.floor_divide(value, right)
                case _:
                    value = values.modulo(value, right)
        return value

    def _signed(self) -> Value:
        is_negative = False
        while sign := self._takes("+", "-"):
            is_negative ^= sign == "-"
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ModelError(f"The expression is nested deeper than {MAX_DEPTH} levels.")
        value = self._power()
        self._depth -= 1
        return values.negative(value) if is_negative else value

    def _power(self) -> Value:
        value = self._operand()
        return values.power(value, self._signed()) if self._takes("^") else value

    def _operand(self) -> Value:
        value = self._with_unit(self._primary())
        while True:
            if self._takes("!"):
                value = factorial(value)
            elif self._token == Token(Kind.SIGN, "%") and not self._begins(self._after()):
                self._at += 1
                value = values.percent(value)
            elif self._token.kind is Kind.SUBSTANCE:
                self._substance()
            elif self._token.kind is Kind.NUMBER and value.powers and self._after().kind is Kind.UNIT:
                value = self._compound(value)
            else:
                return value

    def _with_unit(self, value: Value) -> Value:
        while self._token.kind is Kind.UNIT and not value.is_bare:
            unit = Value(Fraction(1), self._unit(), is_bare=True)
            if values.dimension(unit.powers) == values.dimension(value.powers):
                raise ModelError(
                    f"{values.written(value.powers)} and {values.written(unit.powers)} stand side by side."
                )
            value = values.multiply(value, unit) if value.powers else replace(value, powers=unit.powers)
        return value

    def _compound(self, value: Value) -> Value:
        """`2 h 30 min`: the next number with a smaller unit of the same kind belongs to it."""
        number = self._token.number
        self._at += 1
        more = Value(number, self._unit())
        is_same_kind = values.dimension(more.powers) == values.dimension(value.powers) and len(value.powers) == 1
        if not is_same_kind or values.like(value, replace(more, amount=Fraction(1))).amount >= 1:
            raise ModelError(f"A sign like + or * is missing before {float(number):g} {values.written(more.powers)}.")
        return values.add(value, more)

    def _unit(self) -> Powers:
        symbol = self._token.text
        self._at += 1
        if self._token == Token(Kind.SIGN, "^"):
            sign = -1 if self._after() == Token(Kind.SIGN, "-") else 1
            number = self._after(1 if sign == 1 else 2)
            if number.kind is Kind.NUMBER and number.number.denominator == 1 and 0 < number.number < 10:
                self._at += 2 if sign == 1 else 3
                return ((symbol, sign * int(number.number)),)
            raise ModelError("The exponent of a unit is a whole number from 1 to 9.")
        return ((symbol, 1),)

    def _substance(self) -> None:
        mass = MOLAR_MASSES[self._token.text]
        if self._molar_mass not in (None, mass):
            raise ModelError("One substance a calculation.")
        self._molar_mass = mass
        self._at += 1

    def _primary(self) -> Value:
        token = self._token
        match token.kind:
            case Kind.NUMBER:
                return self._numeral()
            case Kind.CONSTANT:
                self._at += 1
                value = constant(token.text)
                assert value is not None
                return value
            case Kind.UNIT:
                return Value(Fraction(1), self._unit(), is_bare=True)
            case Kind.FUNCTION:
                self._at += 1
                return self._called(token.text)
            case Kind.SIGN if self._takes("("):
                value = replace(self._expression(), is_bare=False)
                self._closes()
                return value
            case _:
                raise self._unexpected()

    def _numeral(self) -> Value:
        """A number, and 万 and 亿 behind it."""
        number = self._token.number
        self._at += 1
        while self._token.kind is Kind.NUMBER and self._token.text in ("万", "亿"):
            number *= self._token.number
            self._at += 1
        return Value(number)

    def _called(self, name: str) -> Value:
        function, arguments = FUNCTIONS[name], list[Value]()
        self._takes("(")
        while True:
            arguments.append(self._expression())
            if not self._takes(","):
                break
        self._closes()
        if not function.least <= len(arguments) <= function.most:
            wanted = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
            raise ModelError(f"{name} takes {wanted} arguments, not {len(arguments)}.")
        return function.run(arguments)

    def _closes(self) -> None:
        if not self._takes(")"):
            raise self._unexpected("a closing parenthesis is missing")

    def _begins(self, token: Token) -> bool:
        """Whether an operand begins here; what a % between two operands is told by."""
        return token.kind in _STARTS or token == Token(Kind.SIGN, "(")

    def _unexpected(self, why: str = "a sign like + or * may be missing") -> ModelError:
        if self._is_at_end():
            return ModelError("The expression ends too early.")
        return ModelError(f"{self._token.text!r} (part {self._at + 1}) does not fit where it stands; {why}.")
