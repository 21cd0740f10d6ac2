"""Checks the keys of a target: names, values, and contradictions between them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from packaging.version import InvalidVersion, Version

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION, OLDEST_PAIMON, RELEASES
from dbt.adapters.paimon.catalogs.catalog import (
    METASTORES,
    SESSION_CATALOG,
    THRIFT_URI,
    location_scheme,
    option_text,
    split_list,
)
from dbt.adapters.paimon.connection_methods import METHODS_OF, PaimonConnectionMethod
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.options.read_options import read_fault

# What `timestamp` means in a statement: a moment (TIMESTAMP_LTZ), or a wall-clock time (TIMESTAMP_NTZ).
TIMESTAMP_TYPE = "spark.sql.timestampType"
ESCAPED_LITERALS = "spark.sql.parser.escapedStringLiterals"
# Spark SQL settings that are fixed when Spark starts; a session cannot have its own.
# Source: SQLConf.staticConfKeys of Spark 3.5.
STATIC_CONF = frozenset(
    f"spark.sql.{name}"
    for name in (
        "broadcastExchange.maxThreadThreshold cache.serializer catalog.spark_catalog.defaultDatabase "
        "catalogImplementation codegen.cache.maxEntries codegen.comments debug defaultUrlStreamHandlerFactory.enabled "
        "event.truncate.length extensions filesourceTableRelationCacheSize globalTempDatabase "
        "hive.thriftServer.singleSession legacy.sessionInitWithConfigDefaults metadataCacheTTLSeconds "
        "queryExecutionListeners sources.disabledJdbcConnProviderList sources.schemaStringLengthThreshold "
        "streaming.streamingQueryListeners streaming.ui.enabled streaming.ui.enabledCustomMetricList "
        "streaming.ui.retainedProgressUpdates streaming.ui.retainedQueries subquery.maxThreadThreshold "
        "ui.retainedExecutions warehouse.dir"
    ).split()
)

# How a clone is made; the first is the default.
CLONE_BY = ("copy", "branch")
# PyHive's values, named after hive.server2.authentication.
AUTHS = ("NONE", "NOSASL", "LDAP", "CUSTOM", "KERBEROS")
# dbt's own keys, which only some commands pass to the credentials.
_DBT_KEYS = frozenset({"type", "threads", "name", "target_name", "profile_name"})
# Keys of dbt-spark's profiles that users bring along, with their equivalents.
_FOREIGN_KEYS = {
    "server_side_parameters": "write them under spark_config",
    "spark_master": "write it under spark_config as spark.master",
    "master": "write it under spark_config as spark.master",
    "location_root": "tables live in the catalog's warehouse: set warehouse",
}
_CATALOG_NAME = re.compile(r"^\w+$", re.ASCII)
# What the `uri` of a metastore is, how it begins, and an example.
_URIS = {
    "hive": ("an address of a metastore", THRIFT_URI, "thrift://host:9083"),
    "jdbc": ("a JDBC URL", re.compile(r"^jdbc:\w+:\S", re.ASCII), "jdbc:postgresql://host/db"),
    "rest": ("the URL of a REST catalog", re.compile(r"^https?://[^\s/]", re.IGNORECASE), "http://host:8080"),
}
_COORDINATES = re.compile(r"^[\w.-]+:[\w.-]+:[\w.-]+$", re.ASCII)
_METHODS = tuple(map(str, PaimonConnectionMethod))


def profile_problems(data: Any, keys: Collection[str]) -> list[str]:
    """Everything that is wrong with a target after `PaimonCredentials.translate_aliases`, each with the remedy.

    `keys` are the known keys.
    """
    if not isinstance(data, Mapping):
        return [f"a target is a mapping of keys to values, not {_kind(data)}"]
    given = {key: value for key, value in data.items() if value is not None and key not in _DBT_KEYS}
    unknown = [_unknown_key(str(key), keys) for key in given if key not in keys]
    checks = (_value_problems, _default_problems, _name_problems, _server_problems, _storage_problems)
    return [*unknown, *(problem for check in checks for problem in check(given))]


def _unknown_key(key: str, keys: Collection[str]) -> str:
    if key in _FOREIGN_KEYS:
        return f"{key}: not a key of a paimon profile; {_FOREIGN_KEYS[key]}"
    if key.startswith("spark."):
        return f"{key}: not a key of a paimon profile; Spark's settings go under spark_config"
    known = sorted({*keys, "threads"})
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(known)}"
    return f"{key}: not a key of a paimon profile; {hint}"


def _value_problems(given: Mapping[str, Any]) -> Iterable[str]:
    for key, check in _CHECKS.items():
        if key in given:
            yield from (f"{key}: {problem}" for problem in check(given[key]))


def _default_problems(given: Mapping[str, Any]) -> Iterable[str]:
    """Refuses read options among `table-default.*`, which every new table would get."""
    options = given.get("catalog_options")
    for name, value in options.items() if isinstance(options, Mapping) else ():
        fault = read_fault(str(name).removeprefix("table-default."), option_text(value))
        if fault and str(name).startswith("table-default."):
            yield f"catalog_options: {name}: {fault}"


def _name_problems(given: Mapping[str, Any]) -> Iterable[str]:
    catalog, database, schema = (given.get(key) for key in ("catalog", "database", "schema"))
    if catalog is not None and database is not None and database not in (catalog, schema):
        yield (
            f"catalog ({catalog}), database ({database}) and schema ({schema}) contradict one another: `catalog` is "
            "the Spark catalog, `schema` is Paimon's database; leave `database` out"
        )
    if schema is None:
        yield "schema: missing; name the Paimon database that models are built in"
    if given.get("view_catalog") is not None and given.get("view_catalog") == (catalog or database):
        yield "view_catalog: the same as catalog; leave it out if the Paimon catalog stores views itself"


def _server_problems(given: Mapping[str, Any]) -> Iterable[str]:
    method = given.get("method", "session")
    if method in _METHODS:
        yield from _method_problems(given, method)
    yield from _login_problems(given)
    if "host" in given and method in ("connect", "thrift"):
        yield from _settings_of_a_server(given)


def _method_problems(given: Mapping[str, Any], method: str) -> Iterable[str]:
    for key, methods in METHODS_OF.items():
        if key in given and method not in methods:
            hint = ", or name a cluster in spark_config as spark.master" if key == "host" else ""
            where = " or ".join(methods)
            yield f"{key}: method {method} does not use it; set method to {where}, or remove {key}{hint}"
    if method == "thrift" and "host" not in given:
        yield "host: missing; name the machine of the Thrift server"
    if method == "connect" and "host" not in given and "port" in given:
        yield (
            "port: without host, the target uses the server of `dbt-paimon server`, which chooses its own port; "
            "add host, or leave port out"
        )


def _login_problems(given: Mapping[str, Any]) -> Iterable[str]:
    auth = given.get("auth", "NONE")
    if auth in ("LDAP", "CUSTOM") and "password" not in given:
        yield f"password: missing; auth {auth} requires one"
    if auth == "KERBEROS" and "kerberos_service_name" not in given:
        yield "kerberos_service_name: missing; auth KERBEROS requires it"


def _settings_of_a_server(given: Mapping[str, Any]) -> Iterable[str]:
    if given.get("s3_lock") is True:
        yield "s3_lock: a run cannot lock for a server, which may go on writing when the run has ended; leave it out"
    for key in ("jars", "packages", "repositories"):
        if given.get(key):
            yield f"{key}: a server gets its jars when it starts; leave it out here"
    config = given.get("spark_config")
    names = config if isinstance(config, Mapping) else {}
    fixed = [str(name) for name in names if not str(name).startswith("spark.sql.") or name in STATIC_CONF]
    if fixed:
        yield f"spark_config: {', '.join(fixed)}: fixed when a server starts; set it there, and leave it out here"


def _storage_problems(given: Mapping[str, Any]) -> Iterable[str]:
    if "host" in given and not {"warehouse", "uri"} & given.keys():
        # The server defines the catalog.
        return
    metastore = given.get("metastore", "filesystem")
    if metastore in ("filesystem", "jdbc") and "warehouse" not in given:
        yield f"warehouse: missing; a {metastore} catalog needs the path its tables live under"
    yield from (f"uri: {problem}" for problem in _uri_problems(given.get("uri"), metastore))
    if (given.get("catalog") or given.get("database")) == SESSION_CATALOG and metastore != "hive":
        yield (
            "catalog: spark_catalog is Spark's own, which keeps its tables in a Hive metastore: set metastore to hive "
            "and uri to its address, or give Paimon's catalog another name, such as paimon"
        )


def _uri_problems(uri: Any, metastore: Any) -> Iterable[str]:
    if metastore == "filesystem" and uri is not None:
        yield "a filesystem catalog has none; set metastore to hive, jdbc or rest, or leave uri out"
    if metastore not in _URIS:
        return
    what, pattern, example = _URIS[metastore]
    if uri is None:
        yield f"missing; a {metastore} catalog needs its address, such as {example}"
    elif isinstance(uri, str):
        for address in split_list(uri) if metastore == "hive" else [uri]:
            if not pattern.match(address):
                yield f"{redact_text(address)!r} is not {what}, such as {example}"


def _text(value: Any) -> Iterable[str]:
    if not isinstance(value, str):
        yield f"must be text, not {_kind(value)}"
    elif not value.strip():
        yield "must not be empty"


def _port(value: Any) -> Iterable[str]:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 65536:
        yield f"{value!r} is not a port; write a number from 1 to 65535"


def _seconds(value: Any) -> Iterable[str]:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        yield f"{value!r} is not a duration; write a whole number of seconds, 1 or more"


def _boolean(value: Any) -> Iterable[str]:
    if not isinstance(value, bool):
        yield f"must be true or false, not {_kind(value)}"


def _catalog_name(value: Any) -> Iterable[str]:
    yield from _text(value)
    if isinstance(value, str) and value.strip() and not _CATALOG_NAME.match(value):
        yield f"{value!r} is not a catalog name; use letters, digits and underscores"


def _schema_name(value: Any) -> Iterable[str]:
    yield from _text(value)
    if isinstance(value, str) and value.strip():
        if re.search(r"[\s./`\\]", value):
            yield f"{value!r} is not a schema name; use one name without dots, slashes, quotes or spaces"
        elif value == "sys":
            yield "sys is Paimon's own schema; choose another name"


def _one_of(*allowed: str) -> Callable[[Any], Iterable[str]]:
    def check(value: Any) -> Iterable[str]:
        if value not in allowed:
            close = difflib.get_close_matches(str(value), allowed, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            yield f"{redact_text(str(value))!r} is not one of {', '.join(allowed)}{hint}"

    return check


def _version(value: Any) -> Iterable[str]:
    known = ", ".join(RELEASES)
    try:
        version = Version(str(value).replace("-SNAPSHOT", ".dev0"))
    except InvalidVersion:
        yield f"{str(value)!r} is not a version; write it in full and in quotes, one of {known}"
        return
    if not isinstance(value, str):
        # YAML reads 1.10 as the number 1.1, so the version must be quoted text.
        yield f"must be text; write it in full and in quotes, such as {DEFAULT_PAIMON_VERSION!r}"
    elif version < OLDEST_PAIMON:
        yield f"{value!r} is too old; the oldest supported is {OLDEST_PAIMON}, write one of {known}"
    elif len(version.release) < 3 and not version.is_devrelease:
        yield f"{value!r} is a release line; write a full version, one of {known}"


def _options(value: Any) -> Iterable[str]:
    if not isinstance(value, Mapping):
        yield f"must be a mapping of options to values, not {_kind(value)}"
        return
    for name, setting in value.items():
        if not isinstance(name, str):
            yield f"{name}: option names must be text"
        if isinstance(setting, (Mapping, list)) or setting is None:
            yield f"{name}: must be text, a number or a boolean, not {_kind(setting)}"


# Settings that make rows wrong -> the wrong value ('' for any), and a text with the effect and the remedy.
_WRONG_ROWS: Final[Mapping[str, tuple[str, str]]] = {
    ESCAPED_LITERALS: (
        "true",
        "backslashes and quotes in dbt-paimon's own statements would become part of the values; remove it, and write "
        "regular expressions as raw literals, as in r'\\d+'",
    ),
    "spark.sql.datetime.java8API.enabled": (
        "false",
        "Paimon would store dates before October 1582 some days off; remove it",
    ),
    "spark.sql.parser.quotedRegexColumnNames": (
        "true",
        "quoted names in dbt-paimon's own statements would become regular expressions; remove it",
    ),
    "spark.paimon.branch": (
        "",
        "a run would read and write this branch of each table; remove it, and use wap or at(…, branch=…)",
    ),
}


def _spark_config(value: Any) -> Iterable[str]:
    yield from _options(value)
    if isinstance(value, Mapping):
        if str(value.get(TIMESTAMP_TYPE, "TIMESTAMP_LTZ")).upper() != "TIMESTAMP_LTZ":
            yield (
                f"{TIMESTAMP_TYPE}: a column that is `timestamp` in a query would lose its time zone in the table; "
                "write `timestamp_ntz` for times without a time zone"
            )
        for name, (wrong, why) in _WRONG_ROWS.items():
            if name in value and (not wrong or str(value[name]).lower() == wrong):
                yield f"{name}: {why}"
        for name in value:
            if isinstance(name, str) and not name.startswith("spark."):
                hint = f"; did you mean spark.hadoop.{name}?" if name.startswith("fs.") else ""
                yield f"{name}: Spark's settings begin with `spark.`{hint}"


def _kafka_options(value: Any) -> Iterable[str]:
    yield from _options(value)
    if isinstance(value, Mapping):
        for name in value:
            if isinstance(name, str) and not name.startswith("kafka."):
                yield f"{name}: Kafka's settings begin with `kafka.` here; did you mean kafka.{name}?"


def _names(what: str, check: Callable[[str], str | None] = lambda _: None) -> Callable[[Any], Iterable[str]]:
    def problems(value: Any) -> Iterable[str]:
        if isinstance(value, str):
            value = split_list(value)
        if not isinstance(value, (list, tuple)):
            yield f"must be a list of {what}, not {_kind(value)}"
            return
        for item in value:
            if not isinstance(item, str) or not item.strip():
                yield f"{item!r} is not a name; write a list of {what}"
            elif problem := check(item.strip()):
                yield problem

    return problems


def _jar_problem(jar: str) -> str | None:
    if _COORDINATES.match(jar):
        return f"{jar!r} is a Maven coordinate, not a path; write it under packages"
    if location_scheme(jar) in ("http", "https"):
        return f"{redact_text(jar)!r} is not a local path; download it, or name it under packages"
    return None


def _package_problem(package: str) -> str | None:
    if _COORDINATES.match(package):
        return None
    return f"{package!r} is not a Maven coordinate; write group:artifact:version"


_CHECKS: dict[str, Callable[[Any], Iterable[str]]] = {
    "method": _one_of(*_METHODS),
    "catalog": _catalog_name,
    "schema": _schema_name,
    "host": _text,
    "port": _port,
    "user": _text,
    "password": _text,
    "token": _text,
    "auth": _one_of(*AUTHS),
    "kerberos_service_name": _text,
    "use_ssl": _boolean,
    "metastore": _one_of(*METASTORES),
    "warehouse": _text,
    "uri": _text,
    "catalog_options": _options,
    "view_catalog": _catalog_name,
    "kafka_options": _kafka_options,
    "spark_config": _spark_config,
    "paimon_version": _version,
    "jars": _names("paths", _jar_problem),
    "packages": _names("Maven coordinates", _package_problem),
    "repositories": _names("addresses"),
    "lock_timeout": _seconds,
    "s3_lock": _boolean,
    "stall_timeout": _seconds,
    "clone_by": _one_of(*CLONE_BY),
}


_KINDS: dict[type, str] = {
    type(None): "nothing",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)
