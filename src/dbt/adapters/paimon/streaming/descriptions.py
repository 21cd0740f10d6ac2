"""Reads and checks a source's YAML (`external` and `columns`): a Kafka topic or a folder of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import location_scheme, option_text
from dbt.adapters.paimon.errors.redaction import secrets_of
from dbt.adapters.paimon.options.table_options import suggestion

KAFKA: Final = "kafka"
JSON: Final = "json"
CSV: Final = "csv"
PARQUET: Final = "parquet"
DEBEZIUM: Final = "debezium"
KINDS: Final = (KAFKA, JSON, CSV, PARQUET)
VALUE_FORMATS: Final = (JSON, DEBEZIUM)
_WITH_VALUE_FORMAT: Final = (KAFKA, JSON)

# The metadata columns of a row, in addition to the described ones: name -> Spark's type.
KAFKA_METADATA: Final[Mapping[str, str]] = {
    "_key": "binary",
    "_topic": "string",
    "_partition": "int",
    "_offset": "bigint",
    "_timestamp": "timestamp",
    "_headers": "array<struct<key:string,value:binary>>",
}
FILE_METADATA: Final[Mapping[str, str]] = {"_file": "string"}

_KEYS: Final = ("using", "location", "value_format", "options")
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_TYPE: Final = re.compile(
    r"boolean|tinyint|smallint|int|bigint|float|double|decimal\(\d+,\d+\)|string|(?:var)?char\(\d+\)|binary|date"
    r"|timestamp|timestamp_ntz|(?:array|map|struct)<.*>",
    re.DOTALL,
)
_NO_TYPE_OF_JSON: Final = re.compile(
    r"`(?:[^`]|``)*`|(?P<found>\b(?:interval\b[\w ]*|void|variant|(?:var)?char)\b(?!:))"
)
_MAP_KEY: Final = re.compile(r"`(?:[^`]|``)*`|\bmap<(?P<key>(?!string,)[^,<]+)")
_FOREIGN_TYPES: Final = {"text": "string", "datetime": "timestamp", "number": "decimal(38,0)", "json": "string"}

# Source: https://spark.apache.org/docs/3.5.7/structured-streaming-programming-guide.html#input-sources
_FILE_OPTIONS: Final = (
    "maxFilesPerTrigger maxFileAge fileNameOnly latestFirst cleanSource sourceArchiveDir pathGlobFilter "
    "recursiveFileLookup ignoreMissingFiles ignoreCorruptFiles compression"
).split()
# Sources: https://spark.apache.org/docs/3.5.7/structured-streaming-kafka-integration.html, and in the same folder
# sql-data-sources-text.html, sql-data-sources-csv.html and sql-data-sources-parquet.html
_KIND_OPTIONS: Final[Mapping[str, Sequence[str]]] = {
    KAFKA: (
        "startingOffsets startingTimestamp startingOffsetsByTimestamp startingOffsetsByTimestampStrategy "
        "failOnDataLoss kafkaConsumer.pollTimeoutMs fetchOffset.numRetries fetchOffset.retryIntervalMs "
        "maxOffsetsPerTrigger minOffsetsPerTrigger maxTriggerDelay minPartitions groupIdPrefix"
    ).split(),
    JSON: [*_FILE_OPTIONS, "lineSep"],
    CSV: [
        *_FILE_OPTIONS,
        *"sep delimiter encoding charset quote escape comment header ignoreLeadingWhiteSpace".split(),
        *"ignoreTrailingWhiteSpace nullValue emptyValue maxColumns maxCharsPerColumn multiLine".split(),
        *"charToEscapeQuoteEscaping lineSep unescapedQuoteHandling".split(),
    ],
    PARQUET: [*_FILE_OPTIONS, "mergeSchema", "datetimeRebaseMode", "int96RebaseMode"],
}
# Options that the adapter sets itself, in lower case.
_OWN_OPTIONS: Final = (
    "subscribe subscribepattern assign includeheaders endingoffsets mode columnnameofcorruptrecord basepath path "
    "inferschema enforceschema wholetext"
).split()


@dataclass(frozen=True)
class SourceColumn:
    """A column of a source; `data_type` is a Spark type as `data_types.type_text` returns it."""

    name: str
    data_type: str
    nullable: bool = True


@dataclass(frozen=True)
class Description:
    """A source that is not a table.

    Attributes:
        label: source and table, as in `airport.flight_status`.
        using: one of KINDS.
        location: the topics, separated by commas; or the absolute path of the folder.
        value_format: one of VALUE_FORMATS; empty if `using` implies it.
        options: Spark's reader options.
    """

    label: str
    using: str
    location: str
    value_format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[SourceColumn, ...] = ()

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata columns of a row: name -> type."""
        return _metadata(self.using)

    @property
    def topics(self) -> tuple[str, ...]:
        return _topics(self.location)


