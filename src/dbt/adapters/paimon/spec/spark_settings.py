"""`spark_config` of a node: Spark settings for this node's statements only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from packaging.version import Version

from dbt.adapters.paimon.catalogs.catalog import option_text
from dbt.adapters.paimon.options import table_options
from dbt.adapters.paimon.profile_checks import ESCAPED_LITERALS, STATIC_CONF, TIMESTAMP_TYPE
from dbt.adapters.paimon.spark.catalog_conf import V2_WRITE, V2_WRITE_FAILS
from dbt.adapters.paimon.spec.problems import Problems

KEY: Final = "spark_config"
_PAIMON: Final = "spark.paimon."
_FIXED: Final = (
    "is fixed when Spark starts. Put it under spark_config in the profile, or into the server's configuration"
)
# Families of settings that Spark reads only at startup; a session silently ignores many of them.
# Source: the page "Configuration" of Spark 3.5 and the pages of its cluster managers.
_FIXED_FAMILIES: Final = frozenset(
    "acls admin app appStateStore archives authenticate barrier blacklist blockManager broadcast buffer checkpoint "
    "cleaner closure connect cores default deploy driver dynamicAllocation eventLog excludeOnFailure executor "
    "executorEnv extraListeners files hadoop history io jars kerberos kryo kryoserializer kubernetes launcher local "
    "locality log logConf master maxRemoteBlockSizeFetchToMem memory mesos metrics modify network plugins port pyspark "
    "python r rdd redaction reducer repl resources rpc scheduler security serializer shuffle speculation ssl stage "
    "standalone storage submit task taskMetrics ui unsafe user worker yarn".split()
)
_OWN: Final = "dbt-paimon sets it for each statement"
# Settings on which this adapter's own statements depend -> 'reason. Remedy'.
_RELIED_ON: Final[Mapping[str, str]] = {
    "spark.sql.defaultCatalog": "each name in dbt's SQL includes its catalog. Use `database` or `catalog_name`",
    "spark.sql.caseSensitive": "it must be the same for all nodes of a run. Put it under spark_config in the profile",
    "spark.sql.sources.partitionOverwriteMode": (
        f"{_OWN}. Use incremental_strategy='insert_overwrite' to replace single partitions"
    ),
    "spark.paimon.commit.user-prefix": f"{_OWN}, and finds its commits by it. Remove it",
    "spark.paimon.branch": "a branch is written by wap=true, and read with at(ref('…'), branch=…). Remove it",
    "spark.sql.datetime.java8API.enabled": (
        "without it Paimon stores dates before October 1582 some days off. Remove it"
    ),
    V2_WRITE: f"{V2_WRITE_FAILS}. Remove it",
    TIMESTAMP_TYPE: (
        "in dbt-paimon's own statements `timestamp` has a time zone. "
        "Remove it, and write `timestamp_ntz` where a time has none"
    ),
    ESCAPED_LITERALS: "values in dbt-paimon's own statements are escaped. Remove it",
    "spark.sql.parser.quotedRegexColumnNames": "names in dbt-paimon's own statements are quoted. Remove it",
}


def settings_of(name: str, given: Any, version: Version | str) -> dict[str, str]:
    """The settings in a node's `spark_config`, checked without Spark; raises ConfigErrors with all invalid ones."""
    if given is None:
        return {}
    problems = Problems(name)
    if not isinstance(given, Mapping):
        problems.add(KEY, given, "must be a mapping. Write it as in {'spark.sql.shuffle.partitions': 400}")
        given = {}
    for key, value in given.items():
        if reason := _fault(key, value, version):
            problems.add(f"{KEY}: {key}", value, reason)
    problems.raise_if_any()
    return {key: option_text(value) for key, value in given.items()}


def _fault(key: Any, value: Any, version: Version | str) -> str | None:
    """Why a node cannot use a setting, as 'reason. Remedy'; None if it can."""
    if not isinstance(key, str) or not key.startswith("spark."):
        return "Spark's settings begin with `spark.`. Write the full name"
    if isinstance(value, (Mapping, list, tuple)) or value is None:
        return "must be text, a number or a boolean. Remove it to keep the session's value"
    if key in _RELIED_ON:
        return _RELIED_ON[key]
    if key.startswith("spark.sql.catalog."):
        return "catalogs are set up with the session. Put it under spark_config or catalog_options in the profile"
    if key in STATIC_CONF or key.split(".")[1] in _FIXED_FAMILIES:
        return _FIXED
    if key.startswith(_PAIMON) and table_options.is_immutable(key.removeprefix(_PAIMON), version):
        return "it is fixed when a table is created. Set it in the config of the model that writes the table"
    return None


def to_look_up(settings: Iterable[str]) -> list[str]:
    """The settings whose names Spark can check: those of Spark SQL."""
    return [key for key in settings if key.startswith("spark.sql.")]


def misspelt(name: str, keys: Iterable[str], known: Iterable[str]) -> None:
    """Raise ConfigErrors for unknown settings that look misspelt; others may belong to an extension of Spark."""
    problems = Problems(name)
    names = list(known)
    for key in keys:
        meant = table_options.suggestion(key, names, cutoff=0.9)
        if meant is not None and meant != key:
            problems.add(f"{KEY}: {key}", None, f"Spark has no such setting. Did you mean {meant}?")
    problems.raise_if_any()


def refused(name: str, settings: Mapping[str, str], reason: str) -> str:
    """The message for settings that Spark refuses with the error `reason`."""
    if "CANNOT_MODIFY" in reason or "Cannot modify" in reason:
        fixed = next((key for key in settings if key in reason), "")
        return f"model '{name}': {KEY}: {fixed}: {_FIXED}."
    return f"model '{name}': {KEY}: {reason}"
