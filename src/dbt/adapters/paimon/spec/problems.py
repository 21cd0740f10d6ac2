"""The problems of a model's config: collected, and raised at once.

Each is one line: model, key, value, what is wrong and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.errors.redaction import redacted


class ConfigErrors(CompilationError):
    """Everything that is wrong with a model's config, one line a problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass
class Problems:
    """Collects a model's problems, each rendered with where it is."""

    model: str
    messages: list[str] = field(default_factory=list)
    # Whom to tell of what nothing reads; a problem as any other if None (the flag `require_strict_config`).
    passes: Callable[[str], None] | None = None

    def add(self, key: str, value: Any, reason: str) -> None:
        """`reason` is 'what is wrong. What to do instead'."""
        message = self._message(key, value, reason)
        if message not in self.messages:
            self.messages.append(message)

    def add_unread(self, key: str, value: Any, reason: str) -> None:
        """As `add`, of what Paimon and dbt pass over without a word."""
        if self.passes is None:
            self.add(key, value, reason)
        else:
            self.passes(self._message(key, value, reason))

    def _message(self, key: str, value: Any, reason: str) -> str:
        shown = "" if value is None else f"={_display(redacted(key, value))}"
        end = "" if reason.endswith((".", "?")) else "."
        return f"model '{self.model}': {key}{shown}: {reason}{end}"

    def raise_if_any(self) -> None:
        """Raises ConfigErrors when something was added."""
        if self.messages:
            raise ConfigErrors(self.messages)


def _display(value: Any) -> str:
    """A value as in the model's config, short."""
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(_display(item) for item in value)}]"
    elif isinstance(value, str):
        text = f"'{value}'"
    else:
        text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
