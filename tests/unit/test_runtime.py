"""The runtime of a target: each part is created once, and only when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities.version_numbers import USUAL_SPARK
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.profile_checks import STATIC_CONF
from dbt.adapters.paimon.spark.runtime import Runtime


def runtime(**target: Any) -> Runtime:
    return Runtime(PaimonCredentials.from_dict({"schema": "s", "warehouse": "/lake", **target}))


@pytest.mark.parametrize("part", ["versions", "storages", "jars", "conf", "session_conf", "java"])
def test_a_part_is_created_once(part: str) -> None:
    one = runtime()
    assert getattr(one, part) is getattr(one, part)


def test_parsing_needs_no_jar(tmp_path: Path) -> None:
    missing = runtime(jars=[str(tmp_path / "paimon-spark-3.5-1.4.2.jar")])
    assert str(missing.versions.paimon) == missing.paimon == "1.4.2"
    assert missing.view_catalog == "spark_catalog"
    with pytest.raises(DbtRuntimeError, match="does not exist"):
        _ = missing.conf


def test_a_catalog_of_catalogs_yml_is_in_the_conf() -> None:
    one = runtime()
    other = runtime(catalog="far", warehouse="/far").credentials.spark_catalog
    one.credentials.integrations["far"] = other
    assert one.conf["spark.sql.catalog.far.warehouse"] == "/far"


@pytest.mark.parametrize("method", ["connect", "thrift"])
def test_a_server_gets_only_settings_of_its_sessions(method: str) -> None:
    conf = runtime(method=method, host="h").conf
    assert conf["spark.sql.catalog.paimon.warehouse"] == "/lake"
    assert [key for key in conf if not key.startswith("spark.sql.") or key in STATIC_CONF] == []


def test_thrift_needs_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> str:
        raise installation.PackageNotFoundError(name)

    monkeypatch.setattr(installation, "version", not_installed)
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)
    assert runtime(method="thrift", host="h").spark == USUAL_SPARK
    with pytest.raises(DbtRuntimeError, match="needs PySpark"):
        _ = runtime().versions


def test_a_warm_server_and_its_clients_agree() -> None:
    embedded, warm = runtime(), runtime(method="connect")
    assert any(package.startswith("org.apache.spark:spark-connect") for package in warm.jars.packages)
    assert warm.session_conf == embedded.session_conf
