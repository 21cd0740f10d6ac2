"""A wait ends when its condition is true, or with one error at its bound."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from dbt.adapters.paimon.machine import waiting
from dbt.adapters.paimon.machine.waiting import Wait, WaitedTooLongError, watched


@pytest.fixture
def lines(monkeypatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(waiting.logger, "info", told.append)
    return told


class TestUntil:
    def test_the_first_true_answer_is_returned(self, lines) -> None:
        answers = iter([0, None, "", 7])
        assert Wait("a number", 10, "Count.").until(lambda: next(answers), every=0) == 7
        assert lines == []

    def test_a_true_condition_is_not_waited_for(self) -> None:
        assert Wait("nothing", 0, "").until(lambda: True)

    def test_the_bound(self) -> None:
        began = time.monotonic()
        with pytest.raises(WaitedTooLongError) as raised:
            Wait("rain", 0.05, "Water the plants.").until(lambda: False, every=60)
        assert time.monotonic() - began < 30
        assert raised.value.msg == "Waited 0.05 s for rain. Water the plants."

    def test_a_long_wait_is_logged_once(self, lines, monkeypatch) -> None:
        monkeypatch.setattr(waiting, "NOTICE_AFTER", 0.02)
        wait = Wait("rain", 60, "")
        wait.check()
        assert lines == []
        time.sleep(0.03)
        wait.check()
        wait.check()
        assert len(lines) == 1
        assert lines[0].startswith("Waiting for rain: ")
        assert lines[0].endswith(" so far, 60 s at most")


class TestWatched:
    """Uses a real process that would not end."""

    @pytest.fixture
    def sleeper(self):
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        yield process
        process.kill()
        process.wait()

    def test_the_bound_ends_the_call(self, sleeper, lines, monkeypatch) -> None:
        monkeypatch.setattr(waiting, "NOTICE_AFTER", 0.1)
        wait = Wait("a process", 0.3, "End it.")
        with (
            pytest.raises(WaitedTooLongError, match=r"Waited 0.3 s for a process. End it."),
            watched(wait, sleeper.kill, look_every=0.05),
        ):
            assert sleeper.wait() == 0
        assert len(lines) == 1

    def test_an_error_of_the_call_is_not_hidden(self, sleeper) -> None:
        with pytest.raises(ZeroDivisionError), watched(Wait("a process", 600, ""), sleeper.kill):
            _ = 1 / 0
        assert sleeper.poll() is None

    def test_a_call_that_was_done_at_the_bound_is_no_error(self) -> None:
        with watched(Wait("nothing", 0.01, ""), lambda: None, look_every=0.01):
            time.sleep(0.1)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.05, "0.05 s"), (90, "90 s"), (180, "3 min"), (5400, "90 min"), (7200, "2 h")]
)
def test_spans_are_easy_to_read(seconds: float, shown: str) -> None:
    assert Wait("x", seconds, "").error().msg == f"Waited {shown} for x."
