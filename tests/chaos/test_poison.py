"""An input that kills every holder parks itself alone, and everybody else is answered."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.chaos.processes import processes


def test_a_poison_input_among_20_turns_in_flight_parks_itself_alone(tmp_path: Path) -> None:
    poison_among(20, tmp_path)


@pytest.mark.chaos
def test_a_poison_input_among_100_turns_in_flight_parks_itself_alone(tmp_path: Path) -> None:
    poison_among(100, tmp_path)


def poison_among(turns: int, folder: Path) -> None:
    """So many turns think for two seconds while one input kills their worker, and the next, and the next."""
    with processes(folder, workers=2, bots=1) as here:
        for task in range(1, turns + 1):
            here.outside.say("bot-0", str(task), f"slowly task {task} steps 1")
        here.outside.say("bot-0", "poisoned", "poison")

        deadline = time.time() + 150
        while time.time() < deadline and len(here.outside.seen()) < turns + 1:
            here.tend()
            time.sleep(0.1)

        seen = here.outside.seen()
        here.outside.say("bot-0", "poisoned", "task 0 steps 0")
        while time.time() < deadline + 20 and len(here.outside.seen()) < turns + 2:
            here.tend()
            time.sleep(0.1)
        after = here.outside.seen()[-1]

    answered = {each.text for each in seen if each.text.startswith("done ")}
    aside = [each for each in seen if not each.text.startswith("done ")]
    print(f"{len(answered)} of {turns} answered, parked: {[each.chat for each in aside]}")
    assert answered == {f"done {task}" for task in range(1, turns + 1)}
    assert [each.chat for each in aside] == ["poisoned"]
    assert after.text == "done 0"
