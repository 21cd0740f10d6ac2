"""Renders CALL statements of Paimon's procedures from typed arguments.

Parameter names, types and versions come from paimon-spark-common's procedure/*Procedure.java at the release tags 0.9.0
to 2.0.0. Every statement that 0.9.0 supports was run on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.errors.redaction import redacted
from dbt.adapters.paimon.options import table_options
from dbt.adapters.paimon.sql.booleans import boolean
from dbt.adapters.paimon.sql.data_types import type_name
from dbt.adapters.paimon.sql.names import branch_problem, tag_problem
from dbt.adapters.paimon.sql.statements import SORTED_COMPACTION, Statement
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.timestamps import session_moment

NameParts = tuple[str, str, str]
PartitionValues = Mapping[str, Any]

ORDER_STRATEGIES: Final = ("order", "zorder", "hilbert")
COMPACT_STRATEGIES: Final = ("full", "minor")
EXPIRE_STRATEGIES: Final = ("values-time", "update-time")
# Without its suffix, a number is an int.
_NUMBER_SUFFIXES: Final = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L", "decimal": ""}


class _InvalidValueError(ValueError):
    """An invalid value of a parameter; the message says which values are accepted."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a procedure. `render` returns a value's SQL; it raises _InvalidValueError for an invalid value.

    `paimon_name` is the parameter's name in Paimon, if different; `needs` is the capability that it requires.
    """

    accepted: str
    render: Callable[[Any, Versions], str]
    required: bool = False
    needs: Capability | None = None
    paimon_name: str = ""


@dataclass(frozen=True)
class Procedure:
    """A procedure of Paimon's `sys` schema. `check` returns problems with the combination of arguments.

    `paimon_name` is the procedure's name in Paimon, if different. `defaults` returns the SQL of arguments that replace
    Paimon's own defaults.
    """

    parameters: Mapping[str, Parameter]
    needs: Capability | None = None
    check: Callable[[Mapping[str, Any], Versions], Sequence[str]] = lambda arguments, versions: ()
    paimon_name: str = ""
    defaults: Callable[[Versions], Mapping[str, str]] = lambda versions: {}

    @property
    def usage(self) -> str:
        """The arguments, for error messages."""
        return ", ".join(
            f"{name} ({parameter.accepted}{', required' if parameter.required else ''})"
            for name, parameter in self.parameters.items()
        )


def statement(procedure: str, table: NameParts, arguments: Mapping[str, Any], versions: Versions) -> Statement:
    """The CALL of a procedure as a `Statement`; see `render`."""
    sorts = procedure == "compact" and arguments.get("order_strategy") is not None
    return Statement(
        render(procedure, table, arguments, versions),
        SORTED_COMPACTION if sorts else procedure,
        repeat=procedure in conflicts.IDEMPOTENT_PROCEDURES,
        target=table,
    )


def render(procedure: str, table: NameParts, arguments: Mapping[str, Any], versions: Versions) -> str:
    """The SQL of a procedure's CALL, without arguments that are None; raises DbtRuntimeError with all problems."""
    definition = PROCEDURES[procedure]
    given = {name: value for name, value in arguments.items() if value is not None}
    problems = list(_problems(procedure, definition, given, versions)) or definition.check(given, versions)
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise DbtRuntimeError(f"{procedure} on {'.'.join(table)}:\n{listed}\n  Arguments: {definition.usage}.")
    rendered = dict(definition.defaults(versions))
    for name, value in given.items():
        parameter = definition.parameters[name]
        rendered[parameter.paimon_name or name] = parameter.render(value, versions)
    return _call(definition.paimon_name or procedure, table, rendered)


def _unmet(needs: Capability | None, versions: Versions) -> str:
    return versions.explain(needs) if needs else ""


def _problems(procedure: str, definition: Procedure, given: Mapping[str, Any], versions: Versions) -> Iterator[str]:
    if why := _unmet(definition.needs, versions):
        yield why
    for name, value in given.items():
        if why := _unmet(definition.parameters[name].needs, versions):
            yield f"{name}: {why}"
        elif problem := argument_problem(procedure, name, value, versions):
            yield problem
    for name, parameter in definition.parameters.items():
        if parameter.required and name not in given:
            yield f"{name}: required."


def argument_problem(procedure: str, name: str, value: Any, versions: Versions) -> str:
    """Why a value is not valid for an argument, as a sentence; '' if it is valid."""
    try:
        PROCEDURES[procedure].parameters[name].render(value, versions)
    except _InvalidValueError as fault:
        return f"{name}={redacted(name, value)!r}: {fault}"
    return ""


# -- SQL -------------------------------------------------------------------------------------------------


def _call(name: str, table: NameParts, arguments: Mapping[str, str]) -> str:
    if not all(table):
        raise DbtRuntimeError(f"{name}: the table needs a catalog, a schema and an identifier, not {table}.")
    listed = ", ".join(f"{key} => {value}" for key, value in {"table": table_argument(table), **arguments}.items())
    return f"CALL {quoted(table[0])}.sys.{name}({listed})"


