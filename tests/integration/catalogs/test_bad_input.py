"""If the catalog cannot be reached or used, dbt soon shows one message with the remedy and no stack trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.factory import reset_adapters
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from integration.catalogs.base import Reader
from integration.services.metastore import metastore
from integration.services.process import LOOPBACK, free_port

# The clients' own timeouts are many minutes. This leaves time for a busy machine.
SECONDS = 120


def run(folder: Path, *arguments: str, when: Callable[[Any], None] = lambda event: None) -> tuple[Any, str, float]:
    """Run dbt. Returns the result, the errors and warnings that a user sees, and the seconds it took."""
    said: list[str] = []

    def listen(event: Any) -> None:
        if event.info.level in ("error", "warn"):
            said.append(event.info.msg)
        when(event)

    places = ["--project-dir", str(folder), "--profiles-dir", str(folder), "--log-path", str(folder / "logs")]
    began = time.monotonic()
    result = dbtRunner(callbacks=[listen]).invoke([*arguments, *places])
    if result.exception is not None:
        said.append(str(result.exception))
    return result, "\n".join(said), time.monotonic() - began


def write(folder: Path, spark_config: dict[str, Any], models: dict[str, str], **target: Any) -> None:
    (folder / "models").mkdir(exist_ok=True)
    (folder / "dbt_project.yml").write_text(
        yaml.safe_dump({"name": "bad", "profile": "bad", "flags": {"send_anonymous_usage_stats": False}})
    )
    output = {
        "type": "paimon",
        "method": "session",
        "schema": "bad",
        "threads": 1,
        "paimon_version": DEFAULT_PAIMON_VERSION,
        "spark_config": spark_config,
    }
    output |= {"warehouse": str(folder / "lake")} | target
    (folder / "profiles.yml").write_text(yaml.safe_dump({"bad": {"target": "here", "outputs": {"here": output}}}))
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql)


@pytest.fixture(autouse=True)
def _no_adapter_is_left() -> Iterator[None]:
    """Reset dbt's adapters; otherwise dbt's fixtures would reuse the adapter of this test."""
    yield
    reset_adapters()


def assert_short(said: str, *parts: str) -> None:
    for part in parts:
        assert part in said
    for trace in ("\tat ", "Traceback", "Py4JJavaError", "o.a.p", "java:"):
        assert trace not in said, said


MODELS = {
    "first": "{{ config(materialized='table') }} select 1 as id, {{ var('step') }} as step",
    "second": """{{ config(materialized='table', primary_key=['id'] if var('step') % 2 else ['id', 'step']) }}
select * from {{ ref('first') }}""",
    "third": """{{ config(materialized='incremental', primary_key='id') }} select id, {{ var('step') }} as step
from {{ ref('first') }} -- after {{ ref('second') }}""",
}


@pytest.fixture(scope="module", autouse=True)
def _spark(spark_config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Start Spark first, so that its start is not timed."""
    open_session(
        Runtime(
            PaimonCredentials(
                paimon_version="0.9.0",
                schema="any",
                warehouse=str(tmp_path_factory.mktemp("lake")),
                spark_config=dict(spark_config),
            )
        )
    )


