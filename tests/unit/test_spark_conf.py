"""The Spark settings of a target."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.conf import EXTENSIONS, driver_memory_mib, spark_conf
from dbt.adapters.paimon.spark.launch.packages import PackagePlan

NOTHING = PackagePlan((), (), (), "0.9.0")
PAIMON = "spark.sql.catalog.paimon"


def conf(plan: PackagePlan = NOTHING, **profile: Any) -> dict[str, str]:
    data = PaimonCredentials.translate_aliases({"schema": "flights", "warehouse": "/tmp/wh", **profile})
    credentials = PaimonCredentials.from_dict(data)
    return spark_conf(credentials, credentials.storages(), plan)


def test_catalog() -> None:
    settings = conf()
    assert {key: value for key, value in settings.items() if key.startswith("spark.sql.catalog.")} == {
        PAIMON: "org.apache.paimon.spark.SparkCatalog",
        f"{PAIMON}.warehouse": "/tmp/wh",
        f"{PAIMON}.cache-enabled": "false",
    }
    assert settings["spark.sql.defaultCatalog"] == "paimon"
    assert settings["spark.sql.extensions"] == EXTENSIONS
    assert settings["spark.sql.catalogImplementation"] == "in-memory"


def test_catalog_of_a_metastore() -> None:
    settings = conf(
        catalog="lake",
        metastore="hive",
        uri="thrift://h:9083",
        warehouse=None,
        catalog_options={"client-pool-size": 5},
    )
    assert settings["spark.sql.catalog.lake.metastore"] == "hive"
    assert settings["spark.sql.catalog.lake.uri"] == "thrift://h:9083"
    assert settings["spark.sql.catalog.lake.client-pool-size"] == "5"
    assert "spark.sql.catalog.lake.warehouse" not in settings


HIVE = {"metastore": "hive", "uri": "thrift://h:9083"}


def test_the_wait_for_a_metastore_is_bounded() -> None:
    settings = conf(**HIVE, catalog_options={"hive.metastore.failure.retries": 9})
    assert settings[f"{PAIMON}.hive.metastore.connect.retries"] == "2"
    assert settings[f"{PAIMON}.hive.metastore.client.socket.timeout"] == "60s"
    assert settings[f"{PAIMON}.hive.metastore.failure.retries"] == "9"
    own = {f"{PAIMON}.hive.metastore.connect.retries": 5}
    assert conf(**HIVE, spark_config=own)[f"{PAIMON}.hive.metastore.connect.retries"] == "5"


@pytest.mark.parametrize(("version", "clients"), [("0.9.0", "128"), ("1.0.0", None)])
def test_clients_of_a_metastore(version: str, clients: str | None) -> None:
    settings = conf(PackagePlan((), (), (), version), **HIVE)
    assert settings.get(f"{PAIMON}.client-pool-size") == clients


def test_sparks_own_catalog() -> None:
    options = {"hive.metastore.client.socket.timeout": "9s"}
    settings = conf(**HIVE, catalog="spark_catalog", catalog_options=options)
    prefix = "spark.sql.catalog.spark_catalog"
    assert settings[prefix] == "org.apache.paimon.spark.SparkGenericCatalog"
    assert settings[f"{prefix}.metastore"] == "hive"
    assert settings["spark.sql.catalogImplementation"] == "hive"
    assert settings["spark.sql.defaultCatalog"] == "spark_catalog"
    assert settings["spark.sql.warehouse.dir"] == "/tmp/wh"
    assert settings["spark.hadoop.hive.metastore.uris"] == "thrift://h:9083"
    assert settings["spark.hadoop.hive.metastore.client.socket.timeout"] == "9s"


@pytest.mark.parametrize(
    ("profile", "version", "said"),
    [
        ({"metastore": "rest", "uri": "http://h"}, "0.9.0", "needs Paimon >= 1.0"),
        ({"metastore": "rest", "uri": "http://h"}, "1.0.0", ""),
        (
            {"metastore": "jdbc", "uri": "jdbc:postgresql://h/d", "warehouse": "s3://b/w"},
            "0.9.0",
            "Paimon >= 1.1",
        ),
        ({"metastore": "jdbc", "uri": "jdbc:postgresql://h/d", "warehouse": "s3://b/w"}, "1.1.0", ""),
        ({"metastore": "jdbc", "uri": "jdbc:postgresql://h/d", "warehouse": "hdfs://n/w"}, "0.9.0", ""),
        ({"metastore": "jdbc", "uri": "jdbc:mysql://h/d", "warehouse": "s3://b/w"}, "0.9.0", ""),
        (
            {
                "metastore": "jdbc",
                "uri": "jdbc:postgresql://h/d",
                "warehouse": "s3://b/w",
                "catalog_options": {"lock.enabled": False},
            },
            "0.9.0",
            "",
        ),
    ],
)
def test_catalogs_that_need_a_newer_paimon(profile: dict[str, Any], version: str, said: str) -> None:
    plan = PackagePlan((), (), (), version)
    keys = {"s3.access-key": "k", "s3.secret-key": "s"}
    profile = {**profile, "catalog_options": {**keys, **profile.get("catalog_options", {})}}
    if said:
        with pytest.raises(DbtRuntimeError, match=said):
            conf(plan, **profile)
    else:
        assert conf(plan, **profile)[f"{PAIMON}.metastore"] == profile["metastore"]


def test_jars_and_packages() -> None:
    plan = PackagePlan(("/a.jar",), ("g:a:1",), ("https://r",), "0.9.0")
    settings = conf(plan, spark_config={"spark.jars": "/b.jar, /a.jar", "spark.jars.packages": "g:b:1"})
    assert settings["spark.jars"] == "/a.jar,/b.jar"
    assert settings["spark.jars.packages"] == "g:a:1,g:b:1"
    assert settings["spark.jars.repositories"] == "https://r"
    # Paimon's POM asks for a different Scala compiler than Spark's.
    assert "org.scala-lang:scala-compiler" in settings["spark.jars.excludes"]


CONNECTOR = "/j/paimon-spark-3.5-0.9.0.jar"
DRIVER = "/j/postgresql-42.jar"
LOCAL = {"spark.master": "local[2]"}


@pytest.mark.parametrize(
    ("jars", "packages", "own", "environment", "on_class_path"),
    [
        ([CONNECTOR], (), LOCAL, {}, True),
        # The connector would not see a driver that Spark loads later, so all jars go on the class path, or none.
        ([CONNECTOR, DRIVER], (), LOCAL, {}, True),
        ([CONNECTOR, "https://h/d.jar"], (), LOCAL, {}, False),
        ([CONNECTOR], ("g:driver:1",), LOCAL, {}, False),
        ([CONNECTOR], (), {**LOCAL, "spark.jars": DRIVER}, {}, False),
        ([CONNECTOR], (), {**LOCAL, "spark.jars.packages": "g:driver:1"}, {}, False),
        ([CONNECTOR], (), {**LOCAL, "spark.jars.ivy": "/ivy"}, {}, True),
        ([CONNECTOR], (), LOCAL, {"PYSPARK_SUBMIT_ARGS": f"--jars {DRIVER} pyspark-shell"}, False),
        ([CONNECTOR], (), LOCAL, {"PYSPARK_SUBMIT_ARGS": "--verbose pyspark-shell"}, True),
        ([DRIVER], (), LOCAL, {}, False),
        ([CONNECTOR], (), {"spark.master": "spark://h:7077"}, {}, False),
    ],
)
def test_jars_on_the_class_path(monkeypatch, jars, packages, own, environment, on_class_path) -> None:
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = conf(PackagePlan(tuple(jars), packages, (), "0.9.0"), spark_config=own)
    assert settings.get("spark.driver.extraClassPath") == (":".join(jars) if on_class_path else None)
    listed = settings.get("spark.jars", "").split(",")
    assert [jar in listed for jar in jars] == [not on_class_path] * len(jars)


def test_jars_of_spark_s_own_defaults(monkeypatch, tmp_path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(f"spark.jars {DRIVER}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    plan = PackagePlan((CONNECTOR,), (), (), "0.9.0")
    assert conf(plan, spark_config=LOCAL)["spark.jars"] == CONNECTOR


def test_jars_of_pyspark_s_own_defaults(monkeypatch, tmp_path) -> None:
    """Without SPARK_HOME, the launcher reads the file in PySpark's own folder."""
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    installed, home = Path(pyspark.__file__).parent, tmp_path / "pyspark"
    (home / "conf").mkdir(parents=True)
    for path in installed.iterdir():
        if path.name not in ("conf", "find_spark_home.py"):
            (home / path.name).symlink_to(path)
    # A copy, because PySpark finds its folder by this file.
    shutil.copy(installed / "find_spark_home.py", home)
    script = (
        "from tests.unit.test_spark_conf import *\n"
        "plan = PackagePlan((CONNECTOR,), (), (), '0.9.0')\n"
        "print(conf(plan, spark_config=LOCAL).get('spark.jars'))"
    )
    shown = []
    for text in ("spark.ui.port 4041\n", f"spark.jars {DRIVER}\n"):
        (home / "conf" / "spark-defaults.conf").write_text(text)
        ran = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        shown.append(ran.stdout.strip())
    assert shown == ["None", CONNECTOR]