def table_argument(table: NameParts) -> str:
    """The string literal that names a table in a procedure call."""
    # Always pass three parts. Given two, Spark treats the first as a catalog if a catalog has that name.
    return string_literal(
        ".".join(part if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part) else quoted(part) for part in table)
    )


def _string(value: Any, versions: Versions) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _InvalidValueError("must be a string that is not empty.")
    return string_literal(value)


def _checked_name(problem_of: Callable[[str], str]) -> Callable[[Any, Versions], str]:
    def check(value: Any, versions: Versions) -> str:
        if not isinstance(value, str):
            raise _InvalidValueError("must be a string.")
        if problem := problem_of(value):
            raise _InvalidValueError(problem)
        return string_literal(value)

    return check


_tag = _checked_name(tag_problem)
_branch = _checked_name(branch_problem)


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]+", str(value)):
        raise _InvalidValueError("must be a whole number.")
    return int(value)


def _positive(value: Any, versions: Versions) -> str:
    if not (number := _whole_number(value)):
        raise _InvalidValueError("must be at least 1.")
    return str(number)


def _long(value: Any, versions: Versions) -> str:
    return f"{_whole_number(value)}L"


def _boolean(value: Any, versions: Versions) -> str:
    try:
        return str(boolean(value)).lower()
    except ValueError as fault:
        raise _InvalidValueError(str(fault)) from None


def _duration(value: Any, versions: Versions) -> str:
    if not table_options.is_age(value):
        raise _InvalidValueError("must be a duration with a unit, as in '1 d' or '12 h'.")
    return string_literal(str(value))


def _timestamp(value: Any, versions: Versions) -> str:
    try:
        return string_literal(session_moment(value).strftime("%Y-%m-%d %H:%M:%S"))
    except ValueError as fault:
        raise _InvalidValueError(str(fault)) from None


def _snapshot_timestamp(value: Any, versions: Versions) -> str:
    text = _timestamp(value, versions)
    return text if versions.supports(Capability.EXPIRE_SNAPSHOTS_OLDER_THAN_TEXT) else f"TIMESTAMP {text}"


def _choice(allowed: Sequence[str], needs: Capability | None = None) -> Parameter:

    def check(value: Any, versions: Versions) -> str:
        if not isinstance(value, str) or value.lower() not in allowed:
            raise _InvalidValueError(f"must be one of {', '.join(allowed)}.")
        return string_literal(value.lower())

    return Parameter(" or ".join(allowed), check, needs=needs)


def _column_names(value: Any, versions: Versions) -> str:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise _InvalidValueError("must be a column or a list of columns.")
    # CompactProcedure splits at every comma and does not trim.
    parts = [part.strip() for name in names for part in name.split(",")]
    if not all(parts):
        raise _InvalidValueError("the list contains an empty column name.")
    return string_literal(",".join(parts))


def _options(value: Any, versions: Versions) -> str:
    if not isinstance(value, Mapping):
        raise _InvalidValueError("must be a mapping of Paimon's option names to values.")
    pairs = []
    for name, item in value.items():
        if fault := table_options.option_fault(str(name), item, versions.paimon):
            raise _InvalidValueError(f"'{name}': {fault}.")
        text = table_options.normalize(item)
        if "," in text:
            # ParameterUtils.parseCommaSeparatedKeyValues
            raise _InvalidValueError(f"'{name}': the value contains a comma, at which Paimon would split it.")
        pairs.append(f"{name}={text}")
    return string_literal(",".join(pairs))


def _partitions(value: Any, versions: Versions) -> str:
    """Partitions as a condition, because Paimon splits the `partitions` argument at every comma."""
    return string_literal(partition_condition(value))


def partition_condition(value: Any) -> str:
    """The condition for a partition {column: value} or a list of them; raises ValueError for an invalid partition."""
    partitions = [value] if isinstance(value, Mapping) else value
    if (
        not isinstance(partitions, (list, tuple))
        or not partitions
        or not all(isinstance(partition, Mapping) and partition for partition in partitions)
    ):
        raise _InvalidValueError(
            "must be a list of partitions, each a mapping of column to value, as in [{'dt': '2024-01-01'}]."
        )
    conditions = (
        " AND ".join(f"{quoted(str(column))} {_equals(item)}" for column, item in partition.items())
        for partition in partitions
    )
    return " OR ".join(f"({condition})" for condition in conditions)


class Literal(str):
    """A partition value as a SQL literal (see `partition_literal`)."""

    __slots__ = ()


def partition_literal(text: str, data_type: str) -> Literal:
    """A partition value as a literal of its column's type, because Paimon's filters do not accept casts [ran, 0.9.0].

    Args:
        text: the value as text.
        data_type: the column's type in Spark.
    """
    kind = type_name(data_type)
    if kind in _NUMBER_SUFFIXES and re.fullmatch(r"-?\d+", text):
        return Literal(text + _NUMBER_SUFFIXES[kind])
    if kind == "boolean" and text.lower() in ("true", "false"):
        return Literal(text.lower())
    typed = {"date": "DATE ", "timestamp": "TIMESTAMP ", "timestamp_ntz": "TIMESTAMP_NTZ "}.get(kind, "")
    return Literal(typed + string_literal(text))


