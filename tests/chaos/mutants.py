"""Small breakages of our own code, one at a time: a row or a check left out, a bound moved, a write forgotten.

`python_mutants` and `lua_mutants` make them; `pytest -p tests.chaos.mutants --mutant FILE` runs tests over one of them
(the file holds `where` and `text` as JSON).
"""

from __future__ import annotations

import ast
import copy
import importlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from kernel.stores.redis import connect


@dataclass(frozen=True, slots=True)
class Mutant:
    """`where` is a module (`kernel.loop`) or a script (`lua/commit`); `text` its whole mutated source."""

    where: str
    line: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line} {self.what}"


# --- Python ----------------------------------------------------------------------------------------------------------

Change = Callable[[ast.AST], None]

NEIGHBOURS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


def python_mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every mutant of the module's functions."""
    tree, made = ast.parse(source), set[str]()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            for what, change in _changes(node, function):
                text = _changed(tree, node, change)
                line = getattr(node, "lineno", function.lineno)
                if text not in made:
                    yield Mutant(module, line, f"{function.name}: {what}", text)
                made.add(text)


def _changed(tree: ast.Module, node: ast.AST, change: Change) -> str:
    copied = copy.deepcopy(tree)
    place = next(number for number, each in enumerate(ast.walk(tree)) if each is node)
    change(next(each for number, each in enumerate(ast.walk(copied)) if number == place))
    return ast.unparse(ast.fix_missing_locations(copied))


def _changes(node: ast.AST, function: ast.FunctionDef) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Match():
            yield from _case_changes(node, function)
        case ast.If(test=test):
            yield f"if {ast.unparse(test)}: never", _set("test", ast.Constant(False))
        case ast.IfExp(test=test):
            yield f"{ast.unparse(test)} is True", _set("test", ast.Constant(True))
            yield f"{ast.unparse(test)} is False", _set("test", ast.Constant(False))
        case ast.BoolOp(values=values):
            for number, value in enumerate(values):
                yield f"without {ast.unparse(value)}", _drop("values", number)
        case ast.comprehension(ifs=filters):
            for number, value in enumerate(filters):
                yield f"without filter {ast.unparse(value)}", _drop("ifs", number)
        case ast.Compare(ops=[operator]) if type(operator) in NEIGHBOURS:
            yield f"bound of {ast.unparse(node)}", _set("ops", [NEIGHBOURS[type(operator)]()])
        case ast.Call(func=ast.Name(id="replace"), keywords=keywords):
            for number, keyword in enumerate(keywords):
                yield f"replace without {keyword.arg}", _drop("keywords", number)


def _case_changes(node: ast.Match, function: ast.FunctionDef) -> Iterator[tuple[str, Change]]:
    unchanged = ast.parse(f"return {function.args.args[0].arg}").body
    has_default = isinstance(node.cases[-1].body[0], ast.Return)
    for number, case in enumerate(node.cases):
        name = ast.unparse(case.pattern)
        if name == "_":
            continue
        if has_default:
            yield f"without case {name}", _drop("cases", number)
        elif ast.unparse(case.body) != ast.unparse(unchanged):  # type: ignore[arg-type]  # unparse takes lists, too
            yield f"case {name} does nothing", _in_case(number, _set("body", unchanged))
        if case.guard is not None:
            yield f"case {name} without its guard", _in_case(number, _set("guard", None))
        if isinstance(case.pattern, ast.MatchOr):
            for place, one in enumerate(case.pattern.patterns):
                change = _drop("patterns", place)
                yield f"case without {ast.unparse(one)}", _in_case(number, _in("pattern", change))


def _set(name: str, value: object) -> Change:
    return lambda node: setattr(node, name, value)


def _drop(name: str, number: int) -> Change:
    def change(node: ast.AST) -> None:
        getattr(node, name).pop(number)

    return change


def _in(name: str, change: Change) -> Change:
    return lambda node: change(getattr(node, name))


def _in_case(number: int, change: Change) -> Change:
    def changed(node: ast.AST) -> None:
        assert isinstance(node, ast.Match)
        change(node.cases[number])

    return changed


# --- Lua -------------------------------------------------------------------------------------------------------------