def test_nothing_to_download() -> None:
    assert not [key for key in conf() if key.startswith("spark.jars")]


def test_local_defaults() -> None:
    settings = conf(spark_config={"spark.master": "local[3]"})
    assert settings["spark.sql.shuffle.partitions"] == "3"
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    assert int(settings["spark.driver.memory"].removesuffix("m")) >= 512


@pytest.mark.parametrize("master", ["spark://h:7077", "local-cluster[2,1,1024]"])
def test_a_cluster_keeps_its_own_settings(master: str) -> None:
    settings = conf(spark_config={"spark.master": master})
    assert settings["spark.master"] == master
    assert not {"spark.driver.host", "spark.driver.memory", "spark.sql.shuffle.partitions"} & set(settings)


def test_the_users_settings_win() -> None:
    own = {
        "spark.sql.shuffle.partitions": 7,
        "spark.sql.session.timeZone": "Europe/Paris",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.defaultCatalog": "spark_catalog",
    }
    settings = conf(spark_config=own)
    assert {key: settings[key] for key in own} == {key: str(value) for key, value in own.items()}


@pytest.mark.parametrize(
    ("zone", "java"),
    [
        ("America/Los_Angeles", "America/Los_Angeles"),
        ("Etc/GMT+8", "Etc/GMT+8"),
        ("Z", "UTC"),
        ("+08:00", "GMT+08:00"),
        ("-5", "GMT-05:00"),
        ("UTC+5:30", "GMT+05:30"),
        ("+0930", "GMT+09:30"),
        ("+01:02:03", ""),
        ("UTC -javaagent:x.jar", ""),
    ],
)
def test_the_jvm_has_the_sessions_zone(zone: str, java: str) -> None:
    settings = conf(spark_config={"spark.sql.session.timeZone": zone})
    assert settings.get("spark.driver.defaultJavaOptions") == (f"-Duser.timezone={java}" if java else None)
    # A local Spark has no other JVMs.
    assert "spark.executor.defaultJavaOptions" not in settings