def _equals(value: Any) -> str:
    if value is None:
        return "IS NULL"
    if isinstance(value, bool):
        return f"= {str(value).lower()}"
    if isinstance(value, int):
        return f"= {value}"
    if isinstance(value, Literal):
        return f"= {value}"
    if isinstance(value, (str, date)):
        text = value.strftime("%Y-%m-%d %H:%M:%S") if isinstance(value, datetime) else str(value)
        return f"= {string_literal(text)}"
    raise _InvalidValueError(f"a partition value must be a string, a whole number, a date or a boolean, not {value!r}.")


def _check_compact(arguments: Mapping[str, Any], versions: Versions) -> list[str]:
    # CompactProcedure.call
    problems = []
    if "partitions" in arguments and "where" in arguments:
        problems.append("partitions and where cannot be combined. Put the partitions into where.")
    if "order_strategy" in arguments and "order_by" not in arguments:
        problems.append("order_strategy: needs order_by, the columns to sort by.")
    return problems


def _check_expire_snapshots(arguments: Mapping[str, Any], versions: Versions) -> list[str]:
    low, high = arguments.get("retain_min"), arguments.get("retain_max")
    if low is not None and high is not None and int(low) > int(high):
        return [f"retain_min={low} is greater than retain_max={high}. Lower retain_min or raise retain_max."]
    return []


def _check_expire_partitions(arguments: Mapping[str, Any], versions: Versions) -> list[str]:
    if "expiration_time" in arguments or versions.supports(Capability.EXPIRE_PARTITIONS_BY_TABLE_OPTIONS):
        return []
    return [f"expiration_time: {versions.explain(Capability.EXPIRE_PARTITIONS_BY_TABLE_OPTIONS)}"]


def _expire_all_partitions(versions: Versions) -> Mapping[str, str]:
    return {"max_expires": str(2**31 - 1)} if versions.supports(Capability.EXPIRE_PARTITIONS_IS_LIMITED) else {}


_TAG: Final = Parameter("name", _tag, required=True)
_BRANCH: Final = Parameter("name", _branch, required=True)
_TAGGING: Final = {
    "tag": _TAG,
    "snapshot": Parameter("ID of a table snapshot", _long),
    "time_retained": Parameter("duration", _duration),
}

PROCEDURES: Final[Mapping[str, Procedure]] = {
    "compact": Procedure(
        {
            "partitions": Parameter("list of {column: value}", _partitions, paimon_name="where"),
            "order_strategy": _choice(ORDER_STRATEGIES, needs=Capability.COMPACT_ORDER),
            "order_by": Parameter("column or list of columns", _column_names),
            "where": Parameter("condition over partition columns", _string),
            "options": Parameter("{option: value}", _options),
            "compact_strategy": _choice(COMPACT_STRATEGIES, needs=Capability.COMPACT_STRATEGY),
            "partition_idle_time": Parameter("duration", _duration),
        },
        check=_check_compact,
    ),
    "expire_snapshots": Procedure(
        {
            "retain_max": Parameter("whole number", _positive),
            "retain_min": Parameter("whole number", _positive),
            "older_than": Parameter("timestamp", _snapshot_timestamp),
            "max_deletes": Parameter("whole number", _positive),
        },
        check=_check_expire_snapshots,
    ),
    "create_tag": Procedure(_TAGGING),
    "delete_tag": Procedure({"tag": _TAG}),
    "replace_tag": Procedure(_TAGGING, needs=Capability.REPLACE_TAG),
    "create_branch": Procedure({"branch": _BRANCH, "tag": Parameter("name", _tag)}, needs=Capability.BRANCHES),
    "delete_branch": Procedure({"branch": _BRANCH}, needs=Capability.BRANCHES),
    "fast_forward": Procedure({"branch": _BRANCH}, needs=Capability.FAST_FORWARD),
    "rollback_to": Procedure(
        {
            "version": Parameter(
                "ID of a table snapshot, or a tag",
                lambda value, versions: _string(str(value), versions),
                required=True,
            )
        },
        paimon_name="rollback",
    ),
    "remove_orphan_files": Procedure(
        {
            "older_than": Parameter("timestamp", _timestamp),
            "dry_run": Parameter("boolean", _boolean),
        },
        needs=Capability.REMOVE_ORPHAN_FILES,
    ),
    "expire_partitions": Procedure(
        {
            "expiration_time": Parameter("duration", _duration),
            "timestamp_formatter": Parameter("pattern such as yyyy-MM-dd", _string),
            "timestamp_pattern": Parameter("pattern such as $dt", _string),
            "expire_strategy": _choice(EXPIRE_STRATEGIES),
        },
        needs=Capability.EXPIRE_PARTITIONS,
        check=_check_expire_partitions,
        defaults=_expire_all_partitions,
    ),
    # This is only the procedure call; `maintenance.rescale` does the rest of a rescale.
    "rescale": Procedure(
        {
            "bucket_num": Parameter("whole number", _positive),
            "partitions": Parameter("list of {column: value}", _partitions, paimon_name="where"),
        },
        needs=Capability.RESCALE,
    ),
}
