"""The parts of `dbt-paimon diff` that need no Spark: how a side is parsed, and which partitions are read."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_paimon.diff import sides
from dbt_paimon.diff.command import _deferred
from dbt_paimon.diff.findings import Difference, Sample
from dbt_paimon.diff.sides import Kind, Side
from dbt_paimon.diff.statements import Compared, of_partitions


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("now", Side(Kind.NOW)),
        ("previous", Side(Kind.PREVIOUS)),
        ("tag:a", Side(Kind.TAG, "a")),
        ("timestamp:2026-01-31 10:00:00", Side(Kind.TIMESTAMP, "2026-01-31 10:00:00")),
        ("table:c.s.t", Side(Kind.TABLE, "c.s.t")),
    ],
)
def test_a_side(text, side):
    assert sides.read("--from", text) == side
    assert str(side) == text


@pytest.mark.parametrize("before", ["target:prod", "state"])
def test_two_sides_in_other_manifests_are_refused(before):
    with pytest.raises(DbtRuntimeError, match="only one of the two can be in another manifest"):
        _deferred({}, sides.read("--from", before), Side(Kind.TARGET, "staging"), "state", "folder")


@pytest.mark.parametrize("text", ["", "tag", "tag:", "now:1", "tags:a", "main"])
def test_not_a_side(text):
    with pytest.raises(DbtRuntimeError, match=r"Use one of now, previous, snapshot:…"):
        sides.read("--from", text)


@pytest.mark.parametrize(
    ("texts", "columns", "condition"),
    [
        (["{2024-01-02}"], {"day": "date"}, "((`day` = date '2024-01-02'))"),
        (["[a, 1]", "[b, 2]"], {"p": "string", "n": "int"}, "((`p` = 'a' and `n` = 1) or (`p` = 'b' and `n` = 2))"),
        (["{TRUE}"], {"b": "boolean"}, "((`b` = true))"),
        ([], {"p": "string"}, "false"),
        (["[15736]"], {"day": "date"}, "((`day` = date '2013-01-31'))"),
        (["{a, b}"], {"p": "string"}, "((`p` = 'a, b'))"),
        (["{a, b, c}"], {"p": "string", "q": "string"}, None),
        (["{null}"], {"p": "string"}, None),
        (["{1.5}"], {"p": "double"}, None),
    ],
)  # fmt: skip
def test_the_partitions_that_are_read(texts, columns, condition):
    assert of_partitions(texts, columns) == condition


@pytest.mark.parametrize(
    ("kind", "comparable"),
    [("int", True), ("map<string,int>", True), ("array<map<string,int>>", False), ("map<string,map<int,int>>", False),
     ("variant", False), ("struct<a:variant>", False), ("struct<a:int>", True), ("struct<variant:int,variant_id:int>", True)],
)  # fmt: skip
def test_columns_that_can_be_compared(kind, comparable):
    assert Compared("a", "a", kind, kind).is_comparable is comparable


def test_text_is_escaped_in_markdown():
    found = Difference("model.a.b", "s.b", "tag:a", "now", added=1, schema=("adds <b>|x",), read="1 file")
    lines = list(found.markdown())
    assert "- adds &lt;b>\\|x" in lines
    assert not found.is_empty


def test_json_leaves_out_what_is_empty():
    sample = Sample("gone", {"id": "1"}, {"v": "2"})
    found = Difference("model.a.b", "s.b", "tag:a", "now", gone=1, samples=(sample,))
    assert found.as_dict()["samples"] == ({"kind": "gone", "key": {"id": "1"}, "before": {"v": "2"}, "after": {}},)
    assert "options" not in found.as_dict()
