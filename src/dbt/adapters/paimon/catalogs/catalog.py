"""`SparkCatalog`: name, metastore, warehouse and options of a Paimon catalog."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbt.adapters.paimon.capabilities import Capability, Versions

SESSION_CATALOG = "spark_catalog"
METASTORES = ("filesystem", "hive", "jdbc", "rest")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):")
THRIFT_URI = re.compile(r"^thrift://(?P<host>[^\s/:]+|\[[^\]]+\]):(?P<port>\d{1,5})/?$")


@dataclass(frozen=True)
class SparkCatalog:
    """A Paimon catalog as configured in Spark; a local warehouse gets an absolute path."""

    name: str
    metastore: str
    warehouse: str | None
    uri: str | None
    options: Mapping[str, str]

    def __post_init__(self) -> None:
        # A REST catalog's warehouse is only a name.
        if self.warehouse is not None and self.metastore != "rest":
            object.__setattr__(self, "warehouse", absolute_location(self.warehouse))

    @property
    def sqlite_file(self) -> Path | None:
        """The SQLite file of a JDBC catalog; None for any other catalog."""
        if self.jdbc_protocol != "sqlite":
            return None
        path = (self.uri or "").removeprefix("jdbc:sqlite:").removeprefix("file:").partition("?")[0]
        return Path(_absolute(path)) if path and not path.startswith(":") else None

    @property
    def thrift_addresses(self) -> tuple[tuple[str, int], ...]:
        """Host and port of each server of a Hive metastore; empty for any other kind of catalog."""
        addresses = split_list(self.uri or "") if self.metastore == "hive" else ()
        found = (THRIFT_URI.match(address) for address in addresses)
        return tuple((match["host"].strip("[]"), int(match["port"])) for match in found if match)

    @property
    def scheme(self) -> str:
        """The scheme of the warehouse (`file`, `s3`, `oss`, `hdfs`…); '' if the warehouse is not a path."""
        if self.warehouse is None or self.metastore == "rest":
            return ""
        return location_scheme(self.warehouse)

    @property
    def is_session_catalog(self) -> bool:
        """Whether it is `spark_catalog`, which may also have tables of other formats."""
        return self.name == SESSION_CATALOG

    def stores_views(self, versions: Versions) -> bool:
        """Whether the catalog keeps views itself. Spark's session catalog does."""
        return self.is_session_catalog or replace(versions, catalog_kind=self.metastore).supports(Capability.VIEWS)

    @property
    def jdbc_protocol(self) -> str:
        """The database of a JDBC catalog (`sqlite`, `postgresql`…); '' for any other kind of catalog."""
        found = re.match(r"jdbc:(\w+):", self.uri or "") if self.metastore == "jdbc" else None
        return found[1].lower() if found else ""

    @property
    def local_folder(self) -> Path | None:
        """The warehouse as a path on this machine; None if it is not local."""
        if self.warehouse is None or self.scheme != "file":
            return None
        return Path(re.sub(r"^file:(//)?(?=/)", "", self.warehouse))


def option_text(value: Any) -> str:
    """A YAML value as a string for Spark and Paimon, with booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def split_list(text: str) -> list[str]:
    """The items of a comma-separated list, stripped and without empty ones."""
    return [item.strip() for item in text.split(",") if item.strip()]


def location_scheme(location: str) -> str:
    """The scheme of a path or URI in lower case; `file` for a path without one."""
    found = _SCHEME.match(location)
    return found[1].lower() if found else "file"


def absolute_location(location: str) -> str:
    """Make a local path absolute, with `~` expanded; a location of a different scheme is unchanged."""
    found = _SCHEME.match(location)
    if found is None:
        return _absolute(location)
    rest = location[found.end() :]
    if found[1].lower() == "file" and not rest.startswith("/"):
        return f"file:{_absolute(rest)}"
    return location


def _absolute(path: str) -> str:
    # Not Path.resolve: keep symbolic links, because the user knows the path with them.
    return os.path.normpath(Path(path).expanduser().absolute())
