"""A streaming read in Flink sees each change that dbt writes: inserts, updates (old and new row) and deletes."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import Session

pytestmark = pytest.mark.full

# The second run updates 1, deletes 2 and inserts 3.
CHANGES = """
{% if var('step', 1) == 1 %}
select * from values (1L, 10L, '+I'), (2L, 20L, '+I') as t(id, v, kind)
{% else %}
select * from values BEFORE(1L, 11L, '+U'), (2L, 20L, '-D'), (3L, 30L, '+I') as t(id, v, kind)
{% endif %}
"""
CONFIG = "materialized='incremental', primary_key='id', bucket=1, rowkind_field='kind', changelog_producer='%s'"
BEFORE = "(1L, 10L, '-U'), "
AT_FIRST = [("+I", 1, 10), ("+I", 2, 20)]
AFTERWARDS = [("+I", 3, 30), ("+U", 1, 11), ("-D", 2, 20), ("-U", 1, 10)]


def model(producer: str) -> str:
    config = CONFIG % producer
    if producer == "full-compaction":
        config += ', post_hook="{{ compact(this) }}"'
    # The changelog of `input` is the input itself, so the input needs the old row.
    before = BEFORE if producer == "input" else ""
    return f"{{{{ config({config}) }}}}{CHANGES.replace('BEFORE', before)}"


class TestChangelog:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            f"of_{producer.replace('-', '_')}.sql": model(producer)
            for producer in ("none", "input", "lookup", "full-compaction")
        }

    @pytest.mark.parametrize("name", ["of_none", "of_input", "of_lookup", "of_full_compaction"])
    def test_row_kinds(self, project: Any, flink: Session, name: str) -> None:
        run_dbt(["run", "--select", name])
        with flink.reading(f"select id, v from {{schema}}.{name}") as reader:
            assert sorted(reader.take(2)) == AT_FIRST
            run_dbt(["run", "--select", name, "--vars", "step: 2"])
            assert sorted(reader.take(6)[2:]) == AFTERWARDS
