"""Builds a `TableSpec` from a model's config and contract, before any SQL runs.

This module checks single keys, and the rules of `components` check the whole table. All problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.errors.dialects import declared_type_remedy
from dbt.adapters.paimon.options.read_options import read_fault
from dbt.adapters.paimon.options.table_options import canonical, did_you_mean, normalize, option_fault
from dbt.adapters.paimon.spec import run_tag, safeguards, skipping
from dbt.adapters.paimon.spec.components import (
    COMPONENTS,
    audit,
    buckets,
    iceberg,
    key,
    maintenance,
    partitioning,
    properties,
    rule_faults,
)
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.config_values import is_on
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.key_names import check_key_names
from dbt.adapters.paimon.spec.maintenance_policy import read_policy
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.spelling import column_text, doubled_options, has_column, named_columns, one_spelling
from dbt.adapters.paimon.spec.table import TableSpec


def collect_table_spec(declared: Declared, versions: Versions, problems: Problems) -> TableSpec:
    """The table that a model's config and contract describe. It is only valid if `problems` stays empty."""
    config, columns = declared.config, declared.columns
    check_key_names(config, problems, versions)
    given = properties.read(config, problems)
    primary_key = key.read(config, given, problems)
    partition_by = partitioning.read(config, given, problems)
    contracted = _contract_enforced(config)
    _check_types(config, columns if contracted else {}, problems)
    if contracted:
        primary_key = key.with_contract(primary_key, declared.constraints, columns, problems)

    options = _options(config, given, problems, versions)
    spec = TableSpec(
        primary_key,
        partition_by,
        options,
        tag=run_tag.read(config.get("table_tag"), problems),
        wap=audit.read(config, problems, versions),
        maintenance=read_policy(config.get("maintenance"), problems),
        compact_after_build=is_on(config, "compact_after_build", problems, default="true"),
        auto_buckets=buckets.is_auto(config, options, problems),
    )
    safeguards.check(config, problems)
    is_on(config, skipping.KEY, problems)
    spec = maintenance.checked(iceberg.with_compaction(spec), problems, versions)
    for name, other in doubled_options(options):
        problems.add(name, options[name], f"'{other}' sets it, too. Keep one of the two")
    if not versions.case_sensitive:
        spec = one_spelling(spec)
    _check_rules(config, spec, problems, versions)
    if contracted and columns:
        _check_contract(config, spec, columns, problems, versions)
    return spec


def _check_rules(config: Mapping[str, Any], spec: TableSpec, problems: Problems, versions: Versions) -> None:
    origin = ConfigOrigin(config)
    origin.report(problems, spec, rule_faults(spec, versions))
    for component in COMPONENTS:
        for rule in component.unread_rules:
            for name, reason in rule(spec, versions):
                problems.add_ignored(*origin.find(name, spec), reason)


def _check_contract(
    config: Mapping[str, Any], spec: TableSpec, columns: Mapping[str, Any], problems: Problems, versions: Versions
) -> None:
    origin = ConfigOrigin(config)
    for name, column in named_columns(spec):
        if not has_column(column, columns, versions.case_sensitive):
            hint = did_you_mean(column, columns, label="Its columns")
            problems.add(*origin.find(name, spec), f"the contract has no column '{column}'. {hint}")


def _check_types(config: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]], problems: Problems) -> None:
    # Report types that Spark cannot declare.
    given = config.get("column_types")
    of_seed = given if isinstance(given, Mapping) else {}
    types = {f"column_types.{name}": kind for name, kind in of_seed.items()}
    types |= {f"columns.{name}.data_type": column.get("data_type") for name, column in columns.items()}
    for where, kind in types.items():
        if remedy := declared_type_remedy(str(kind or "")):
            problems.add(where, kind, remedy)


def _contract_enforced(config: Mapping[str, Any]) -> bool:
    # The contract is a mapping or an object of dbt.
    contract = config.get("contract")
    return bool(contract.get("enforced") if isinstance(contract, Mapping) else getattr(contract, "enforced", False))


def _options(
    config: Mapping[str, Any], given: Mapping[str, Any], problems: Problems, versions: Versions
) -> dict[str, str]:
    # `given` are the options in tblproperties.
    options: dict[str, str] = {}
    for component in COMPONENTS:
        for where, name, value in component.option_values(config, problems):
            if fault := option_fault(name, value, versions.paimon):
                problems.add(where, value, fault)
            else:
                options[name] = normalize(value)
    for name, value in given.items():
        text = column_text(name, normalize(value))
        if fault := _property_fault(name, value, options.get(name, text), versions):
            problems.add(f"tblproperties['{name}']", value, fault)
        else:
            options.setdefault(name, text)
    if "merge-engine" in options:
        options["merge-engine"] = options["merge-engine"].lower()
    iceberg.read(config, options, problems)
    return options


def _property_fault(name: str, value: Any, own: str, versions: Versions) -> str | None:
    """Why tblproperties cannot set an option; `own` is the value from the option's config key."""
    if fault := read_fault(name, normalize(value)) or option_fault(name, value, versions.paimon):
        return fault
    text = column_text(name, normalize(value))
    agrees = canonical(name, own, versions.paimon) == canonical(name, text, versions.paimon)
    return None if agrees else f"the model's own key is '{own}'. Keep one of the two"