def _metadata(using: str) -> Mapping[str, str]:
    return KAFKA_METADATA if using == KAFKA else FILE_METADATA


def describe(
    source: Mapping[str, Any], root: Path, type_of: Callable[[str], str], options: Mapping[str, Any] | None = None
) -> Description:
    """Read a source's description.

    Args:
        root: the project's folder, for a relative `location`.
        type_of: returns the Spark type for a `data_type` in the YAML; raises ValueError if it is invalid.
        options: reader options from the model, which override the source's.

    Raises:
        DbtRuntimeError: every problem, in one message.
    """
    label = f"{source['source_name']}.{source['name']}"
    external = {key: value for key, value in source["external"].items() if value is not None}
    using: Any = external.get("using")
    problems = [*_key_problems(external), *_location_problems(external), *_format_problems(external)]
    given = _options(external, options or {}, problems)
    columns = tuple(_columns(using, list((source.get("columns") or {}).values()), type_of, problems))
    if problems:
        listed = "".join(f"\n  - {problem}" for problem in problems)
        raise DbtRuntimeError(f"source '{label}' cannot be streamed as its YAML describes it:{listed}")
    written = str(external["location"])
    location = ",".join(_topics(written)) if using == KAFKA else _folder(written, root)
    value_format = str(external.get("value_format", JSON)) if using in _WITH_VALUE_FORMAT else ""
    texts = {name: option_text(value) for name, value in given.items()}
    return Description(label, using, location, value_format, texts, columns)


