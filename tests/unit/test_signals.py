"""TERM and HUP cancel as Ctrl-C does and still end the process; a program's own handling of them stays."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

BEGINS = """
import os, signal, sys, time
from dbt.adapters.paimon.machine import signals
"""
ENDED = """
signal.signal({number}, signal.SIG_DFL)
signals.install(lambda: None)
try:
    os.kill(os.getpid(), {number})
    os.kill(os.getpid(), {number})
    time.sleep(60)
except KeyboardInterrupt:
    print('cancelled', flush=True)
signals.restore()
print('goes on')
"""
IGNORED = """
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signals.install(lambda: print('cancelled'))
os.kill(os.getpid(), signal.SIGHUP)
signals.restore()
print('goes on')
"""
HANDLED = """
def handle(number, frame):
    sys.exit('handled')
signal.signal(signal.SIGTERM, handle)
signals.install(lambda: print('cancelled', flush=True))
try:
    os.kill(os.getpid(), signal.SIGTERM)
finally:
    signals.restore()
    assert signal.getsignal(signal.SIGTERM) is handle
"""


def ran(script: str) -> tuple[int, str]:
    ended = subprocess.run([sys.executable, "-c", BEGINS + script], stdout=subprocess.PIPE, text=True, check=False)
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ended(number: signal.Signals) -> None:
    assert ran(ENDED.format(number=int(number))) == (-number, "cancelled\n")


def test_ignored() -> None:
    assert ran(IGNORED) == (0, "goes on\n")


def test_handled_by_the_program() -> None:
    assert ran(HANDLED) == (1, "cancelled\n")