def test_executors_have_the_sessions_zone_too() -> None:
    own = {"spark.master": "spark://h:7077", "spark.executor.defaultJavaOptions": "-Da=b"}
    settings = conf(spark_config=own)
    assert settings["spark.executor.defaultJavaOptions"] == "-Duser.timezone=UTC -Da=b"


def test_a_zone_of_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.timezone=Europe/Paris")
    assert "spark.driver.defaultJavaOptions" not in conf()


def test_extensions_are_added_to() -> None:
    assert conf(spark_config={"spark.sql.extensions": "a.B"})["spark.sql.extensions"] == f"{EXTENSIONS},a.B"
    assert conf(spark_config={"spark.sql.extensions": EXTENSIONS})["spark.sql.extensions"] == EXTENSIONS


@pytest.mark.parametrize("name", ["other", "paimon_too"])
def test_a_second_catalog(name: str) -> None:
    settings = conf(spark_config={f"spark.sql.catalog.{name}": "x.Y", f"spark.sql.catalog.{name}.uri": "u"})
    assert settings[f"spark.sql.catalog.{name}"] == "x.Y"


def test_all_harmful_settings_are_refused_at_once() -> None:
    with pytest.raises(DbtRuntimeError) as error:
        conf(
            spark_config={
                PAIMON: "x.Y",
                f"{PAIMON}.warehouse": "/elsewhere",
                f"{PAIMON}.cache-enabled": True,
                "spark.paimon.write.use-v2-write": True,
            },
            catalog_options={"cache-enabled": "true", "metastore": "hive"},
        )
    message = str(error.value)
    assert f"{PAIMON}=x.Y replaces Paimon's catalog" in message
    assert f"{PAIMON}.warehouse contradicts" in message
    assert "spark_config: cache-enabled=true corrupts" in message
    assert "write.use-v2-write=true: with it, statements may fail after they have committed" in message
    assert "catalog_options: cache-enabled=true corrupts" in message
    assert "catalog_options: metastore is a key of the profile itself" in message


