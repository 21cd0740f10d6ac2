"""The default Paimon version of a target, from local repositories and from servers that may not answer."""

from __future__ import annotations

import base64
import runpy
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.behavior_flags import Behavior
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import behavior_flags
from dbt.adapters.paimon.capabilities import artifacts, version_numbers
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.warnings import OnceARun
from dbt.adapters.paimon.flag_warnings import ChangingDefaults
from dbt.adapters.paimon.spark.launch import default_version, maven, packages
from dbt.adapters.paimon.spark.launch.default_version import ASSUMED, MARK

SPARK = "3.5.7"
NEWEST = artifacts.tested(SPARK)[0]
OLDEST = "0.9.0"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without downloads; its Maven Central is a folder with only the oldest Paimon."""
    for name, value in (("HOME", tmp_path), ("XDG_CACHE_HOME", tmp_path / "cache")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv(packages.JARS_VARIABLE, raising=False)
    central = tmp_path / "central"
    publish(central, OLDEST)
    monkeypatch.setenv(maven.CENTRAL_VARIABLE, central.as_uri())
    default_version._CHOSEN.clear()
    return tmp_path


def publish(repository: Path, version: str) -> None:
    """Put a connector into a Maven repository."""
    group, artifact, version = artifacts.connector_artifact(SPARK, version).split(":")
    folder = repository / group.replace(".", "/") / artifact / version
    folder.mkdir(parents=True)
    (folder / f"{artifact}-{version}.jar").write_text("classes")


def target(folder: Path, **profile: Any) -> PaimonCredentials:
    return PaimonCredentials.from_dict({"schema": "s", "warehouse": str(folder / "lake"), **profile})


def version_of(credentials: PaimonCredentials) -> str:
    """The version that a new process would choose."""
    default_version._CHOSEN.clear()
    plan = packages.plan_packages(credentials, credentials.storages(), SPARK)
    assert plan.paimon_version == packages.effective_paimon_version(credentials, SPARK)
    return plan.paimon_version


@pytest.fixture
def served(machine: Path) -> Iterator[str]:
    """The address of a server for the folder `served`, which has no connector yet."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(machine / "served"))
    yield from serve(handler)


class Silent(BaseHTTPRequestHandler):
    """A server that takes requests and does not answer in time."""

    def do_HEAD(self) -> None:
        time.sleep(3)


@pytest.fixture
def silent() -> Iterator[str]:
    yield from serve(Silent)


class Guarded(BaseHTTPRequestHandler):
    """A server that has every file, but requires a password."""

    def do_HEAD(self) -> None:
        login = base64.b64encode(b"ann:hunter2").decode()
        known = self.headers["Authorization"] == f"Basic {login}"
        self.send_response(200 if known else 401)
        self.end_headers()


def serve(handler: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_tested_versions_are_those_of_whole_runs() -> None:
    script = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "compatibility.py"))
    whole = script["whole_runs"]()
    for line in script["SPARKS"]:
        runs = {paimon for paimon, spark in whole if spark.startswith(f"{line}.")}
        newest_first = sorted(runs, key=version_numbers.parse_version, reverse=True)
        assert list(artifacts.tested(f"{line}.0")) == newest_first, f"write it in artifacts._TESTED: {line}"


def test_a_repository_with_the_oldest_alone(machine: Path) -> None:
    assert version_of(target(machine)) == OLDEST


def test_a_repository_with_a_newer_one(machine: Path) -> None:
    publish(machine / "mirror", NEWEST)
    credentials = target(machine, repositories=[(machine / "mirror").as_uri()])
    assert version_of(credentials) == NEWEST
    plan = packages.plan_packages(credentials, credentials.storages(), SPARK)
    assert plan.packages == (artifacts.connector_artifact(SPARK, NEWEST),)


def test_a_server_with_a_newer_version(machine: Path, served: str) -> None:
    publish(machine / "served", NEWEST)
    assert version_of(target(machine, repositories=[served])) == NEWEST


def test_a_server_that_asks_for_a_password(machine: Path) -> None:
    for address in serve(Guarded):
        assert version_of(target(machine / "a", repositories=[address])) == OLDEST
        known = address.replace("//", "//ann:hunter2@")
        assert version_of(target(machine / "b", repositories=[known])) == NEWEST


def test_repositories_of_spark_config(machine: Path) -> None:
    publish(machine / "mirror", NEWEST)
    mirror = (machine / "mirror").as_uri()
    config = {"spark.jars.repositories": f"{mirror}, file:/nowhere"}
    assert version_of(target(machine / "a", spark_config=config)) == NEWEST
    settings = machine / "ivysettings.xml"
    settings.write_text(f"<s><resolvers><ibiblio name='m' m2compatible='true' root='{mirror}/'/></resolvers></s>")
    assert version_of(target(machine / "b", spark_config={"spark.jars.ivySettings": str(settings)})) == NEWEST


