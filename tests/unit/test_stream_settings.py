"""The config of a streaming model, whether a checkpoint fits it, and whether a batch is already written."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from dbt_common.exceptions import DbtRuntimeError
from tests.unit.specs import stream_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.version_numbers import parse_version
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.streaming import checkpoints, commits
from dbt.adapters.paimon.streaming.api import Streams
from dbt.adapters.paimon.streaming.inputs import StreamCall
from dbt.adapters.paimon.streaming.settings import StreamSettings
from dbt.adapters.paimon.streaming.sources import kinds

ENVIRONMENT = Versions(parse_version("0.9.0"), parse_version("3.5.7"), "filesystem")


def test_config_that_is_not_read_is_warned_about_if_the_project_says_so(monkeypatch):
    told: list[str] = []
    adapter = MagicMock(versions=ENVIRONMENT)
    adapter.defaults.warn_ignored_config = told.append
    monkeypatch.setattr(Specs, "check_node", lambda *_: None)
    streams = Streams(adapter, Specs(adapter), *[MagicMock()] * 4)
    with pytest.raises(DbtRuntimeError, match="a stream runs in dbt's own Spark"):
        streams.spec({"name": "m", "config": {"materialized": "streaming", "on_schema_change": "sync"}})
    assert [text.startswith("model 'm': on_schema_change='sync'") for text in told] == [True]


def plan(**config: Any) -> tuple[str, StreamSettings]:
    spec = stream_spec(config, model="m", versions=ENVIRONMENT)
    return spec.strategy, spec.settings


def test_defaults():
    assert plan() == ("append", StreamSettings("10 seconds", "", "dead_letter"))
    assert plan(primary_key="id")[0] == "upsert"


@pytest.mark.parametrize("interval", ["1 second", "1.5 seconds", "500 milliseconds", "2 HOURS"])
def test_intervals(interval):
    assert plan(processing_time=interval)[1].processing_time == interval


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"processing_time": "soon"}, ["processing_time='soon'", "10 seconds"]),
        ({"processing_time": "1.5 minutes"}, ["processing_time='1.5 minutes'"]),
        ({"processing_time": "10seconds"}, ["processing_time='10seconds'"]),
        ({"on_bad_message": "ignore"}, ["on_bad_message='ignore'", "dead_letter", "fail"]),
        (
            {"incremental_strategy": "insert_overwrite", "partition_by": "d"},
            ["insert_overwrite", "one batch at a time"],
        ),
        ({"incremental_strategy": "microbatch", "partition_by": "d"}, ["microbatch", "'append'"]),
        ({"incremental_strategy": "my_own"}, ["my_own", "'upsert'"]),
        ({"wap": True}, ["wap"]),
        ({"bucket": "many", "processing_time": 0}, ["bucket", "'many'"]),
    ],
)
def test_refused(config, named):
    with pytest.raises(ConfigErrors) as raised:
        plan(**config)
    for text in named:
        assert text in str(raised.value)


class TestWhoseCheckpoint:
    NOTE = checkpoints.Note("model.p.m", ({"topic": "a"}, {"topic": "b"}))

    def test_the_checkpoint_fits(self):
        checkpoints.check_fits(self.NOTE, "model.p.m", [{"topic": "a"}, {"topic": "b"}], "/c")

    @pytest.mark.parametrize("now", [{"topic": "a", checkpoints.TOPIC_IDS: "a=2"}, {"topic": "a"}])
    def test_unknown_topic_ids(self, now):
        known = {"topic": "a", checkpoints.TOPIC_IDS: "a=2"} if len(now) == 1 else {"topic": "a"}
        checkpoints.check_fits(checkpoints.Note("model.p.m", (known,)), "model.p.m", [now], "/c")

    def test_where_a_stream_began(self):
        began = {"table": "s.t", "from": "from-snapshot 3"}
        checkpoints.check_fits(checkpoints.Note("model.p.m", (began,)), "model.p.m", [{"table": "s.t"}], "/c")
        both = checkpoints.Note("model.p.m", (began, {"table": "s.t"}))
        other = [{"table": "s.t", "from": "from-snapshot 4"}, {"table": "s.t"}]
        with pytest.raises(DbtRuntimeError, match="from from-snapshot 4 was added"):
            checkpoints.check_fits(both, "model.p.m", other, "/c")

    def test_another_topic_with_the_same_name(self):
        was, now = ({"topic": "a", checkpoints.TOPIC_IDS: f"a={number}"} for number in (1, 2))
        with pytest.raises(DbtRuntimeError, match="a=2 was added, topic a, topic ids a=1 was removed"):
            checkpoints.check_fits(checkpoints.Note("model.p.m", (was,)), "model.p.m", [now], "/c")

    @pytest.mark.parametrize(
        ("model", "inputs", "named"),
        [
            ("model.p.other", [{"topic": "a"}, {"topic": "b"}], ["model.p.m", "an alias", "into /c/dbt.json"]),
            ("model.p.m", [{"topic": "a"}], ["topic b", "--full-refresh"]),
            ("model.p.m", [{"topic": "a"}, {"topic": "c"}], ["topic c", "topic b", "--full-refresh"]),
        ],
    )
    def test_the_checkpoint_does_not_fit(self, model, inputs, named):
        with pytest.raises(DbtRuntimeError) as raised:
            checkpoints.check_fits(self.NOTE, model, inputs, "/c")
        for text in named:
            assert text in str(raised.value)


class TestFittingNote:
    """Whether a checkpoint that began with `model.p.old` and ends with batch 4 continues model `model.p.new`."""

    @staticmethod
    def fitting(*nodes: str, before: str = "model.p.old", user: str = "dbts-s.4_uuid") -> str:
        """The model in the checkpoint's note; `nodes` are in the project, and `user` made the newest commit."""
        adapter, checkpoint = MagicMock(), MagicMock(location="/c")
        adapter.get_macro_resolver.return_value = MagicMock(nodes=dict.fromkeys(nodes), disabled={})
        adapter.query.return_value = [(7, "APPEND", user, 1, 1, 0, 0, 0, 0)]
        checkpoint.note.return_value = checkpoints.Note(before)
        checkpoint.last_begun.return_value = 4
        streams = Streams(adapter, *[MagicMock()] * 5)
        stream = MagicMock(id="s", inputs=())
        return streams._fitting_note({"unique_id": "model.p.new"}, MagicMock(), stream, checkpoint).model

    def test_a_renamed_model(self):
        assert self.fitting("model.p.new") == "model.p.new"

    @pytest.mark.parametrize("before", ["model.p.old", "model.q.old"])
    def test_another_model(self, before):
        with pytest.raises(DbtRuntimeError, match="an alias or a schema of its own"):
            self.fitting("model.p.new", "model.p.old", before=before)

    def test_a_checkpoint_older_than_the_table(self):
        assert self.fitting("model.p.new", user="dbts-other.9_uuid") == "model.p.new"
        with pytest.raises(DbtRuntimeError, match=r"ends with batch 4, but .* has batch 10"):
            self.fitting("model.p.new", user="dbts-s.10_uuid")