def with_a_catalog(options: dict[str, str], **profile: Any) -> PaimonCredentials:
    """The credentials of a project whose catalogs.yml defines the catalog `second`."""
    data = PaimonCredentials.translate_aliases({"schema": "flights", "warehouse": "/tmp/wh", **profile})
    credentials = PaimonCredentials.from_dict(data)
    credentials.integrations["second"] = SparkCatalog("second", "jdbc", "/tmp/two", "jdbc:sqlite:/tmp/two.db", options)
    return credentials


def test_contradictions_of_a_catalog_in_catalogs_yml() -> None:
    prefix = "spark.sql.catalog.second"
    settings = {f"{prefix}.warehouse": "/tmp/three", f"{prefix}.cache-enabled": "true"}
    options = {"warehouse": "/tmp/other", "cache-enabled": "true"}
    credentials = with_a_catalog(options, spark_config=settings)
    with pytest.raises(DbtRuntimeError) as raised:
        spark_conf(credentials, credentials.storages(), NOTHING)
    place = "catalogs.yml, catalog second: adapter_properties"
    assert f"{place}: warehouse does not belong here; set external_volume instead" in str(raised.value)
    assert f"{prefix}.warehouse contradicts external_volume of catalogs.yml" in str(raised.value)
    for place in ("spark_config", "adapter_properties"):
        assert f"{place}: cache-enabled=true corrupts a table" in str(raised.value)


def test_secrets_of_a_catalog_in_catalogs_yml() -> None:
    credentials = with_a_catalog({"jdbc.password": "s3cr3t-of-the-database"})
    assert "s3cr3t-of-the-database" in credentials.secrets


def test_a_contradicted_secret_is_not_shown() -> None:
    with pytest.raises(DbtRuntimeError) as error:
        conf(spark_config={f"{PAIMON}.s3.secret-key": "aaaa"}, catalog_options={"s3.secret-key": "bbbb"})
    assert "aaaa" not in str(error.value)
    assert "bbbb" not in str(error.value)


@pytest.mark.parametrize(
    ("cores", "physical", "expected"),
    [(1, None, 2048), (2, 16384, 2048), (16, 65536, 8192), (16, 8192, 4096), (2, 2048, 1024), (2, 512, 512)],
)
def test_driver_memory(cores: int, physical: int | None, expected: int) -> None:
    assert driver_memory_mib(cores, physical) == expected


@pytest.mark.parametrize(("limit", "heap"), [(f"{1024**3}\n", "512m"), ("max\n", None)])
def test_the_memory_limit_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, heap: str | None
) -> None:
    monkeypatch.setattr("dbt.adapters.paimon.spark.conf._CONTAINER_LIMITS", ())
    without = conf()["spark.driver.memory"]
    (tmp_path / "memory.max").write_text(limit)
    limits = (tmp_path / "memory.max", tmp_path / "missing")
    monkeypatch.setattr("dbt.adapters.paimon.spark.conf._CONTAINER_LIMITS", limits)
    assert conf()["spark.driver.memory"] == (heap or without)
