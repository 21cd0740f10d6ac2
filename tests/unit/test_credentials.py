"""Profiles: what is accepted, what each key becomes, and that no secret is shown."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from dbt.config.profile import Profile
from dbt.config.renderer import ProfileRenderer
from dbt.exceptions import DbtProfileError
from dbt_common.dataclass_schema import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import MASK, blank, is_secret, redact_text


def load(**profile: Any) -> PaimonCredentials:
    """Load a target as dbt does (dbt.config.profile.Profile._credentials_from_profile)."""
    data = PaimonCredentials.translate_aliases({"warehouse": "/tmp/wh", "schema": "flights", **profile})
    data = {key: value for key, value in data.items() if value is not ...}
    PaimonCredentials.validate(data)
    return PaimonCredentials.from_dict(data)


def problems_of(**profile: Any) -> list[str]:
    with pytest.raises(ValidationError) as error:
        load(**profile)
    return [line.removeprefix("  - ") for line in error.value.message.strip("\n").splitlines()]


class TestNames:
    def test_catalog_defaults_to_paimon(self) -> None:
        credentials = load()
        assert (credentials.database, credentials.catalog, credentials.schema) == (
            "paimon",
            "paimon",
            "flights",
        )

    def test_database_alone_is_paimons_word_for_schema(self) -> None:
        data = PaimonCredentials.translate_aliases({"database": "flights", "warehouse": "/tmp/wh"})
        PaimonCredentials.validate(data)
        credentials = PaimonCredentials.from_dict(data)
        assert (credentials.database, credentials.schema) == ("paimon", "flights")

    @pytest.mark.parametrize(
        ("profile", "expected"),
        [
            ({"database": "lake"}, ("lake", "flights")),
            ({"database": "flights"}, ("paimon", "flights")),
            ({"catalog": "lake"}, ("lake", "flights")),
            ({"catalog": "lake", "database": "flights"}, ("lake", "flights")),
            ({"catalog": "lake", "database": "lake"}, ("lake", "flights")),
            ({"catalog": "flights"}, ("flights", "flights")),
        ],
    )
    def test_catalog_database_schema(self, profile: dict[str, str], expected: tuple[str, str]) -> None:
        credentials = load(**profile)
        assert (credentials.database, credentials.schema) == expected

    def test_three_names_that_contradict(self) -> None:
        (problem,) = problems_of(catalog="a", database="b", schema="c")
        assert "contradict" in problem
        assert "leave `database` out" in problem

    @given(st.dictionaries(st.sampled_from(["catalog", "database", "schema"]), st.sampled_from(["a", "b", "c"])))
    def test_translating_twice_changes_nothing(self, names: dict[str, str]) -> None:
        once = PaimonCredentials.translate_aliases({"warehouse": "/tmp/wh", **names})
        assert PaimonCredentials.translate_aliases(once) == once

    def test_round_trip(self) -> None:
        credentials = load(catalog="lake", schema="lake", spark_config={"spark.x": 1}, jars="a.jar, b.jar")
        data = credentials.to_dict(omit_none=True)
        PaimonCredentials.validate(data)
        assert PaimonCredentials.from_dict(data) == credentials

    @pytest.mark.parametrize("catalog", ["a.b", "a b", ""])
    def test_catalog_names_that_spark_cannot_have(self, catalog: str) -> None:
        assert any("catalog" in problem for problem in problems_of(catalog=catalog))

    @pytest.mark.parametrize(
        ("target", "said"),
        [
            ({"catalog": "spark_catalog"}, "set metastore to hive"),
            ({"metastore": "hive", "uri": "h:9083"}, "thrift://host:9083"),
            ({"metastore": "jdbc", "uri": "postgresql://h/d"}, "is not a JDBC URL"),
        ],
    )
    def test_invalid_addresses(self, target: dict[str, Any], said: str) -> None:
        (problem,) = problems_of(**target)
        assert said in problem

    @pytest.mark.parametrize(
        ("uri", "file"),
        [
            ("jdbc:sqlite:/data/c.db", Path("/data/c.db")),
            ("jdbc:sqlite:file:/data/c.db?cache=shared", Path("/data/c.db")),
            ("jdbc:sqlite::memory:", None),
            ("jdbc:postgresql://h/d", None),
        ],
    )
    def test_file_of_a_sqlite_catalog(self, uri: str, file: Path | None) -> None:
        assert load(metastore="jdbc", uri=uri).spark_catalog.sqlite_file == file

    def test_sparks_own_catalog_on_two_metastores(self) -> None:
        catalog = load(catalog="spark_catalog", metastore="hive", uri="thrift://a:1, thrift://[::1]:2").spark_catalog
        assert catalog.is_session_catalog
        assert catalog.thrift_addresses == (("a", 1), ("::1", 2))

    @pytest.mark.parametrize("schema", ["sys", "a.b", "a b", "../a", "", 3])
    def test_schema_names_that_paimon_cannot_have(self, schema: Any) -> None:
        (problem,) = problems_of(schema=schema)
        assert problem.startswith("schema: ")


class TestLocations:
    def test_relative_path_is_taken_from_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert load(warehouse="target/wh").warehouse == str(tmp_path / "target/wh")
        assert load(warehouse="file:target/wh").warehouse == f"file:{tmp_path}/target/wh"

    def test_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/home/ann")
        assert load(warehouse="~/wh").warehouse == "/home/ann/wh"

    @pytest.mark.parametrize("warehouse", ["s3://b/wh", "hdfs://nn:8020/wh", "oss://b/wh", "file:///data/wh"])
    def test_uris_are_kept(self, warehouse: str) -> None:
        assert load(warehouse=warehouse).warehouse == warehouse

    @pytest.mark.parametrize(
        ("warehouse", "scheme", "local"),
        [
            ("/data/wh", "file", Path("/data/wh")),
            ("file:///data/wh", "file", Path("/data/wh")),
            ("file:/data/wh", "file", Path("/data/wh")),
            ("S3://b/wh", "s3", None),
        ],
    )
    def test_scheme_and_local_path(self, warehouse: str, scheme: str, local: Path | None) -> None:
        credentials = load(warehouse=warehouse)
        assert (credentials.spark_catalog.scheme, credentials.local_warehouse) == (scheme, local)

    def test_a_rest_catalogs_warehouse_is_a_name(self) -> None:
        credentials = load(metastore="rest", uri="http://host:8080", warehouse="prod")
        assert (credentials.warehouse, credentials.spark_catalog.scheme, credentials.local_warehouse) == (
            "prod",
            "",
            None,
        )


class TestStorage:
    def test_filesystem_needs_a_warehouse(self) -> None:
        (problem,) = problems_of(warehouse=None)
        assert problem.startswith("warehouse: missing")

    @pytest.mark.parametrize("metastore", ["hive", "jdbc", "rest"])
    def test_a_metastore_needs_an_address(self, metastore: str) -> None:
        (problem,) = problems_of(metastore=metastore)
        assert problem.startswith(f"uri: missing; a {metastore} catalog")

    def test_a_hive_catalog_may_take_its_warehouse_from_hive(self) -> None:
        assert load(metastore="hive", uri="thrift://h:9083", warehouse=None).warehouse is None

    def test_filesystem_has_no_address(self) -> None:
        (problem,) = problems_of(uri="thrift://h:9083")
        assert problem.startswith("uri: a filesystem catalog has none")


class TestValues:
    def test_options_become_text(self) -> None:
        credentials = load(
            spark_config={"spark.a": True, "spark.b": 2, "spark.c": "x"},
            catalog_options={"s3.path.style.access": True},
        )
        assert credentials.spark_config == {"spark.a": "true", "spark.b": "2", "spark.c": "x"}
        assert credentials.catalog_options == {"s3.path.style.access": "true"}

    def test_lists_may_be_text(self) -> None:
        credentials = load(packages="a:b:1, c:d:2", repositories="https://r", jars="/a.jar,/b.jar")
        assert credentials.packages == ["a:b:1", "c:d:2"]
        assert credentials.repositories == ["https://r"]
        assert credentials.jars == ["/a.jar", "/b.jar"]

    def test_spark_master(self) -> None:
        assert load().spark_master == "local[*]"
        assert load(spark_config={"spark.master": "spark://h:7077"}).spark_master == "spark://h:7077"

    def test_keys_of_dbt_itself_are_no_problem(self) -> None:
        assert load(type="paimon", threads=4).type == "paimon"

    def test_null_counts_as_absent(self) -> None:
        assert load(spark_config=None, uri=None, paimon_version=None) == load()

    def test_all_problems_in_one_message(self) -> None:
        problems = problems_of(
            warehous="x",
            method="http",
            metastore="hiv",
            spark_config={
                "fs.s3a.endpoint": "x",
                "spark.a": [1],
                "spark.sql.timestampType": "TIMESTAMP_NTZ",
                "spark.sql.parser.escapedStringLiterals": True,
                "spark.sql.datetime.java8API.enabled": False,
                "spark.sql.parser.quotedRegexColumnNames": "true",
                "spark.paimon.branch": "b",
            },
            catalog_options="x",
            paimon_version=1.1,
            packages=["paimon-s3"],
            jars=["org.apache.paimon:paimon-s3:0.9.0", "https://host/a.jar"],
        )
        expected = (
            "warehous: not a key of a paimon profile; did you mean warehouse?",
            "method: 'http' is not one of session, connect, thrift",
            "metastore: 'hiv' is not one of filesystem, hive, jdbc, rest; did you mean hive?",
            "catalog_options: must be a mapping",
            "spark_config: spark.a: must be text, a number or a boolean, not a list",
            "spark_config: fs.s3a.endpoint: Spark's settings begin with `spark.`; did you mean spark.hadoop.fs.s3a",
            "spark_config: spark.sql.parser.escapedStringLiterals: backslashes and quotes",
            "spark_config: spark.sql.datetime.java8API.enabled: Paimon would store dates before October 1582",
            "spark_config: spark.sql.parser.quotedRegexColumnNames: quoted names in dbt-paimon's own statements",
            "spark_config: spark.paimon.branch: a run would read and write this branch",
            "spark_config: spark.sql.timestampType: a column that is `timestamp` in a query would lose its time zone",
            "paimon_version: must be text; write it in full and in quotes",
            "jars: 'org.apache.paimon:paimon-s3:0.9.0' is a Maven coordinate, not a path",
            "jars: 'https://host/a.jar' is not a local path",
            "packages: 'paimon-s3' is not a Maven coordinate",
        )
        for line in expected:
            assert any(problem.startswith(line) for problem in problems), (line, problems)
        assert len(problems) == len(expected)

    def test_read_options_cannot_be_table_defaults(self) -> None:
        options = {
            "table-default.scan.snapshot-id": 1,
            "table-default.file.format": "orc",
            "lock.enabled": True,
        }
        (problem,) = problems_of(catalog_options=options)
        assert problem.startswith("catalog_options: table-default.scan.snapshot-id: applies to one read")
        load(catalog_options={"table-default.scan.mode": "default"})

    def test_a_setting_of_spark_at_the_top(self) -> None:
        (problem,) = problems_of(**{"spark.master": "local[2]"})
        assert problem.endswith("Spark's settings go under spark_config")

    def test_an_unknown_key_lists_the_known_keys(self) -> None:
        (problem,) = problems_of(zzz=1)
        assert "the keys are " in problem
        assert "threads" in problem

    @pytest.mark.parametrize("version", ["0.9.0", "1.4.2", "2.0.0", "1.5-SNAPSHOT"])
    def test_versions(self, version: str) -> None:
        assert load(paimon_version=version).paimon_version == version

    def test_not_a_version(self) -> None:
        (problem,) = problems_of(paimon_version="newest")
        assert problem.startswith("paimon_version: 'newest' is not a version")


# No profile of these tests contains these letters, so any match is a leak.
SECRET = st.text(alphabet="XQZ0123456789", min_size=8, max_size=20)


class TestSecrets:
    SECRETS = ("AKIAEXAMPLE", "s3cr3t", "pa55word", "hunter2", "tok-en-1")

    @pytest.fixture
    def credentials(self) -> PaimonCredentials:
        return load(
            metastore="jdbc",
            uri="jdbc:mysql://ann:hunter2@db/paimon?useSSL=false&password=pa55word",
            warehouse="s3://bucket/wh",
            catalog_options={
                "s3.access-key": "AKIAEXAMPLE",
                "s3.secret-key": "s3cr3t",
                "jdbc.password": "pa55word",
            },
            spark_config={"spark.driver.extraJavaOptions": "-Dmy.token=tok-en-1 -Xss4m"},
            repositories=["https://ann:hunter2@mirror/maven"],
        )

    def test_no_secret_is_shown(self, credentials: PaimonCredentials) -> None:
        shown = [
            repr(credentials),
            str(credentials),
            str(dict(credentials.connection_info(with_aliases=True))),
        ]
        for text in shown:
            assert not [secret for secret in self.SECRETS if secret in text]
            assert MASK in text
        info = dict(credentials.connection_info())
        assert info["catalog_options"]["s3.access-key"] == MASK
        assert info["spark_config"] == {"spark.driver.extraJavaOptions": f"-Dmy.token={MASK} -Xss4m"}
        assert info["uri"] == f"jdbc:mysql://{MASK}@db/paimon?useSSL=false&password={MASK}"

    def test_the_login_to_kafka_is_not_shown(self) -> None:
        login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="kafka-pw";'
        options = {"kafka.sasl.jaas.config": login, "kafka.ssl.key.password": "key-pw", "kafka.x": True}
        target = load(kafka_options=options)
        for text in (
            repr(target),
            str(dict(target.connection_info())),
            blank("a kafka-pw and a key-pw", target.secrets),
        ):
            assert "kafka-pw" not in text and "key-pw" not in text
        assert target.kafka_options == {**options, "kafka.x": "true"}
        (problem,) = problems_of(kafka_options={"bootstrap.servers": "host:9092"})
        assert "did you mean kafka.bootstrap.servers?" in problem

    def test_secrets_are_still_used(self, credentials: PaimonCredentials) -> None:
        assert credentials.catalog_options["s3.secret-key"] == "s3cr3t"
        assert "hunter2" in str(credentials.to_dict())

    @given(
        secret=SECRET,
        before=st.sampled_from(["", "jdbc:mysql://ann:", "jdbc:x:-Da=b -Dx.password=", "jdbc:x:https://h/?token="]),
    )
    def test_no_secret_is_shown_in_any_place(self, secret: str, before: str) -> None:
        after = "@host/db" if before.endswith("ann:") else ""
        shown = load(
            metastore="jdbc",
            uri=f"{before}{secret}{after}" if before else "jdbc:sqlite:x",
            catalog_options={"s3.secret-key": secret},
            spark_config={"spark.hadoop.fs.s3a.secret.key": secret},
        )
        assert secret not in repr(shown)
        assert secret not in blank(f"refused: {secret}, sorry", shown.secrets)

    def test_secrets_are_masked_in_any_text(self, credentials: PaimonCredentials) -> None:
        text = blank("403: the key AKIAEXAMPLE with s3cr3t was refused at https://u:p@host", credentials.secrets)
        assert text == f"403: the key {MASK} with {MASK} was refused at https://{MASK}@host"

    def test_no_secret_in_a_problem(self) -> None:
        problems = problems_of(jars=["https://ann:hunter2@host/a.jar"], catalog_options={"s3.secret-key": ["s3cr3t"]})
        assert "hunter2" not in str(problems)
        assert "s3cr3t" not in str(problems)

    @pytest.mark.parametrize(
        "key",
        [
            "s3.access-key",
            "s3.secret-key",
            "fs.s3a.access.key",
            "fs.oss.accessKeyId",
            "fs.oss.accessKeySecret",
            "fs.azure.account.key.acc.dfs.core.windows.net",
            "jdbc.password",
            "spark.ssl.keyPassword",
            "token",
            "fs.s3a.session.token",
            "header.Proxy-Authorization",
            "header.Cookie",
            "kafka.sasl.oauthbearer.client.assertion",
        ],
    )
    def test_secret_names(self, key: str) -> None:
        assert is_secret(key)

    @pytest.mark.parametrize(
        "key", ["warehouse", "table-default.bucket-key", "primary-key", "s3.endpoint", "jdbc.user"]
    )
    def test_names_that_are_not_secret(self, key: str) -> None:
        assert not is_secret(key)

    def test_text_without_secrets_is_left_alone(self) -> None:
        text = "select * from paimon.a.b where id = 3 -- see https://host/path@v1"
        assert redact_text(text) == text


@pytest.fixture
def dbt_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt.flags.GLOBAL_FLAGS", Namespace(USE_COLORS=False, LOG_CACHE_EVENTS=False))


def load_by_dbt(**target: Any) -> Profile:
    raw = {"target": "dev", "outputs": {"dev": {"type": "paimon", **target}}}
    return Profile.from_raw_profile_info(raw, "lake", ProfileRenderer({}))


@pytest.mark.usefixtures("dbt_flags")
def test_dbt_shows_everything_at_once() -> None:
    """`dbt debug` prints what Profile raises: one message, with the profile and the target."""
    with pytest.raises(DbtProfileError) as error:
        load_by_dbt(schema="a", warehous="/w", thread=2)
    text = str(error.value)
    assert 'profile "lake", target "dev"' in text
    for problem in ("did you mean warehouse?", "did you mean threads?", "warehouse: missing"):
        assert problem in text


@pytest.mark.usefixtures("dbt_flags")
def test_dbt_loads_a_good_profile(tmp_path: Path) -> None:
    profile = load_by_dbt(catalog="lake", schema="a", warehouse=str(tmp_path), threads=3)
    profile.validate()
    assert profile.threads == 3
    target = profile.to_target_dict()
    assert (target["catalog"], target["database"], target["schema"]) == ("lake", "lake", "a")


class TestServers:
    def test_thrift(self) -> None:
        credentials = load(method="thrift", host="h", user="u", auth="LDAP", password="hush-hush")
        assert (credentials.server_port, credentials.address, credentials.is_remote) == (
            10000,
            "h:10000",
            True,
        )
        assert "hush-hush" not in repr(credentials)
        assert blank("it was hush-hush", credentials.secrets) == f"it was {MASK}"

    def test_connect(self) -> None:
        assert load(method="connect", host="h", port=5, token="hush-hush").secrets == ("hush-hush",)
        assert load(method="connect", host="h").server_port == 15002
        assert not load(method="connect").is_remote

    def test_a_servers_own_catalog(self) -> None:
        assert load(method="thrift", host="h", warehouse=None).warehouse is None
        assert problems_of(method="connect", warehouse=None)[0].startswith("warehouse: missing")

    @pytest.mark.parametrize(
        ("profile", "said"),
        [
            ({"host": "h"}, "host: method session does not use it; set method to connect or thrift"),
            ({"method": "session", "port": 1}, "port: method session does not use it"),
            ({"method": "thrift"}, "host: missing"),
            (
                {"method": "connect", "port": 1},
                "port: without host, the target uses the server of `dbt-paimon server`",
            ),
            ({"method": "connect", "host": "h", "password": "x" * 9}, "password: method connect does not use it"),
            ({"method": "thrift", "host": "h", "token": "x" * 9}, "token: method thrift does not use it"),
            ({"method": "thrift", "host": "h", "port": 70000}, "port: 70000 is not a port"),
            ({"method": "thrift", "host": "h", "port": "1"}, "port: '1' is not a port"),
            ({"method": "thrift", "host": "h", "auth": "none"}, "auth: 'none' is not one of"),
            ({"method": "thrift", "host": "h", "auth": "LDAP"}, "password: missing; auth LDAP"),
            ({"method": "thrift", "host": "h", "auth": "KERBEROS"}, "kerberos_service_name: missing"),
            ({"method": "thrift", "host": "h", "use_ssl": "yes"}, "use_ssl: must be true or false"),
            ({"method": "thrift", "host": "h", "jars": ["a.jar"]}, "jars: a server gets its jars"),
            (
                {
                    "method": "connect",
                    "host": "h",
                    "spark_config": {"spark.driver.memory": "1g", "spark.sql.x": 1},
                },
                "spark_config: spark.driver.memory: fixed when a server starts",
            ),
        ],
    )
    def test_problems(self, profile: dict[str, Any], said: str) -> None:
        (problem,) = problems_of(**profile)
        assert problem.startswith(said)
