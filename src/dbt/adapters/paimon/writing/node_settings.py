"""Spark settings of a node (`spark_config`), set in its thread's own session while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.spec import spark_settings

logger = AdapterLogger("Paimon")


class NodeSettings:
    """Checks and applies the Spark settings of nodes."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter

    @contextmanager
    def applied(self, config: Mapping[str, Any]) -> Iterator[None]:
        """Set the node's settings inside the block, and restore the old values afterwards, even after an error.

        Raises:
            ConfigErrors: a node cannot have these settings; nothing was set.
            DbtRuntimeError: Spark refuses a setting or its value.
        """
        name, given = self._of(config)
        settings = spark_settings.settings_of(name, given, self._adapter.versions.paimon)
        if not settings:
            yield
            return
        self._look_up(name, settings)
        with ExitStack() as stack:
            try:
                stack.enter_context(self._adapter.handle.configured(settings))
            except Exception as exc:
                reason = exc.msg if isinstance(exc, DbtRuntimeError) else messages.shorten(messages.error_text(exc))
                raise DbtRuntimeError(spark_settings.refused(name, settings, str(reason))) from exc
            yield

    def _of(self, config: Mapping[str, Any]) -> tuple[str, Any]:
        """A node's name and settings; a unit test uses the settings of its model."""
        node = getattr(config, "model", None)
        name = getattr(node, "name", "")
        tested = getattr(node, "tested_node_unique_id", None)
        if tested is None:
            return name, config.get(spark_settings.KEY)
        model = getattr(self._adapter.get_macro_resolver(), "nodes", {}).get(tested)
        return (model.name, model.config.get(spark_settings.KEY)) if model is not None else (name, None)

    def _look_up(self, name: str, settings: Mapping[str, str]) -> None:
        handle = self._adapter.handle
        unknown = [key for key in spark_settings.to_look_up(settings) if not handle.is_session_setting(key)]
        if unknown:
            known = [row[0] for row in self._adapter.query("set -v")]
            spark_settings.misspelt(name, unknown, known)


def closed(block: ExitStack) -> None:
    """Restore the settings; raises DbtRuntimeError if that fails, unless the node's own error is being raised."""
    failed = sys.exc_info()[0] is not None
    try:
        block.close()
    except Exception as exc:
        logger.debug(f"A node's Spark settings could not be restored: {messages.error_text(exc)}")
        if not failed:
            raise DbtRuntimeError(messages.shorten(messages.error_text(exc))) from exc
