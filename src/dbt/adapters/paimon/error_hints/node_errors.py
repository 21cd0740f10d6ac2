"""Finds the line of a node's source files that caused an error in its statement."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.events.contextvars import get_node_info

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.errors import excerpts, node_text, places, python_text
from dbt.adapters.paimon.errors.messages import StatementError
from dbt.adapters.paimon.errors.node_text import Source, normalized

logger = AdapterLogger("Paimon")

_INLINE: Final = "inline query"
# The connection on which dbt runs on-run-start and on-run-end hooks.
HOOKS_OF_A_RUN: Final = "master"
_HOOKS: Final = ("pre_hook", "post_hook")


class NodeErrors:
    """Maps errors to lines in the source files of the node that this thread runs."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter

    def where(self, error: StatementError) -> str:
        """The file, line and column that caused an error, with that line; '' if unknown."""
        try:
            spot = self._spot(error)
            return excerpts.shown(spot) if spot else ""
        except Exception as exc:  # noqa: BLE001 - the statement's own error is the one to report
            logger.debug(f"Cannot find the source line of this error: {type(exc).__name__}: {exc}")
            return ""

    def _spot(self, error: StatementError) -> excerpts.SourceLocation | None:
        manifest: Any = self._adapter.get_macro_resolver()
        name = self._adapter.connections.get_thread_connection().name
        node = getattr(manifest, "nodes", {}).get(name)
        place = places.found(error.text, error.statement)
        if node is not None and getattr(node, "language", "sql") == "python":
            path, file = self._file(node, node.original_file_path)
            found = python_text.named_in(error.text, path, file)
            if found or place is None:
                return found
        return node_text.spot(place, error.statement, self._sources(manifest, name)) if place else None

    def _sources(self, manifest: Any, name: str | None) -> list[Source]:
        """The sources that a statement on the connection `name` may come from."""
        nodes = getattr(manifest, "nodes", {})
        if name == HOOKS_OF_A_RUN:
            hook = nodes.get(get_node_info().get("unique_id"))
            return [self._hook_source(hook, hook.raw_code, f"hook {hook.name}")] if hook else []
        if (node := nodes.get(name)) is not None:
            return [*self._query_sources(node, nodes), *self._hook_sources(node)]
        depends_on = getattr(getattr(manifest, "unit_tests", {}).get(name), "depends_on", None)
        tested = getattr(depends_on, "nodes", ())[:1]
        return [self._source(nodes[model], "", "") for model in tested if model in nodes]

    def _query_sources(self, node: Any, nodes: Any) -> Iterator[Source]:
        for cte in getattr(node, "extra_ctes", ()):
            if (ephemeral := nodes.get(cte.id)) is not None:
                yield self._source(ephemeral, _rendered(ephemeral), "")
        sent = getattr(node, "compiled_code", None) or ""
        yield self._source(node, _rendered(node), sent)

    def _hook_sources(self, node: Any) -> Iterator[Source]:
        for kind in _HOOKS:
            for hook in getattr(node.config, kind, ()):
                yield self._hook_source(node, hook.sql, f"{kind} of {node.name}")

    def _source(self, node: Any, compiled: str, sent: str) -> Source:
        raw = node.raw_code or ""
        if str(node.resource_type) == "sql_operation":
            # `dbt show --inline`: there is no file.
            path, file, compiled_path = _INLINE, raw, _INLINE
        else:
            path, file = self._file(node, node.original_file_path)
            compiled_path = getattr(node, "compiled_path", None) or ""
        # A YAML file that defines a node, such as a data test, does not contain its SQL.
        if path.endswith((".yml", ".yaml")):
            raw = ""
        return node_text.source_in(
            path,
            file,
            raw,
            compiled=compiled,
            sent=sent if sent != compiled else "",
            compiled_path=compiled_path if compiled else "",
        )

    def _hook_source(self, node: Any, sql: str, note: str) -> Source:
        """The source of a hook: the file that contains its SQL, else the SQL itself."""
        patch = (getattr(node, "patch_path", None) or "").rpartition("://")[2]
        for path in (node.original_file_path, patch, "dbt_project.yml"):
            shown, file = self._file(node, path) if path else ("", "")
            if normalized(file).count(normalized(sql)) == 1:
                return node_text.source_in(shown, file, sql, note=note)
        return node_text.source_in(note, sql, sql)

    def _file(self, node: Any, path: str) -> tuple[str, str]:
        """The path and the content of a file in a node's project; the content is '' if it cannot be read."""
        config = self._adapter.config
        inside = Path(path)
        if node.package_name != config.project_name:
            inside = Path(config.packages_install_path) / node.package_name / path
        try:
            return str(inside), normalized((Path(config.project_root) / inside).read_text("utf-8"))
        except (OSError, ValueError):
            return str(inside), ""


def _rendered(node: Any) -> str:
    return getattr(node, "_pre_injected_sql", None) or getattr(node, "compiled_code", None) or ""
