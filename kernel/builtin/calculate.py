"""The tool `calculate`: exact arithmetic, percentages, units."""

from __future__ import annotations

from datetime import timedelta

from kernel.builtin.calculator.parser import evaluate
from kernel.builtin.calculator.rendering import render
from kernel.messages import Concurrency, Json, ToolWords
from kernel.texts import say
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome

_DESCRIPTION = (
    "Works out an expression exactly. + - * / // % ** ! and parentheses; percent as people mean it "
    "(15% of 80; 80 + 15%; 3/4 in %); sqrt, round (halves away from zero), abs, min, max, floor, ceil, "
    "log (base 10, or log(x, base)), ln, exp, sin, cos, tan (radians, or sin(30 deg)), pi, e; units and conversions "
    "(5 km in miles; 37.5 C in F; 2 h 30 min in min; 5 mg/kg * 70 kg; 100 mg/dL glucose in mmol/L). "
    "Chinese signs, 万 and 亿 work. Thousands separators only outside of functions. "
    "Knows no dates and no exchange rates."
)
_SCHEMA = (
    '{"type":"object","properties":{"expression":{"type":"string",'
    '"description":"One expression, like (1 + 5%)**10 * 1000"}},'
    '"required":["expression"],"additionalProperties":false}'
)


async def _run(arguments: Json, _: ToolContext) -> ToolOutcome:
    return ToolOutcome(render(evaluate(str(arguments["expression"]))))


CALCULATE = Tool(
    words=ToolWords("calculate", _DESCRIPTION, _SCHEMA),
    concurrency=lambda _: Concurrency.READ_ONLY,
    approval=lambda _: Approval.NEVER,
    timeout=timedelta(seconds=5),
    describe=lambda _, language: say("does.calculate", language),
    run=_run,
    is_own=True,
)