@pytest.mark.parametrize("place", ["ivy", "m2"])
def test_a_newer_version_on_this_machine_needs_no_repository(machine: Path, place: str, silent: str) -> None:
    artifact = artifacts.connector_artifact(SPARK, NEWEST).split(":")[1]
    if place == "m2":
        publish(machine / ".m2" / "repository", NEWEST)
    else:
        jars = machine / ".ivy2" / "cache" / "org.apache.paimon" / artifact / "jars"
        jars.mkdir(parents=True)
        (jars / f"{artifact}-{NEWEST}.jar").write_text("classes")
    begun = time.monotonic()
    assert version_of(target(machine, repositories=[silent])) == NEWEST
    assert time.monotonic() - begun < maven.LONGEST_ANSWER


def test_a_choice_is_kept(machine: Path) -> None:
    mirror = machine / "mirror"
    before = target(machine, repositories=[mirror.as_uri()])
    assert version_of(before) == OLDEST
    publish(mirror, NEWEST)
    assert version_of(before) == OLDEST
    other = target(machine / "another", repositories=[mirror.as_uri()])
    assert version_of(other) == NEWEST


def test_a_choice_without_an_answer_is_not_kept(machine: Path, silent: str, served: str) -> None:
    begun = time.monotonic()
    assert version_of(target(machine, repositories=[silent])) == OLDEST
    assert time.monotonic() - begun < 2 * maven.LONGEST_ANSWER
    publish(machine / "served", NEWEST)
    assert version_of(target(machine, repositories=[served])) == NEWEST


def test_offline(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(maven.CENTRAL_VARIABLE, "https://127.0.0.1:9/maven2/")
    begun = time.monotonic()
    assert version_of(target(machine)) == OLDEST
    assert time.monotonic() - begun < maven.LONGEST_ANSWER


def test_one_answer_per_process(machine: Path) -> None:
    credentials = target(machine)
    first = default_version.of(credentials, SPARK)
    publish(machine / ".m2" / "repository", NEWEST)
    (note,) = (machine / "cache" / "dbt-paimon").glob("paimon-version-*")
    note.unlink()
    assert default_version.of(credentials, SPARK) is first


def test_a_note_that_others_may_write_is_not_read(machine: Path) -> None:
    version_of(target(machine))
    (note,) = (machine / "cache" / "dbt-paimon").glob("paimon-version-*")
    note.write_text("7.7.7\n")
    note.chmod(0o666)
    assert version_of(target(machine)) == OLDEST


def test_a_warehouse_that_a_newer_version_has_opened(machine: Path) -> None:
    assert version_of(target(machine)) == OLDEST
    mark = machine / "lake" / MARK
    mark.parent.mkdir(parents=True)
    mark.write_text("2.0.0\n")
    assert version_of(target(machine)) == "2.0.0"
    mark.write_text("no version")
    assert version_of(target(machine)) == OLDEST


def test_a_version_that_the_target_names_is_not_looked_up(machine: Path) -> None:
    publish(machine / ".m2" / "repository", NEWEST)
    connector = "org.apache.paimon:paimon-spark-3.5:1.3.1"
    named = [
        ({"paimon_version": OLDEST}, OLDEST),
        ({"packages": connector}, "1.3.1"),
        ({"jars": ["hdfs://h/paimon-spark-3.5-1.0.1.jar"]}, "1.0.1"),
    ]
    for profile, version in named:
        credentials = target(machine, **profile)
        assert packages.default_version(credentials, SPARK) is None
        assert packages.effective_paimon_version(credentials, SPARK) == version
    assert not (machine / "cache").exists()


@pytest.mark.parametrize(
    "profile",
    [{"jars": ["hdfs://h/some.jar"]}, {"method": "thrift", "host": "h"}, {"method": "connect", "host": "h"}],
)
def test_a_connector_whose_version_is_not_known(machine: Path, profile: dict[str, Any]) -> None:
    publish(machine / ".m2" / "repository", NEWEST)
    assert packages.default_version(target(machine, **profile), SPARK) is ASSUMED


def test_spark_4_1_has_no_0_9_0(machine: Path) -> None:
    plan = packages.plan_packages(target(machine), target(machine).storages(), "4.1.1")
    assert plan.packages == ("org.apache.paimon:paimon-spark-4.1_2.13:2.0.0",)


def test_the_flag_refuses_a_target_without_a_version(machine: Path) -> None:
    config = SimpleNamespace(target_name="dev", profile_name="shop")
    flags = Behavior(list(behavior_flags.FLAGS), {"require_paimon_version": True})
    defaults = ChangingDefaults(config, lambda: flags, OnceARun())
    with pytest.raises(
        DbtRuntimeError, match=r"'dev' of profile 'shop' has no paimon_version.*paimon_version: '0.9.0'"
    ):
        defaults.default_version(default_version.of(target(machine), SPARK))
