"""The YAML of a streamed source: what is valid, and one message with all its problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.streaming.descriptions import Description, SourceColumn, describe

ROOT = Path("/project")
TYPES = {
    "bigint",
    "string",
    "decimal(10,2)",
    "map<int,string>",
    "array<int>",
    "void",
    "struct<d:interval day>",
}
ID = {"id": {"name": "id", "data_type": "BIGINT"}}


def type_of(text: str) -> str:
    if text.lower() not in TYPES:
        raise ValueError(text)
    return text.lower()


def described(of_model: dict[str, Any] | None = None, columns: Any = ID, **external: Any) -> Description:
    # dbt adds its own keys to every `external`, with the value None.
    node = {
        "source_name": "a",
        "name": "b",
        "columns": columns,
        "external": {"file_format": None, **external},
    }
    return describe(node, ROOT, type_of, of_model)


def problems(columns: Any = ID, **external: Any) -> list[str]:
    with pytest.raises(DbtRuntimeError) as error:
        described(columns=columns, **external)
    first, *listed = error.value.msg.split("\n  - ")
    assert first == "source 'a.b' cannot be streamed as its YAML describes it:"
    return listed


class TestDescription:
    def test_of_a_topic(self) -> None:
        columns = {**ID, "s": {"name": "s", "data_type": "string", "constraints": [{"type": "not_null"}]}}
        found = described(
            using="kafka",
            location=" one, two ",
            columns=columns,
            options={"failOnDataLoss": False, "minPartitions": 2},
        )
        assert found == Description(
            "a.b",
            "kafka",
            "one,two",
            "json",
            {"failOnDataLoss": "false", "minPartitions": "2"},
            (SourceColumn("id", "bigint"), SourceColumn("s", "string", nullable=False)),
        )
        assert found.topics == ("one", "two")

    @pytest.mark.parametrize(
        ("location", "folder"),
        [
            ("landing/a", "/project/landing/a"),
            ("/data/a", "/data/a"),
            ("file:/data/a", "file:/data/a"),
            ("s3a://bucket/a", "s3a://bucket/a"),
        ],
    )
    def test_of_a_folder(self, location: str, folder: str) -> None:
        assert described(using="csv", location=location).location == folder

    def test_options_of_a_model_win(self) -> None:
        found = described({"maxfilespertrigger": 1}, using="json", location="a", options={"maxFilesPerTrigger": 9})
        assert found.options == {"maxfilespertrigger": "1"}

    def test_parquet_needs_no_columns(self) -> None:
        assert described(using="parquet", location="a", columns={}).columns == ()


class TestProblems:
    def test_all_of_them_at_once(self) -> None:
        columns = {
            "id": {"name": "id", "data_type": "text"},
            "ID": {"name": "ID", "data_type": "bigint"},
            "x": {"name": "x"},
            "_key": {"name": "_key", "data_type": "string"},
        }
        found = problems(
            columns,
            using="kafka",
            locatoin="t",
            location="broker:9092",
            value_format="jsn",
            file_format="x",
            options={
                "maxOffsetPerTrigger": 1,
                "subscribe": "t",
                "kafka.any.thing": 1,
                "kafka.ssl.key.password": "s3cr3t",
                "bootstrap.servers": "h:1",
            },
        )
        for text in (
            "external.file_format: not a key of a streamed source",
            "external.locatoin: not a key of a streamed source; did you mean location?",
            "external.location: 'broker:9092' is not the name of a topic",
            "external.value_format: 'jsn' is not one of json, debezium; did you mean json?",
            "external.options.maxOffsetPerTrigger: not an option of Spark's kafka reader; did you mean maxOffsetsPerTrigger?",
            "external.options.subscribe: set by the adapter itself",
            "external.options.kafka.ssl.key.password: manifest.json contains it",
            "external.options.bootstrap.servers: not an option of Spark's kafka reader; did you mean kafka.bootstrap",
            "columns: id: 'text' is not a data type that messages can have; did you mean string?",
            "columns: id and ID are the same name to Spark",
            "columns: x: data_type is missing",
            "columns: _key: rows already have a metadata column of this name",
        ):
            assert any(problem.startswith(text) for problem in found), (text, found)
        assert len(found) == 12
        assert not any("s3cr3t" in problem for problem in found)

    @pytest.mark.parametrize(
        ("data_type", "using", "problem"),
        [
            ("map<int,string>", "json", "JSON keys are strings"),
            ("array<int>", "csv", "a CSV file cannot hold array<int>"),
            ("void", "json", "is not a data type that messages can have"),
            ("struct<d:interval day>", "json", "interval day within"),
        ],
    )
    def test_types(self, data_type: str, using: str, problem: str) -> None:
        columns = {"c": {"name": "c", "data_type": data_type}}
        (found,) = problems(columns, using=using, location="a")
        assert problem in found

    @pytest.mark.parametrize(
        ("external", "problem"),
        [
            ({"location": "a"}, "external.using: missing"),
            ({"using": "kafak", "location": "a"}, "did you mean kafka?"),
            ({"using": "json"}, "external.location: missing; write the folder"),
            ({"using": "csv", "location": "a", "value_format": "json"}, "csv has no value_format"),
            ({"using": "json", "location": "a", "options": {"multiLine": True}}, "one JSON object per line"),
            ({"using": "json", "location": "a", "options": []}, "external.options: must be a mapping"),
        ],
    )
    def test_keys(self, external: dict[str, Any], problem: str) -> None:
        assert any(problem in each for each in problems(**external))

    @pytest.mark.parametrize(
        ("using", "name", "value"),
        [
            ("json", "sourceArchiveDir", "abfss://archive@account.dfs.core.windows.net/done"),
            ("kafka", "kafka.sasl.oauthbearer.token.endpoint.url", "https://host/token"),
            ("kafka", "kafka.ssl.keystore.location", "/etc/keystore.jks"),
        ],
    )
    def test_options_that_are_no_secret(self, using: str, name: str, value: str) -> None:
        assert described(using=using, location="a", options={name: value}).options == {name: value}

    def test_columns_are_missing(self) -> None:
        assert problems({}, using="json", location="a") == [
            "columns: missing; list the name and data_type of each column"
        ]
