"""Collects the problems of a model's config, one line each, and raises them all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.errors.redaction import redacted
from dbt.adapters.paimon.options.table_options import did_you_mean


class ConfigErrors(CompilationError):
    """All problems of a model's config, one per line."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass
class Problems:
    """Collects messages about a model's config; each names the model, the key and the value."""

    model: str
    messages: list[str] = field(default_factory=list)
    # Called with the warning for each ignored key. If None, ignored keys are problems too (`require_strict_config`).
    warn: Callable[[str], None] | None = None

    def add(self, key: str, value: Any, reason: str) -> None:
        """Add a problem; `reason` is 'what is wrong. What to do instead'."""
        message = self._message(key, value, reason)
        if message not in self.messages:
            self.messages.append(message)

    def add_ignored(self, key: str, value: Any, reason: str) -> None:
        """Report config that Paimon and dbt silently ignore: as a warning if `warn` is set, else like `add`."""
        if self.warn is None:
            self.add(key, value, reason)
        else:
            self.warn(self._message(key, value, reason))

    def add_unknown(self, where: str, given: Mapping[str, Any], known: Collection[str]) -> None:
        """Add a problem for each unknown key of a mapping."""
        for key, value in given.items():
            if key not in known:
                self.add(f"{where}.{key}", value, f"unknown key. {did_you_mean(str(key), known, 0.6)}")

    def _message(self, key: str, value: Any, reason: str) -> str:
        shown = "" if value is None else f"={_shown(redacted(key, value))}"
        end = "" if reason.endswith((".", "?")) else "."
        return f"model '{self.model}': {key}{shown}: {reason}{end}"

    def raise_if_any(self) -> None:
        """Raise ConfigErrors with all messages, if there are any."""
        if self.messages:
            raise ConfigErrors(self.messages)


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(_shown(item) for item in value)}]"
    elif isinstance(value, str):
        text = f"'{value}'"
    else:
        text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