class TestNotToBeHad:
    """The catalog is unusable from the start, so nothing is built."""

    @pytest.fixture
    def refused(self, tmp_path, spark_config):
        def refused(*parts: str, **target: Any) -> str:
            write(tmp_path, spark_config, {"one": "select 1 as id"}, **target)
            result, said, seconds = run(tmp_path, "run")
            assert not result.success
            assert_short(said, *parts)
            assert seconds < SECONDS
            return said

        return refused

    def test_metastore_that_is_not_there(self, refused):
        port = free_port()
        refused(
            f"the Hive metastore does not answer at {LOOPBACK}:{port} (Connection refused)",
            "correct `uri`",
            metastore="hive",
            uri=f"thrift://{LOOPBACK}:{port}",
        )

    def test_no_metastore_at_that_address(self, refused, postgresql):
        port = postgresql.uri.rsplit(":", 1)[1].split("/")[0]
        refused("uri", "Hive metastore", metastore="hive", uri=f"thrift://{LOOPBACK}:{port}")

    def test_postgresql_that_is_not_there(self, refused):
        uri = f"jdbc:postgresql://{LOOPBACK}:{free_port()}/db"
        refused("refused", "`uri`", metastore="jdbc", uri=uri)

    def test_wrong_password(self, refused, postgresql):
        options = {"jdbc.user": postgresql.user, "jdbc.password": "not this one"}
        said = refused(
            f'password authentication failed for user "{postgresql.user}"',
            "jdbc.password",
            metastore="jdbc",
            uri=postgresql.uri,
            catalog_options=options,
        )
        assert "not this one" not in said

    def test_no_such_database(self, refused, postgresql):
        refused(
            'database "nowhere" does not exist',
            "`uri`",
            metastore="jdbc",
            uri=postgresql.uri.replace("/postgres", "/nowhere"),
            catalog_options={"jdbc.user": postgresql.user, "jdbc.password": postgresql.password},
        )

    def test_no_such_folder(self, refused, tmp_path):
        refused("nowhere", "`uri`", metastore="jdbc", uri=f"jdbc:sqlite:{tmp_path}/nowhere/catalog.db")

    def test_missing_driver(self, refused):
        refused("jdbc:oracle", "`packages`", "`jars`", metastore="jdbc", uri="jdbc:oracle:thin:@//h:1521/db")

    def test_rest(self, refused, connector):
        if connector.major > 0:
            pytest.skip("this Paimon has REST catalogs")
        refused(
            "metastore=rest: REST catalogs: needs Paimon >= 1.0, this is 0.9.0",
            "paimon_version",
            metastore="rest",
            uri="http://localhost:8080",
            warehouse="lake",
        )

    def test_debug_shows_the_message(self, tmp_path, spark_config):
        uri = f"thrift://{LOOPBACK}:{free_port()}"
        write(tmp_path, spark_config, {}, metastore="hive", uri=uri)
        printed: list[str] = []
        result, said, seconds = run(tmp_path, "debug", when=lambda event: printed.append(event.info.msg))
        assert not result.success
        assert seconds < SECONDS
        assert any(uri.removeprefix("thrift://") in text for text in printed)
        assert "Traceback" not in said


@pytest.mark.full
class TestMetastoreGoesAway:
    """The metastore stops during a run: the next model soon fails, old rows stay, and the next run succeeds."""

    def test_run(self, tmp_path, spark_config):
        folder, port = tmp_path / "metastore", free_port()
        target = {
            "metastore": "hive",
            "uri": f"thrift://{LOOPBACK}:{port}",
            "warehouse": str(folder / "warehouse"),
        }
        write(tmp_path, spark_config, MODELS, **target)

        def state() -> list[Any]:
            reader = Reader(target | {"schema": "bad", "spark_config": spark_config})
            assert reader.tables() == set(MODELS)
            return [reader.state(table) for table in MODELS]

        with metastore(folder, port):
            assert run(tmp_path, "run", "--vars", "{step: 1}")[0].success
            assert state() == [[(1, 1)]] * 3
        service = metastore(folder, port)
        service.__enter__()
        gone: list[float] = []

        def go_away(event: Any) -> None:
            if event.info.name == "LogModelResult" and not gone:
                service.__exit__(None, None, None)
                gone.append(time.monotonic())

        result, said, _ = run(tmp_path, "run", "--vars", "{step: 2}", when=go_away)
        assert gone
        assert time.monotonic() - gone[0] < SECONDS
        assert {r.node.name: str(r.status) for r in result.result.results} == {
            "first": "success",
            "second": "error",
            "third": "skipped",
        }
        assert_short(said, "metastore", target["uri"].removeprefix("thrift://"))
        with metastore(folder, port):
            assert state() == [[(1, 2)], [(1, 1)], [(1, 1)]]
            assert run(tmp_path, "run", "--vars", "{step: 2}")[0].success
            assert state() == [[(1, 2)]] * 3