def with_defaults(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The options, and defaults for those that are not set; Spark's option names are case-insensitive."""
    given = {name.lower() for name in options}
    return {**{name: value for name, value in defaults.items() if name.lower() not in given}, **options}


def _key_problems(external: Mapping[str, Any]) -> Iterator[str]:
    for key in external:
        if key not in _KEYS:
            yield f"external.{key}: not a key of a streamed source; {_suggestion(key, _KEYS)}"
    using = external.get("using")
    if using is None:
        yield f"external.using: missing; use one of {', '.join(KINDS)}"
    elif using not in KINDS:
        yield f"external.using: {using!r} is not one of {', '.join(KINDS)}; {_suggestion(str(using), KINDS)}"


def _location_problems(external: Mapping[str, Any]) -> Iterator[str]:
    location, using = external.get("location"), external.get("using")
    what = "the topic (or several, separated by commas)" if using == KAFKA else "the folder"
    if not isinstance(location, str) or not location.strip():
        yield f"external.location: missing; write {what}"
    elif using == KAFKA:
        for topic in _topics(location):
            if not _TOPIC.fullmatch(topic):
                yield (
                    f"external.location: {topic!r} is not the name of a topic (letters, digits, '.', '_' and "
                    "'-'); brokers belong in kafka_options of the profile"
                )


def _format_problems(external: Mapping[str, Any]) -> Iterator[str]:
    value_format, using = external.get("value_format"), external.get("using")
    if value_format is None:
        return
    if using in KINDS and using not in _WITH_VALUE_FORMAT:
        yield f"external.value_format: {using} has no value_format; remove it"
    elif value_format not in VALUE_FORMATS:
        yield (
            f"external.value_format: {value_format!r} is not one of {', '.join(VALUE_FORMATS)}; "
            f"{_suggestion(str(value_format), VALUE_FORMATS)}"
        )


def _options(external: Mapping[str, Any], overrides: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    own = external.get("options", {})
    if not isinstance(own, Mapping):
        problems.append("external.options: must be a mapping of Spark's options to values; write {name: value}")
        own = {}
    given = with_defaults(overrides, {str(name): value for name, value in own.items()})
    problems.extend(_option_problems(external.get("using"), given))
    return given


def _option_problems(using: Any, options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, (Mapping, list)) or value is None:
            yield f"external.options.{name}: must be text, a number or a boolean; write JSON in quotes"
        # A URL is not a secret, even if its option is named "…token….url".
        elif using == KAFKA and not name.endswith(".url") and secrets_of([(name, option_text(value))]):
            yield (
                f"external.options.{name}: manifest.json contains it, so it must not be a secret; move it to "
                "kafka_options of the target in profiles.yml"
            )
        if problem := _option_name_problem(using, name):
            yield f"external.options.{name}: {problem}"


def _option_name_problem(using: Any, name: str) -> str:
    small, known = name.lower(), _KIND_OPTIONS.get(str(using), ())
    if not known or (using == KAFKA and name.startswith("kafka.")) or small in {option.lower() for option in known}:
        return ""
    if small in _OWN_OPTIONS:
        return "set by the adapter itself; remove it"
    if using == JSON and small == "multiline":
        return "a file must have one JSON object per line"
    meant = (*known, "kafka.bootstrap.servers") if using == KAFKA else known
    return f"not an option of Spark's {using} reader; {_suggestion(name, meant)}"


def _columns(
    using: Any, described: Sequence[Mapping[str, Any]], type_of: Callable[[str], str], problems: list[str]
) -> Iterator[SourceColumn]:
    if using == PARQUET and not any(column.get("data_type") for column in described):
        return
    if not described and using in KINDS:
        problems.append("columns: missing; list the name and data_type of each column")
    seen: dict[str, str] = {}
    for column in described:
        name = str(column["name"])
        if name.lower() in seen:
            problems.append(f"columns: {seen[name.lower()]} and {name} are the same name to Spark; remove one")
        seen[name.lower()] = name
        if name.lower() in _metadata(using):
            problems.append(f"columns: {name}: rows already have a metadata column of this name; remove it")
        text, problem = _checked_type(column.get("data_type"), using, type_of)
        if problem:
            problems.append(f"columns: {name}: {problem}")
        else:
            yield SourceColumn(name, text, not _is_not_null(column))


def _checked_type(data_type: Any, using: Any, type_of: Callable[[str], str]) -> tuple[str, str]:
    """The Spark type of a `data_type`, and a problem with it or ''."""
    if not data_type:
        return "", "data_type is missing; write a Spark type such as string or bigint"
    written, text = str(data_type), ""
    with suppress(ValueError):
        text = type_of(written)
    if not _TYPE.fullmatch(text):
        meant = _FOREIGN_TYPES.get(written.lower().partition("(")[0].strip(), "")
        hint = f"; did you mean {meant}?" if meant else "; write one such as string, bigint or decimal(10,2)"
        return text, f"{written!r} is not a data type that messages can have{hint}"
    return text, _nested_type_problem(written, text, using) if "<" in text else ""


def _nested_type_problem(written: str, text: str, using: Any) -> str:
    if using == CSV:
        return f"a CSV file cannot hold {text}; write string, and parse it in the model"
    if unfit := [found["found"] for found in _NO_TYPE_OF_JSON.finditer(text) if found["found"]]:
        return f"{unfit[0]} within {written!r} is not a data type that messages can have; write string"
    keys = [found["key"] for found in _MAP_KEY.finditer(text) if found["key"]]
    if keys and using != PARQUET:
        return f"JSON keys are strings, but {written!r} has {keys[0]} keys; write map<string,…>"
    return ""


def _is_not_null(column: Mapping[str, Any]) -> bool:
    # Constraints are dbt's own objects, or dictionaries from the manifest.
    kinds = (
        constraint.get("type") if isinstance(constraint, Mapping) else constraint.type
        for constraint in column.get("constraints") or ()
    )
    return any(str(getattr(kind, "value", kind)) in ("not_null", "primary_key") for kind in kinds)


def _topics(location: str) -> tuple[str, ...]:
    return tuple(topic.strip() for topic in location.split(",") if topic.strip())


def _folder(location: str, root: Path) -> str:
    if location_scheme(location) != "file" or location.startswith("file:/"):
        return location
    return str(root / Path(location.removeprefix("file:")).expanduser())


def _suggestion(name: str, known: Sequence[str]) -> str:
    near = suggestion(name, known, cutoff=0.6)
    return f"did you mean {near}?" if near else f"use one of {', '.join(sorted(known))}"
