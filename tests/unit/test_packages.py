"""Which jars go on Spark's class path."""

from __future__ import annotations

import fcntl
import os
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.launch import ivy_lock, packages
from dbt.adapters.paimon.spark.launch.connector_jars import connector_version_from_jars
from dbt.adapters.paimon.spark.launch.ivy_lock import ivy_lock_path, resolution_lock
from dbt.adapters.paimon.spark.launch.packages import effective_paimon_version
from dbt.adapters.paimon.spark.launch.start_failures import explain_resolution_failure

SPARK = "3.5.7"
CONNECTOR = "org.apache.paimon:paimon-spark-3.5:0.9.0"


def target(**profile: Any) -> PaimonCredentials:
    return PaimonCredentials.from_dict(
        {"schema": "flights", "warehouse": "/tmp/wh", "paimon_version": "0.9.0", **profile}
    )


@pytest.fixture(autouse=True)
def no_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(packages.JARS_VARIABLE, raising=False)


def plan_packages(
    credentials: PaimonCredentials, spark_version: str, environ: dict[str, str] | None = None
) -> packages.PackagePlan:
    with mock.patch.dict(os.environ, environ or {}):
        return packages.plan_packages(credentials, credentials.storages(), spark_version)


def make_jar(path: Path, artifact: str | None = None, version: str = "") -> str:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
        if artifact:
            # The connector also contains the POMs of its shaded dependencies.
            jar.writestr("META-INF/maven/org.apache.paimon/paimon-bundle/pom.properties", "version=9.9\n")
            jar.writestr(
                f"META-INF/maven/org.apache.paimon/{artifact}/pom.properties",
                f"artifactId={artifact}\ngroupId=org.apache.paimon\nversion={version}\n",
            )
    return str(path)