_IF = re.compile(r"\b(?:if|elseif) (?P<cond>.+?) then\b")
_CHOICE = re.compile(r"(?P<cond>[\w.\[\]#]+(?: [=~<>]=? [^ ]+)?) and (?P<yes>[^ ]+) or (?P<no>[\w.']+|\{\})")
_MAX = re.compile(r"math\.(?:max|min)\((?P<one>[^(),]+), (?P<other>(?:[^()]|\([^()]*\))+)\)")
_FLAG = re.compile(r", '(?:NX|GT)'")
_WRITE = re.compile(r"^\s*(?:redis\.call\(.*\)|[a-z_]+\([^=]*\))$")


def lua_mutants(script: str, source: str) -> Iterator[Mutant]:
    """Every mutant of the script: checks that never hold, halves of checks, flags and whole writes left out."""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        for what, changed in _line_changes(line):
            text = "\n".join([*lines[:number], changed, *lines[number + 1 :]])
            yield Mutant(f"lua/{script}", number + 1, what, text)


def _line_changes(line: str) -> Iterator[tuple[str, str]]:
    if line.lstrip().startswith("--"):
        return

    def put(found: re.Match[str], group: str, text: str) -> str:
        return line[: found.start(group)] + text + line[found.end(group) :]

    for found in _IF.finditer(line):
        yield f"never: {found['cond']}", put(found, "cond", "false")
        for word in (" and ", " or "):
            parts = found["cond"].split(word)
            for number in range(len(parts) if len(parts) > 1 else 0):
                rest = word.join(parts[:number] + parts[number + 1 :])
                if rest.count("(") == rest.count(")"):
                    yield f"without {parts[number]}", put(found, "cond", rest)
    for found in _CHOICE.finditer(line):
        yield f"always {found['yes']}", line[: found.start()] + found["yes"] + line[found.end() :]
        yield f"always {found['no']}", line[: found.start()] + found["no"] + line[found.end() :]
    for found in _MAX.finditer(line):
        yield f"only {found['one']}", line[: found.start()] + found["one"] + line[found.end() :]
        yield f"only {found['other']}", line[: found.start()] + f"({found['other']})" + line[found.end() :]
    for found in _FLAG.finditer(line):
        yield f"without {found[0][2:]}", line[: found.start()] + line[found.end() :]
    if _WRITE.match(line):
        yield f"without {line.strip()}", ""


# --- the plugin ------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """The mutant that the tests run over."""
    parser.addoption("--mutant", required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Put the mutant in the place of what it was made from."""
    mutant = json.loads(Path(config.getoption("--mutant")).read_text("utf-8"))
    where, text = mutant["where"], mutant["text"]
    if where.startswith("lua/"):
        _break_script(where.removeprefix("lua/"), text)
    else:
        _break_module(importlib.import_module(where), text)


def _break_script(script: str, text: str) -> None:
    folder = Path(connect.__file__).parents[1] / "lua"
    original = (folder / f"{script}.lua").read_text("utf-8")
    broken = {name: whole.replace(original, text) for name, whole in connect._scripts().items()}
    setattr(connect, "_scripts", lambda: broken)  # noqa: B010  (mypy: the module's own function is replaced)


def _break_module(module: ModuleType, text: str) -> None:
    """Functions keep their identity and get the mutant's code, so that everybody who imported them runs it."""
    broken = ModuleType(module.__name__)
    broken.__dict__.update({name: value for name, value in vars(module).items() if name.startswith("__")})
    exec(compile(text, f"mutant of {module.__name__}", "exec"), broken.__dict__)
    for mine, its in _functions(vars(module), vars(broken)):
        mine.__code__ = its.__code__


def _functions(mine: dict[str, object] | object, its: object) -> Iterator[tuple[FunctionType, FunctionType]]:
    assert isinstance(mine, dict)
    assert isinstance(its, dict)
    for name, value in list(mine.items()):
        other = its.get(name)
        match value, other:
            case FunctionType(), FunctionType() if value.__code__.co_filename != "<string>":
                yield value, other
            case property(), property():
                assert isinstance(value.fget, FunctionType)
                assert isinstance(other.fget, FunctionType)
                yield value.fget, other.fget
            case type(), type() if value.__module__ == mine.get("__name__"):
                yield from _functions(dict(vars(value)), dict(vars(other)))