class TestIsWritten:
    OURS = Commit(9, "APPEND", "dbts-s.3_uuid", age=10)

    @staticmethod
    def is_written(*found: Commit, may_repeat: bool = False) -> bool:
        """Whether batch 3 of stream s, which began 1000 seconds ago, is in the table."""
        return commits.is_written(found, "s", 3, 1000, table="t", may_repeat=may_repeat)

    def test_a_commit_of_the_batch(self):
        assert self.is_written(Commit(8, "APPEND", "other", age=20), self.OURS)

    def test_no_sign_of_a_written_batch(self):
        assert not self.is_written()
        assert not self.is_written(Commit(1, "APPEND", "dbts-s.2_uuid", age=20))
        assert not self.is_written(Commit(8, "APPEND", "dbts-t.3_uuid", age=2000))

    def test_a_commit_of_an_earlier_batch_has_not_expired(self):
        """Snapshots expire soon, and the stream was killed shortly after its last batch."""
        earlier, other = Commit(8, "APPEND", "dbts-s.2_uuid", age=20), Commit(9, "COMPACT", "other", age=10)
        assert not self.is_written(earlier, other)
        with pytest.raises(DbtRuntimeError, match="unknown whether batch 3 is in t"):
            self.is_written(Commit(8, "APPEND", "dbts-t.2_uuid", age=20), other)

    def test_what_may_be_written_twice(self):
        assert not self.is_written(Commit(8, "APPEND", "other", age=20), may_repeat=True)

    def test_snapshots_since_then_have_expired(self):
        with pytest.raises(DbtRuntimeError, match="unknown whether batch 3 is in t"):
            self.is_written(Commit(8, "APPEND", "other", age=20))


def _call(external: dict[str, Any] | None = None, **arguments: Any) -> StreamCall:
    return StreamCall("", "lake", "raw", "t", source={"external": external} if external else {}, **arguments)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (_call(), False),
        (_call(options={"consumer-id": "me"}), False),
        (_call(scan_mode="full"), True),
        (_call(options={"scan.timestamp": "2026-01-31"}), True),
        (_call({"using": "kafka"}), False),
        (_call({"using": "kafka", "options": {"maxOffsetsPerTrigger": 5}}), False),
        (_call({"using": "kafka", "options": {"startingOffsets": "latest"}}), True),
        (_call({"using": "kafka"}, options={"startingTimestamp": "1000"}), True),
        (_call({"using": "json", "location": "landing"}), True),
    ],
)
def test_where_a_stream_begins(call: StreamCall, says: bool) -> None:
    """Whether the user set where the stream begins; this matters if the table already has rows."""
    assert kinds.has_beginning(call) is says
