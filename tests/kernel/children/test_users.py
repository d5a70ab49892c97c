"""Users for children: one each, never two for one, and the end of all that one runs."""

from __future__ import annotations

import os
import subprocess

import pytest

from kernel.children.users import Users, can_change_user, kill_user

pytestmark = pytest.mark.skipif(not can_change_user(), reason="needs root")


def test_no_user_is_taken_twice_on_one_machine() -> None:
    first, second = Users(), Users()

    taken = [one.take() for _ in range(40) for one in (first, second)]

    assert len({uid for uid, _ in taken}) == 80
    for _, lock in taken:
        os.close(lock)


def test_a_user_comes_back_last() -> None:
    users = Users()
    uid, lock = users.take()
    os.close(lock)
    users.give_back(uid)

    after = [users.take() for _ in range(3)]

    assert uid not in {each for each, _ in after}
    for _, lock in after:
        os.close(lock)


def test_everything_a_user_runs_ends_and_nothing_else_does() -> None:
    users = Users()
    (mine, mine_lock), (other, other_lock) = users.take(), users.take()
    with (
        subprocess.Popen(["sleep", "100"], user=mine) as one,
        subprocess.Popen(["sleep", "100"], user=mine) as two,
        subprocess.Popen(["sleep", "100"], user=other) as three,
        subprocess.Popen(["sleep", "100"]) as root,
    ):
        kill_user(mine)

        assert (one.wait(), two.wait()) == (-9, -9)
        assert three.poll() is None
        assert root.poll() is None
        three.kill()
        root.kill()
    os.close(mine_lock)
    os.close(other_lock)


def test_a_user_that_is_taken_runs_nothing_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a guard left behind that was killed itself ends before the next child of that user begins."""
    monkeypatch.setattr("kernel.children.users._PAIRS", 4)
    users = Users()
    uid, lock = users.take()
    os.close(lock)
    with subprocess.Popen(["sleep", "100"], user=uid) as left:
        users.give_back(uid)
        for _ in range(4):
            taken, lock = users.take()
            os.close(lock)

        assert taken == uid
        assert left.wait() == -9
