from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kernel.providers.names import from_wire, to_wire

NAMES = st.text(max_size=90) | st.text("._-aZ0?z", max_size=12) | st.from_regex(r"[a-z_.]{1,70}", fullmatch=True)
WIRES = st.text("_-aZ09fz", min_size=1, max_size=64)


@given(NAMES)
def test_every_name_fits_the_wire_and_comes_back(name: str) -> None:
    wire = to_wire(name)

    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire)
    assert from_wire(wire, ["other", name]) == name


@given(st.lists(NAMES.filter(lambda name: not name.startswith("?")), unique=True, max_size=30))
def test_different_names_never_meet(names: list[str]) -> None:
    assert len({to_wire(name) for name in names}) == len(names)


@given(WIRES)
def test_whatever_a_model_writes_goes_back_as_it_was(wire: str) -> None:
    assert to_wire(from_wire(wire)) == wire


def test_files_dot_read_and_files_read_stay_two_tools() -> None:
    names = ["files.read", "files_read", "files__read", "files-read"]

    wires = [to_wire(name) for name in names]

    assert wires == ["files__read", "files_read", "_files____read", "files-read"]
    assert [from_wire(wire, reversed(names)) for wire in wires] == names


def test_names_are_the_same_after_a_restart() -> None:
    """Written down: a stored conversation must not change when it is sent again by another version."""
    long = "server." + "查询" * 40

    assert to_wire("查.x") == "__67e5__2e_x"
    assert to_wire(long) == "__z66a16ce327c7f502_server"
    assert from_wire("__z66a16ce327c7f502_server") == "?__z66a16ce327c7f502_server"


def test_the_mark_of_made_up_names_meets_no_name_of_ours() -> None:
    assert len({to_wire(name) for name in ["x", "?x", "a.b", "?a.b", "?a__b", "?a___b", "a_.b"]}) == 7


def test_a_call_without_a_name_can_be_sent_back() -> None:
    assert to_wire("") == "_"
    assert from_wire("_") == ""
