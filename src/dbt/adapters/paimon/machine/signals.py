"""Makes TERM and HUP end dbt as Ctrl-C does, so that its statements are cancelled, also those of a server."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

_NUMBERS: Final = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # Windows has no SIGHUP
)


class _State:
    """The signal handling of this process."""

    def __init__(self) -> None:
        # The earlier handlers, by signal, while ours are installed.
        self.earlier: dict[int, Any] = {}
        self.cancel: Callable[[], object] = lambda: None
        self.received: int | None = None


_STATE: Final = _State()


def begin(cancel: Callable[[], object]) -> None:
    """Make TERM and HUP raise KeyboardInterrupt in the main thread, unless the program handles them itself.

    A signal that is ignored stays ignored (nohup). A handler of the program is still called; if it raises, `cancel`
    cancels the statements of all threads first.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    _STATE.cancel, _STATE.received = cancel, None
    for number in _NUMBERS:
        earlier = signal.getsignal(number)
        if earlier is _end or earlier is None or earlier is signal.SIG_IGN:
            continue
        _STATE.earlier[number] = earlier
        signal.signal(number, _end)


def end() -> None:
    """Restore the earlier handlers. If a signal came in between, the process now ends by it."""
    if threading.current_thread() is not threading.main_thread():
        return
    while _STATE.earlier:
        number, earlier = _STATE.earlier.popitem()
        if signal.getsignal(number) is _end:
            signal.signal(number, earlier)
    received, _STATE.received = _STATE.received, None
    if received is not None:
        os.kill(os.getpid(), received)


def _end(number: int, frame: FrameType | None) -> None:
    earlier = _STATE.earlier.get(number)
    if callable(earlier):
        try:
            earlier(number, frame)
        except BaseException:
            _STATE.cancel()
            raise
    elif _STATE.received is None:
        # A second signal does not interrupt the clean-up of the first: a closed terminal sends two.
        _STATE.received = number
        raise KeyboardInterrupt
