"""The parts of message inputs that need no Spark; functional/streaming/test_messages.py tests the resulting rows."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.streaming.descriptions import Description, SourceColumn
from dbt.adapters.paimon.streaming.formats.messages import JsonMessages
from dbt.adapters.paimon.streaming.inputs import StreamCall
from dbt.adapters.paimon.streaming.sources.kafka import BOOTSTRAP_SERVERS, KafkaInput

JSON = JsonMessages((SourceColumn("id", "bigint"),))
TOPIC = Description("a.b", "kafka", "flights", "json", {"startingoffsets": "latest"}, JSON.columns)
CALL = StreamCall("v", "paimon", "a", "b")


def kafka(**options: str) -> KafkaInput:
    return KafkaInput.of(CALL, TOPIC, {BOOTSTRAP_SERVERS: "host:9092", **options}, JSON)


class TestJsonMessages:
    def test_further_columns(self) -> None:
        grown = JSON.with_columns({"id": "string", "new": "double"})
        assert [(column.name, column.data_type) for column in grown.columns] == [
            ("id", "bigint"),
            ("new", "double"),
        ]
        assert JSON.with_columns({"ID": "string"}).columns == JSON.columns
        assert "`new`" in grown.rows_sql("raw", ["_key"]) and "`new`" not in JSON.rows_sql("raw", ["_key"])


class TestKafkaInput:
    def test_options_of_the_source_win_whatever_their_case(self) -> None:
        options = kafka(startingOffsets="x").options
        assert options["startingoffsets"] == "latest"
        assert options["failOnDataLoss"] == "true"

    def test_the_brokers_may_move(self) -> None:
        assert kafka().identity == kafka(**{BOOTSTRAP_SERVERS: "other:9092"}).identity

    def test_no_broker(self) -> None:
        with pytest.raises(DbtRuntimeError, match=r"source 'a\.b': no broker is set\. Add kafka_options"):
            KafkaInput.of(CALL, TOPIC, {}, JSON)

    @pytest.mark.parametrize(
        ("latest", "end", "lag"),
        [
            ({"flights": {"0": 10, "1": 5}}, {"flights": {"0": 7, "1": 5}}, 3),
            ('{"flights": {"0": 10, "1": 5}}', '{"flights": {"0": 7}}', 8),
            (None, '{"flights": {"0": 7}}', None),
        ],
    )
    def test_lag(self, latest: object, end: object, lag: int | None) -> None:
        progress = {"latestOffset": latest, "endOffset": end}
        assert kafka().lag(None, progress) == lag  # type: ignore[arg-type]