class TestPlan:
    def test_default(self) -> None:
        plan = plan_packages(target(), SPARK, {})
        assert (plan.jars, plan.packages, plan.repositories) == ((), (CONNECTOR,), ())
        assert plan.paimon_version == "0.9.0"

    @pytest.mark.parametrize(
        ("warehouse", "artifact"),
        [("s3://b/w", "paimon-s3"), ("s3a://b/w", "paimon-s3"), ("oss://b/w", "paimon-oss")],
    )
    def test_storage(self, warehouse: str, artifact: str) -> None:
        plan = plan_packages(target(warehouse=warehouse), SPARK, {})
        assert plan.packages == (CONNECTOR, f"org.apache.paimon:{artifact}:0.9.0")

    def test_kafka(self) -> None:
        options = {"kafka.bootstrap.servers": "host:9092"}
        reader = "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.7"
        assert plan_packages(target(kafka_options=options), SPARK, {}).packages == (CONNECTOR, reader)
        own = target(kafka_options=options, packages=[reader.replace("3.5.7", "3.5.6")])
        assert len(plan_packages(own, SPARK, {}).packages) == 2

    def test_storage_that_the_user_names(self) -> None:
        own = "org.apache.paimon:paimon-s3:1.4.2"
        assert plan_packages(target(warehouse="s3://b/w", packages=[own]), SPARK, {}).packages == (
            CONNECTOR,
            own,
        )

    def test_hdfs_needs_nothing(self) -> None:
        assert plan_packages(target(warehouse="hdfs://nn/w"), SPARK, {}).packages == (CONNECTOR,)

    @pytest.mark.parametrize(
        ("uri", "driver"),
        [
            ("jdbc:sqlite:/c.db", "org.xerial:sqlite-jdbc"),
            ("jdbc:postgresql://h/d", "org.postgresql:postgresql"),
            ("jdbc:mysql://h/d", "com.mysql:mysql-connector-j"),
            ("jdbc:mariadb://h/d", "org.mariadb.jdbc:mariadb-java-client"),
        ],
    )
    def test_driver_of_a_jdbc_catalog(self, uri: str, driver: str) -> None:
        plan = plan_packages(target(metastore="jdbc", uri=uri), SPARK, {})
        assert [package.rsplit(":", 1)[0] for package in plan.packages] == [
            CONNECTOR.rsplit(":", 1)[0],
            driver,
        ]

    def test_driver_that_the_user_names(self) -> None:
        jdbc = {"metastore": "jdbc", "uri": "jdbc:postgresql://h/d"}
        own = "org.postgresql:postgresql:42.2.0"
        assert plan_packages(target(**jdbc, packages=[own]), SPARK, {}).packages == (CONNECTOR, own)
        assert plan_packages(target(metastore="jdbc", uri="jdbc:oracle:x"), SPARK, {}).packages == (CONNECTOR,)

    def test_further_packages_and_repositories(self) -> None:
        plan = plan_packages(target(packages=["a:b:1"], repositories=["https://mirror"]), SPARK, {})
        assert plan.packages == (CONNECTOR, "a:b:1")
        assert plan.repositories == ("https://mirror",)

    def test_a_connector_among_the_packages(self) -> None:
        own = "org.apache.paimon:paimon-spark-3.5:1.1.1"
        plan = plan_packages(target(packages=[own]), SPARK, {})
        assert (plan.packages, plan.paimon_version) == ((own,), "1.1.1")

    def test_jars_download_nothing(self, tmp_path: Path) -> None:
        jar = make_jar(tmp_path / "paimon-spark-3.5-1.0.1.jar", "paimon-spark-3.5", "1.0.1")
        plan = plan_packages(target(jars=[jar]), SPARK, {})
        assert (plan.jars, plan.packages, plan.paimon_version) == ((jar,), (), "1.0.1")

    def test_jars_without_the_plug_in_of_the_storage(self, tmp_path: Path) -> None:
        jar = make_jar(tmp_path / "paimon-spark-3.5-1.0.1.jar", "paimon-spark-3.5", "1.0.1")
        with pytest.raises(DbtRuntimeError, match=r"plug-in for S3.*paimon-s3-1\.0\.1\.jar to `jars`"):
            plan_packages(target(jars=[jar], warehouse="s3://b/w"), SPARK, {})

    def test_the_plug_in_is_found_under_any_name(self, tmp_path: Path) -> None:
        jar = make_jar(tmp_path / "paimon-spark-3.5-1.0.1.jar", "paimon-spark-3.5", "1.0.1")
        named = make_jar(tmp_path / "paimon-s3-1.0.1.jar")
        renamed = str(tmp_path / "storage.jar")
        with zipfile.ZipFile(renamed, "w") as archive:
            archive.writestr("org/apache/paimon/s3/S3Loader.class", "")
        for plug_in in (named, renamed):
            plan = plan_packages(target(jars=[jar, plug_in], warehouse="s3://b/w"), SPARK, {})
            assert (plan.jars, plan.packages) == ((jar, plug_in), ())

    @pytest.mark.parametrize(
        "name", ["paimon-spark-3.5_2.13-1.4.2.jar", "paimon-spark-4.0-1.2.0.jar", "spark-avro_2.13-3.5.7.jar"]
    )
    def test_a_jar_of_another_scala(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(DbtRuntimeError, match=r"is made for Scala 2\.13, and Spark 3\.5\.7 runs on Scala 2\.12"):
            plan_packages(target(jars=[make_jar(tmp_path / name)]), SPARK, {})

    def test_a_renamed_jar_of_another_scala(self, tmp_path: Path) -> None:
        jar = make_jar(tmp_path / "connector.jar", "paimon-spark-3.5_2.13", "1.4.2")
        with pytest.raises(DbtRuntimeError, match=r"connector\.jar is made for Scala 2\.13"):
            plan_packages(target(jars=[jar]), SPARK, {})

    def test_a_package_of_another_scala(self) -> None:
        with pytest.raises(DbtRuntimeError, match=r"spark-avro_2\.13:3\.5\.7 is made for Scala 2\.13"):
            plan_packages(target(packages=["org.apache.spark:spark-avro_2.13:3.5.7"]), SPARK, {})

    def test_jars_that_are_not_there(self, tmp_path: Path) -> None:
        text = tmp_path / "text.jar"
        text.write_text("x")
        with pytest.raises(DbtRuntimeError) as error:
            plan_packages(
                target(jars=[str(tmp_path / "no.jar"), str(text)]),
                SPARK,
                {"DBT_PAIMON_JARS": "/no/where.jar"},
            )
        message = str(error.value)
        assert "/no/where.jar (DBT_PAIMON_JARS) does not exist" in message
        assert f"{tmp_path}/no.jar (jars in the profile) does not exist" in message
        assert "text.jar (jars in the profile) is not a jar" in message

    def test_jars_elsewhere_are_not_looked_at(self) -> None:
        assert plan_packages(target(jars=["hdfs://nn/a.jar"]), SPARK, {}).jars == ("hdfs://nn/a.jar",)


class TestEnvironment:
    @pytest.fixture
    def other(self, tmp_path: Path) -> str:
        return make_jar(tmp_path / "other.jar", "paimon-spark-3.5_2.12", "1.4.2")

    def test_replaces_the_default(self, other: str) -> None:
        plan = plan_packages(target(), SPARK, {"DBT_PAIMON_JARS": other})
        assert (plan.jars, plan.packages, plan.paimon_version) == ((other,), (), "1.4.2")

    def test_replaces_the_connector_of_the_profile_and_keeps_the_rest(self, tmp_path: Path, other: str) -> None:
        connector = make_jar(tmp_path / "paimon-spark-3.5-0.9.0.jar")
        functions = make_jar(tmp_path / "functions.jar")
        plan = plan_packages(target(jars=[connector, functions]), SPARK, {"DBT_PAIMON_JARS": other})
        assert (plan.jars, plan.packages) == ((other, functions), ())

    def test_replaces_a_connector_among_the_packages(self, other: str) -> None:
        plan = plan_packages(target(packages=[CONNECTOR, "a:b:1"]), SPARK, {"DBT_PAIMON_JARS": other})
        assert plan.packages == ("a:b:1",)
        assert plan.paimon_version == "1.4.2"

    def test_the_storage_plug_in_has_the_connectors_version(self, other: str) -> None:
        plan = plan_packages(target(warehouse="s3://b/w"), SPARK, {"DBT_PAIMON_JARS": other})
        assert plan.packages == ("org.apache.paimon:paimon-s3:1.4.2",)

    @pytest.mark.parametrize("separator", [",", os.pathsep, f" {os.pathsep}, "])
    def test_several(self, tmp_path: Path, other: str, separator: str) -> None:
        s3 = make_jar(tmp_path / "paimon-s3-1.4.2.jar")
        plan = plan_packages(target(warehouse="s3://b/w"), SPARK, {"DBT_PAIMON_JARS": separator.join((other, s3))})
        assert (plan.jars, plan.packages) == ((other, s3), ())

    def test_empty_is_unset(self) -> None:
        assert plan_packages(target(), SPARK, {"DBT_PAIMON_JARS": ""}).packages == (CONNECTOR,)


class TestVersion:
    def test_pom_before_name(self, tmp_path: Path) -> None:
        jar = make_jar(tmp_path / "paimon-spark-3.5-1.5-20250901.002211-12.jar", "paimon-spark-3.5", "1.5-SNAPSHOT")
        assert connector_version_from_jars([jar]) == "1.5-SNAPSHOT"

    @pytest.mark.parametrize(
        ("name", "version"),
        [
            ("paimon-spark-3.5-0.9.0.jar", "0.9.0"),
            ("paimon-spark-4.0_2.13-1.4.2.jar", "1.4.2"),
            ("paimon-s3-1.0.0.jar", None),
        ],
    )
    def test_name(self, tmp_path: Path, name: str, version: str | None) -> None:
        assert connector_version_from_jars([make_jar(tmp_path / name)]) == version
        assert connector_version_from_jars([f"hdfs://nn/jars/{name}"]) == version

    def test_an_unknown_version_is_the_profiles(self, tmp_path: Path) -> None:
        jar = make_jar(tmp_path / "some.jar")
        assert effective_paimon_version(target(jars=[jar], paimon_version="1.1.0")) == "1.1.0"


def test_one_process_at_a_time_fills_ivys_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with ivy_lock_path().open("w") as other:
        with resolution_lock([CONNECTOR]), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_lock_follows_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    precious = tmp_path / "precious"
    precious.write_text("mine")
    ivy_lock_path().symlink_to(precious)
    with (
        pytest.raises(DbtRuntimeError, match="Remove it"),
        resolution_lock([CONNECTOR]),
    ):
        pass
    assert precious.read_text() == "mine"


def test_the_wait_for_the_lock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(ivy_lock, "_LONGEST_RESOLUTION", 0.2)
    with ivy_lock_path().open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (
            pytest.raises(DbtRuntimeError, match="fuser"),
            resolution_lock([CONNECTOR]),
        ):
            pass


def test_nothing_is_locked_when_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with resolution_lock(()):
        assert not ivy_lock_path().exists()


@pytest.mark.parametrize(
    "reason",
    [
        "unresolved dependency: org.apache.paimon#paimon-spark-3.5;7.7.7: not found",
        "download failed: org.apache.paimon#paimon-spark-3.5;7.7.7!paimon-spark-3.5.jar",
    ],
)
def test_failure_is_explained(reason: str) -> None:
    text = f"""
    Host repos.spark-packages.org not found. url=https://repos.spark-packages.org/a.jar
    Host repo1.maven.org not found. url=https://repo1.maven.org/maven2/a.jar
    Exception in thread "main" java.lang.RuntimeException: [{reason}]
    """
    message = explain_resolution_failure(text, SPARK)
    assert message.startswith(
        "The jars of org.apache.paimon:paimon-spark-3.5:7.7.7 could not be fetched: no answer from repo1.maven.org"
    )
    for remedy in ("network", "`repositories`", "`jars`", "DBT_PAIMON_JARS"):
        assert remedy in message


@pytest.mark.parametrize(
    "why",
    [
        "invalid sha1: expected=a148 computed=8633",
        "(Downloaded file size (0) doesn't match expected Content Length (9) for https://central/a.jar. Please retry.)",
        "impossible to move part file to definitive one: /cache/a.jar.part -> /cache/a.jar",
    ],
)
def test_a_damaged_download_is_not_a_missing_jar(why: str) -> None:
    text = f"""
    \t[FAILED     ] org.nobody#thing;1.0!thing.jar: {why} (8ms)
    Exception in thread "main" java.lang.RuntimeException: [download failed: org.nobody#thing;1.0!thing.jar]
    """
    message = explain_resolution_failure(text, SPARK)
    assert message.startswith(f"A repository has org.nobody:thing:1.0 ({why}), but the file did not arrive whole.")
    assert "all of them answered" not in message
