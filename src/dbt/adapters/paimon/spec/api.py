"""`adapter.specs`: turns a node's config into a validated table spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, TypeVar

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import catalogs_yml, overrides
from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors import unsupported
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.spec import auto_buckets, doubtful_merges, foreign_config, spelling
from dbt.adapters.paimon.spec.advice import advice
from dbt.adapters.paimon.spec.build import collect_table_spec
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.dbt_snapshots import collect_snapshot_spec
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.node_names import NodeNames
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.strategies import IncrementalSpec, collect_incremental_spec, macro_of
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import names

S = TypeVar("S")


class Specs:
    """Reads and checks the config of nodes. Runs SQL only to ask Spark about a catalog that no config defines."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter
        self._names: tuple[Any, NodeNames] = (None, NodeNames(()))

    def of(self, model: Mapping[str, Any], default_primary_key: Sequence[str] = ()) -> TableSpec:
        """The validated table spec of a model; raises ConfigErrors with all problems.

        `default_primary_key` is the key of a snapshot whose config sets no primary key.
        """
        config = model["config"]
        if default_primary_key and not config.get("primary_key"):
            config = {**config, "primary_key": list(default_primary_key)}
        collect = collect_snapshot_spec if config.get("materialized") == "snapshot" else collect_table_spec
        spec = self._sized(self.read({**model, "config": config}, collect), model)
        self.advise(model, spec)
        return spec

    def incremental(self, model: Mapping[str, Any]) -> IncrementalSpec:
        """The table spec and strategy of an incremental model; raises ConfigErrors with the problems of both."""
        has_macro = self._has_macro(model, macro_of(str(model["config"].get("incremental_strategy"))))
        spec = self.read(model, partial(collect_incremental_spec, has_macro=has_macro))
        spec = replace(spec, table=self._sized(spec.table, model))
        self.advise(model, spec.table)
        return spec

    def _has_macro(self, model: Mapping[str, Any], name: str) -> bool:
        """Whether the project, or the model's package, has a macro of this name."""
        macros = getattr(self._adapter.get_macro_resolver(), "macros", {})
        packages = (self._adapter.config.project_name, model.get("package_name"))
        return any(f"macro.{package}.{name}" in macros for package in packages)

    def read(self, model: Mapping[str, Any], collect: Callable[[Declared, Versions, Problems], S]) -> S:
        """What `collect` makes of a node that `check_node` accepts; raises ConfigErrors with all problems."""
        self.check_node(model)
        declared = Declared.of(model)
        problems = Problems(declared.name, warn=self._adapter.defaults.warn_ignored_config)
        spec = collect(declared, self._adapter.versions, problems)
        problems.raise_if_any()
        return spec

    def _sized(self, spec: TableSpec, model: Mapping[str, Any]) -> TableSpec:
        # A stream's buckets are not sized by its first batch, because that does not predict the size of the table.
        if not self._adapter.defaults.sizes_buckets or model["config"].get("materialized") == "streaming":
            return spec
        return auto_buckets.by_default(spec)

    def check_node(self, model: Mapping[str, Any]) -> None:
        """Raise DbtRuntimeError if a node's catalog, name, grants, access rules or kind are not supported."""
        if model.get("resource_type") == "function":
            kind = self._adapter.credentials.metastore_of(model.get("database"))
            versions = replace(self._adapter.versions, catalog_kind=kind)
            versions.require(Capability.SQL_FUNCTIONS, f"function '{model['name']}'")
        if problem := self._name_problem(model):
            raise DbtRuntimeError(f"{model.get('resource_type', 'model')} '{model['name']}': {problem}")
        if model.get("config", {}).get("grants"):
            self.refuse("grants", model)
        self._check_foreign(model)
        self._check_overrides()

    def _check_overrides(self) -> None:
        """Warn once per run about each macro override that this adapter never calls."""
        if not self._adapter.once.first("overrides"):
            return
        config = self._adapter.config
        macros = getattr(self._adapter.get_macro_resolver(), "macros", {})
        order = config.get_macro_search_order("dbt")
        for message in overrides.not_called(macros.values(), config.project_name, order):
            warn(f"{message} Shown once per run")

    def _name_problem(self, model: Mapping[str, Any]) -> str:
        credentials = self._adapter.credentials
        problem = self.schema_problem(model.get("schema"))
        if not self._adapter.has_catalog(model.get("database")):
            problem = catalogs_yml.unknown_catalog(model["database"], credentials)
        alias = model.get("alias") or ""
        problem = problem or self._node_names().problem(model)
        if problem or model.get("config", {}).get("materialized") == "view":
            return problem or names.helper_problem(alias)
        if problem := names.table_problem(alias) or self._pattern_problem("table", alias):
            return problem
        catalog = credentials.catalog_of(model.get("database") or "")
        return names.metastore_problem(catalog.metastore, model.get("schema") or "", alias) if catalog else ""

    def _node_names(self) -> NodeNames:
        # Each command in a shell has its own manifest, so a new manifest replaces the collected names.
        manifest: Any = self._adapter.get_macro_resolver()
        if self._names[0] is not manifest:
            self._names = (manifest, NodeNames(getattr(manifest, "nodes", {}).values()))
        return self._names[1]

    @staticmethod
    def refuse(feature: str, model: Mapping[str, Any]) -> NoReturn:
        """Fail a node that uses a feature that neither Spark nor Paimon has (see `errors.unsupported`)."""
        raise DbtRuntimeError(unsupported.problem(feature, model))

    @staticmethod
    def columns(value: Any) -> list[str]:
        """The columns in a config value (see `column_list`)."""
        return list(column_list(value))

    def spelled(self, spec: TableSpec, columns: Iterable[PaimonColumn]) -> TableSpec:
        """The table spec with columns spelled as in the model's query (see `spelling`)."""
        if self._adapter.versions.case_sensitive:
            return spec
        return spelling.with_column_case(spec, [column.name for column in columns])

    def advise(
        self, model: Mapping[str, Any], spec: TableSpec, types: Mapping[str, str] = {}, more: Sequence[str] = ()
    ) -> None:
        """Warn once per node about config that is valid but has surprising effects; `more` are further warnings."""
        # Warn only once, because a microbatch model calls this method for every batch.
        own = advice(spec, model["config"], model.get("name", ""), self._adapter.versions, types)
        self._warn_once("advice", *own, *more)

    def _warn_once(self, kind: str, *messages: str) -> None:
        for message in messages:
            if self._adapter.once.first((kind, message)):
                warn(message)

    def doubt(self, model: Mapping[str, Any], spec: TableSpec, *, new: bool) -> None:
        """Refuse a new table whose aggregations may give wrong values; for an existing one, warn once per node."""
        problems = doubtful_merges.doubtful(spec, model["config"], model["name"], self._adapter.versions)
        warn_new = self._adapter.defaults.warn_inexact_merge
        if new and warn_new is None:
            problems.raise_if_any()
        for message in problems.messages:
            if new and warn_new:
                warn_new(message)
            else:
                self._warn_once("doubt", message)

    def _check_foreign(self, model: Mapping[str, Any]) -> None:
        """Warn once per run about each key of another adapter; refuse keys that restrict the readers of a view."""
        config, name = model.get("config", {}), model.get("name", "")
        problems = Problems(name, warn=self._adapter.defaults.warn_ignored_config)
        if config.get("materialized") == "view":
            for key, reason in foreign_config.refusals(config):
                problems.add_ignored(key, config[key], reason)
            problems.raise_if_any()
        for key, reason in foreign_config.warnings(config):
            # Warn once per key, because a package may set the same key on all its models.
            if self._adapter.once.first(("foreign", key)):
                shown = f"{reason}. Shown once per run, even if other nodes have it too"
                Problems(name, warn=warn).add_ignored(key, config[key], shown)

    def schema_problem(self, schema: str | None) -> str:
        """Why a schema name is invalid; empty if it is valid."""
        return names.schema_problem(schema or "") or self._pattern_problem("schema", schema)

    def _pattern_problem(self, kind: str, name: str | None) -> str:
        missing = self._adapter.versions.explain(Capability.TABLE_NAMES_OF_ANY_TEXT)
        problem = names.pattern_problem(name or "")
        return f"{kind} {problem}. {missing}" if problem and missing else ""
