"""The storage options of a catalog, where they come from, and which catalogs allow concurrent writers."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.catalogs import reachable, storage
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.writers import writers
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.conf import spark_conf
from dbt.adapters.paimon.spark.launch.packages import PackagePlan

KEYS = {"s3.access-key": "id", "s3.secret-key": "hush"}
OSS_KEYS = {
    "fs.oss.endpoint": "oss-cn-x.aliyuncs.com",
    "fs.oss.accessKeyId": "id",
    "fs.oss.accessKeySecret": "hush",
}
BOUNDS = {f"s3.{name}": value for name, value in storage.S3.bounds.items()}


def catalog(warehouse: str = "s3://b/w", metastore: str = "filesystem", **options: str) -> SparkCatalog:
    return SparkCatalog("paimon", metastore, warehouse, None, options)


def needs(
    lake: SparkCatalog, spark_config: dict[str, str] | None = None, environ: dict[str, str] | None = None
) -> storage.Storage:
    return storage.storage_of(lake, storage.StorageContext(spark_config or {}, (), environ or {}))


def told(
    lake: SparkCatalog, spark_config: dict[str, str] | None = None, environ: dict[str, str] | None = None
) -> dict[str, str]:
    """The storage options of a catalog, without the limits of retries and timeouts."""
    options = needs(lake, spark_config, environ).options
    return {name: value for name, value in options.items() if BOUNDS.get(name) != value}


def conf(version: str = "0.9.0", **profile: Any) -> dict[str, str]:
    data = PaimonCredentials.translate_aliases({"schema": "flights", **profile})
    credentials = PaimonCredentials.from_dict(data)
    return spark_conf(credentials, credentials.storages(), PackagePlan((), (), (), version))


class TestS3Keys:
    def test_of_the_profile(self) -> None:
        assert (
            told(catalog(**KEYS), {"spark.hadoop.fs.s3a.access.key": "other"}, {"AWS_ACCESS_KEY_ID": "third"}) == KEYS
        )

    @pytest.mark.parametrize("prefix", ["s3.", "s3a.", "fs.s3a."])
    def test_under_another_spelling(self, prefix: str) -> None:
        given = {f"{prefix}access.key": "id", f"{prefix}secret.key": "hush"}
        assert told(catalog(**given)) == given | KEYS

    def test_of_hadoops_settings(self) -> None:
        settings = {
            "spark.hadoop.fs.s3a.access.key": "id",
            "spark.hadoop.fs.s3a.secret.key": "hush",
            "spark.hadoop.fs.s3a.endpoint": "http://h:9000",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.attempts.maximum": "9",
        }
        assert told(catalog(), settings) == KEYS | {
            "s3.endpoint": "http://h:9000",
            "s3.path.style.access": "true",
            "s3.attempts.maximum": "9",
        }

    def test_of_core_site(self, tmp_path: Path) -> None:
        properties = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>"
            for name, value in {
                "fs.s3a.access.key": "id",
                "fs.s3a.secret.key": "hush",
                "fs.defaultFS": "x",
            }.items()
        )
        (tmp_path / "core-site.xml").write_text(f"<configuration>{properties}</configuration>")
        assert told(catalog(), {}, {"HADOOP_CONF_DIR": str(tmp_path), "AWS_ACCESS_KEY_ID": "other"}) == KEYS

    def test_a_malformed_core_site(self, tmp_path: Path) -> None:
        (tmp_path / "core-site.xml").write_text("<configuration>")
        with pytest.raises(DbtRuntimeError, match=r"core-site.xml cannot be read.*HADOOP_CONF_DIR"):
            told(catalog(), {}, {"HADOOP_CONF_DIR": str(tmp_path)})

    def test_of_the_environment(self) -> None:
        environ = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_SESSION_TOKEN": "t"}
        assert told(catalog(), {}, environ) == KEYS | {"s3.session.token": "t"}

    def test_of_a_provider(self) -> None:
        found = needs(catalog(**{"s3.aws.credentials.provider": "p.Chain"}))
        assert found.plug_in is storage.S3
        assert found.missing_keys(Versions.of("0.9.0")) == ""

    def test_missing(self) -> None:
        with pytest.raises(DbtRuntimeError) as error:
            conf(warehouse="s3://b/w")
        message = str(error.value)
        for word in (
            "s3.access-key, s3.secret-key: missing",
            "catalog_options",
            "AWS_ACCESS_KEY_ID",
            "s3://b/w",
        ):
            assert word in message

    def test_need_not_be_there_from_paimon_2(self) -> None:
        assert "spark.sql.catalog.paimon.s3.access-key" not in conf("2.0.0", warehouse="s3://b/w")

    def test_keys_of_the_environment_are_secrets(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASECRET")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
        assert {"AKIASECRET", "hush-hush"} <= set(PaimonCredentials(schema="s", warehouse="s3://b/w").secrets)


class TestSchemes:
    def test_s3a_becomes_the_scheme_of_the_plug_in(self) -> None:
        settings = conf(warehouse="s3a://b/w", catalog_options=KEYS)
        assert settings["spark.sql.catalog.paimon.warehouse"] == "s3://b/w"

    def test_s3a_stays_with_hadoop_aws(self) -> None:
        settings = conf(warehouse="s3a://b/w", packages=["org.apache.hadoop:hadoop-aws:3.3.4"])
        assert settings["spark.sql.catalog.paimon.warehouse"] == "s3a://b/w"
        assert settings["spark.hadoop.fs.s3a.attempts.maximum"] == "3"
        assert "spark.sql.catalog.paimon.s3.attempts.maximum" not in settings

    def test_a_file_system_of_hadoops_own(self) -> None:
        emr = {"spark.hadoop.fs.s3.impl": "com.amazon.ws.emr.hadoop.fs.EmrFileSystem"}
        assert told(catalog(), emr) == {}

    def test_oss(self) -> None:
        settings = {
            "spark.hadoop.fs.oss.endpoint": "oss-cn-x.aliyuncs.com",
            "spark.hadoop.fs.oss.accessKeyId": "id",
            "spark.hadoop.fs.oss.accessKeySecret": "hush",
        }
        by_hadoop = conf(warehouse="oss://b/w", spark_config=settings)
        by_profile = conf(warehouse="oss://b/w", catalog_options=OSS_KEYS)
        for name, value in (OSS_KEYS | {"fs.oss.attempts.maximum": "3"}).items():
            assert by_hadoop[f"spark.sql.catalog.paimon.{name}"] == value
            assert by_profile[f"spark.sql.catalog.paimon.{name}"] == value

    def test_oss_of_the_environment(self) -> None:
        environ = {
            "OSS_ENDPOINT": "oss-cn-x.aliyuncs.com",
            "OSS_ACCESS_KEY_ID": "id",
            "OSS_ACCESS_KEY_SECRET": "hush",
        }
        options = told(catalog("oss://b/w"), {}, environ)
        assert {name: options[name] for name in OSS_KEYS} == OSS_KEYS

    def test_oss_without_an_endpoint(self) -> None:
        with pytest.raises(DbtRuntimeError, match=r"fs\.oss\.endpoint, fs\.oss\.accessKeyId"):
            conf("2.0.0", warehouse="oss://b/w")

    def test_hdfs_is_bounded_and_a_profile_wins(self) -> None:
        name = "spark.hadoop.ipc.client.connect.max.retries"
        assert conf(warehouse="hdfs://nn:8020/w")[name] == "5"
        assert conf(warehouse="hdfs://nn:8020/w", spark_config={name: 9})[name] == "9"
        assert name not in conf(warehouse="/tmp/w")

    def test_a_catalog_of_catalogs_yml(self) -> None:
        credentials = PaimonCredentials(schema="s", warehouse="/tmp/w")
        credentials.integrations["far"] = SparkCatalog("far", "filesystem", "s3a://b/w", None, KEYS)
        settings = spark_conf(credentials, credentials.storages(), PackagePlan((), (), (), "0.9.0"))
        assert settings["spark.sql.catalog.far.warehouse"] == "s3://b/w"
        assert settings["spark.sql.catalog.far.s3.retry.limit"] == "3"


class TestLocks:
    @pytest.mark.parametrize("metastore", ["jdbc", "hive"])
    def test_are_enabled_where_the_catalog_supports_them(self, metastore: str) -> None:
        assert told(catalog("s3://b/w", metastore, **KEYS))["lock.enabled"] == "true"
        assert "lock.enabled" not in told(catalog("hdfs://nn/w", metastore))
        assert told(catalog("s3://b/w", metastore, **KEYS, **{"lock.enabled": "false"}))["lock.enabled"] == "false"

    @pytest.mark.parametrize(
        ("warehouse", "metastore", "version", "safe"),
        [
            ("/tmp/w", "filesystem", "0.9.0", True),
            ("hdfs://nn/w", "filesystem", "0.9.0", True),
            ("s3://b/w", "filesystem", "0.9.0", False),
            ("s3a://b/w", "filesystem", "2.0.0", False),
            ("oss://b/w", "filesystem", "1.4.2", False),
            ("oss://b/w", "filesystem", "2.0.0", True),
            ("s3://b/w", "jdbc", "0.9.0", True),
            ("s3://b/w", "hive", "0.9.0", True),
            ("lake", "rest", "1.4.2", True),
        ],
    )
    def test_writers(self, warehouse: str, metastore: str, version: str, safe: bool) -> None:
        found, sentence = writers(catalog(warehouse, metastore), version)
        assert found is safe
        assert safe or "set metastore to hive" in sentence

    def test_leases(self) -> None:
        assert writers(catalog("s3://b/w"), "0.9.0", "")[0] is True
        safe, sentence = writers(catalog("s3://b/w"), "0.9.0", "no botocore")
        assert not safe
        assert "no botocore" in sentence

    def test_a_lock_that_is_turned_off(self) -> None:
        assert writers(catalog("s3://b/w", "jdbc", **{"lock.enabled": "false"}), "0.9.0")[0] is False


class TestReachable:
    @pytest.fixture
    def closed(self) -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    def test_an_endpoint_that_does_not_listen(self, closed: int) -> None:
        with pytest.raises(DbtRuntimeError, match=r"does not answer \(Connection refused\).*s3\.endpoint"):
            reachable.check_storage(needs(catalog(**{"s3.endpoint": f"http://127.0.0.1:{closed}"})))

    def test_a_name_node_that_does_not_listen(self, closed: int) -> None:
        with pytest.raises(DbtRuntimeError, match=r"name node .* does not answer .*`warehouse`"):
            reachable.check_storage(needs(catalog(f"hdfs://127.0.0.1:{closed}/w")))

    def test_an_endpoint_that_says_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reachable, "_STORAGE_TIMEOUT", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as mute:
            lake = needs(catalog(**{"s3.endpoint": f"http://127.0.0.1:{mute.getsockname()[1]}"}))
            with pytest.raises(DbtRuntimeError, match=r"does not answer \(timed out\)"):
                reachable.check_storage(lake)

    @pytest.mark.parametrize(
        ("lake", "options"),
        [
            (catalog("hdfs://pair/w"), {}),
            (catalog(), {"s3.endpoint": "http://127.0.0.1:1", "s3.proxy.host": "p"}),
            (catalog(), {}),
            (catalog("/tmp/w"), {}),
        ],
    )
    def test_unknown_endpoints_are_not_checked(self, lake: SparkCatalog, options: dict[str, str]) -> None:
        reachable.check_storage(needs(replace(lake, options=options)))
