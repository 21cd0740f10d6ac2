"""Makes TERM and HUP end dbt as Ctrl-C does, so that its statements are cancelled, including those on a server."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

_NUMBERS: Final = (signal.SIGTERM, signal.SIGHUP)


class _State:
    def __init__(self) -> None:
        # The earlier handlers, by signal, while ours are installed.
        self.earlier: dict[int, Any] = {}
        self.cancel: Callable[[], object] = lambda: None
        self.received: int | None = None


_STATE: Final = _State()


def install(cancel: Callable[[], object]) -> None:
    """Make TERM and HUP raise KeyboardInterrupt in the main thread, unless the program handles them itself.

    A signal that is ignored stays ignored (nohup). A handler that the program installed is still called; if it raises,
    `cancel` is called before the exception propagates.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    _STATE.cancel = cancel
    _STATE.received = None
    for number in _NUMBERS:
        earlier = signal.getsignal(number)
        if earlier is _handle or earlier is None or earlier is signal.SIG_IGN:
            continue
        _STATE.earlier[number] = earlier
        signal.signal(number, _handle)


def restore() -> None:
    """Restore the earlier handlers. If a signal arrived in the meantime, send it again, so that it ends the process."""
    if threading.current_thread() is not threading.main_thread():
        return
    while _STATE.earlier:
        number, earlier = _STATE.earlier.popitem()
        if signal.getsignal(number) is _handle:
            signal.signal(number, earlier)
    received = _STATE.received
    _STATE.received = None
    if received is not None:
        os.kill(os.getpid(), received)


def _handle(number: int, frame: FrameType | None) -> None:
    earlier = _STATE.earlier.get(number)
    if callable(earlier):
        try:
            earlier(number, frame)
        except BaseException:
            _STATE.cancel()
            raise
    elif _STATE.received is None:
        # A second signal does not interrupt the clean-up after the first: closing a terminal sends two.
        _STATE.received = number
        raise KeyboardInterrupt
