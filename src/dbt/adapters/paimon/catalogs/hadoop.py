"""Hadoop settings for a warehouse: core-site.xml, and time limits of Hadoop's clients."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.object_stores import S3

# Limits for a name node that does not answer. Hadoop's defaults (CommonConfigurationKeysPublic, 3.3.4): 45 attempts to
# connect, with a timeout of 20 s each; 10 attempts if the connection is refused.
_HDFS_BOUNDS: Final[Mapping[str, str]] = {
    "spark.hadoop.ipc.client.connect.timeout": "5000",
    "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "2",
    "spark.hadoop.ipc.client.connect.max.retries": "5",
    "spark.hadoop.ipc.client.connect.retry.interval": "1000",
}
_S3A_BOUNDS: Final = {f"spark.hadoop.{S3.hadoop}{name}": value for name, value in S3.bounds.items()}


def bounds(scheme: str) -> Mapping[str, str]:
    """Spark settings that limit the retries of Hadoop's client, for warehouses of a scheme."""
    if scheme in ("hdfs", "viewfs", "webhdfs"):
        return _HDFS_BOUNDS
    return _S3A_BOUNDS if scheme == "s3a" else {}


@lru_cache(maxsize=4)
def core_site(folder: str | None) -> Mapping[str, str]:
    """The properties of the core-site.xml in a folder; empty without one. Raises DbtRuntimeError if it is invalid."""
    path = Path(folder) / "core-site.xml" if folder else None
    if path is None or not path.is_file():
        return {}
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 - the machine's own configuration
    except (OSError, ElementTree.ParseError) as exc:
        raise DbtRuntimeError(f"{path} cannot be read: {exc}. Correct it, or unset HADOOP_CONF_DIR.") from exc
    pairs = ((item.findtext("name"), item.findtext("value")) for item in root.iter("property"))
    return {name.strip(): value.strip() for name, value in pairs if name and value}
