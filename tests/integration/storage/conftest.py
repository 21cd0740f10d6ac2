"""A warehouse on each storage: its keys in a profile target, and its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from integration.services.hdfs import Hdfs
from integration.services.oss import Oss
from integration.services.s3 import S3


@dataclass(frozen=True)
class Warehouse:
    """Attributes: target (profile keys of the storage), files (function: all files below a folder of the warehouse)."""

    target: dict[str, Any]
    files: Callable[[str], list[str]]


def on_s3(store: S3, folder: str, **target: Any) -> Warehouse:
    """A warehouse in a folder of the bucket; the profile has the access keys unless `target` overrides them."""
    return Warehouse(
        {"warehouse": f"s3://{store.bucket}/{folder}", "catalog_options": store.catalog_options(), **target},
        lambda path: [key.removeprefix(f"{folder}/") for key in store.keys(f"{folder}/{path}")],
    )


def on_oss(store: Oss, folder: str) -> Warehouse:
    """A warehouse in a folder of the bucket, with the access keys in the profile."""
    return Warehouse(
        {"warehouse": f"oss://{store.bucket}/{folder}", "catalog_options": store.catalog_options()},
        lambda path: [key.removeprefix(f"{folder}/") for key in store.keys(f"{folder}/{path}")],
    )


def on_hdfs(service: Hdfs, folder: str) -> Warehouse:
    """A warehouse in a folder of HDFS."""
    return Warehouse(
        {"warehouse": f"{service.address}/{folder}"},
        lambda path: [name.removeprefix(f"/{folder}/") for name in service.files(f"/{folder}/{path}".rstrip("/"))],
    )


@pytest.fixture(scope="class", params=["s3", "hdfs", "oss"])
def storage(request: pytest.FixtureRequest) -> Warehouse:
    """Each storage in turn."""
    if request.param == "s3":
        return on_s3(request.getfixturevalue("object_store"), "lake")
    if request.param == "oss":
        return on_oss(request.getfixturevalue("aliyun"), "lake")
    return on_hdfs(request.getfixturevalue("hadoop"), "lake")


@pytest.fixture(scope="class")
def dbt_profile_target(storage: Warehouse, spark_config: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "threads": 2,
        "spark_config": spark_config,
        **storage.target,
    }
