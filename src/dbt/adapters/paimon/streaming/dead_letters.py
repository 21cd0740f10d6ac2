"""The table `<model>__dead_letters`: messages that a streaming model could not parse."""

from __future__ import annotations

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.helper_names import DEAD_LETTERS_SUFFIX
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.tables import option_sql
from dbt.adapters.paimon.streaming.inputs import FAULT_COLUMNS


def dead_letters_of(target: PaimonRelation) -> PaimonRelation:
    """The dead letters table of the stream that writes `target`."""
    beside: PaimonRelation = target.incorporate(
        path={"identifier": f"{target.identifier}{DEAD_LETTERS_SUFFIX}"}, type="table"
    )
    return beside


def create_sql(table: str, model: str) -> str:
    """CREATE TABLE IF NOT EXISTS for the table `table`; the table's comment names the model."""
    columns = ",\n  ".join(f"{quoted(name)} {data_type}" for name, data_type in FAULT_COLUMNS)
    return (
        f"create table if not exists {table} (\n"
        f"  source string,\n  {columns},\n"
        "  stream_id string,\n  batch_id bigint,\n  recorded_at timestamp\n"
        ") using paimon\n"
        f"comment {string_literal(f'Messages that {model} could not read: why, where they were, and what they were')}\n"
        f"tblproperties ({option_sql(Kind.DEAD_LETTERS)})"
    )
