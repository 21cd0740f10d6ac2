"""dbt's own suite: materialized views."""

from __future__ import annotations

from typing import Any

from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
    MaterializedViewChangesContinueMixin,
    MaterializedViewChangesFailMixin,
)
from dbt.tests.util import get_connection, get_model_file, run_dbt, set_model_file

# dbt sees a materialized view as a table; this option marks it.
MARK = "dbt.materialized-view"


def options(project: Any, relation: Any) -> dict[str, str]:
    name = f"`{relation.database}`.`{relation.schema}`.`{relation.identifier}$options`"
    return dict(project.run_sql(f"select key, value from {name}", fetch="all"))


def relation_type(project: Any, relation: Any) -> str | None:
    with get_connection(project.adapter):
        # dbt's cache does not know what the test's own statements have changed.
        project.adapter.cache.clear()
        found = project.adapter.get_relation(relation.database, relation.schema, relation.identifier)
    if found is None:
        return None
    return "materialized_view" if found.is_table and MARK in options(project, found) else str(found.type)


class TestMaterializedViewBasic(MaterializedViewBasic):
    @staticmethod
    def insert_record(project: Any, table: Any, record: tuple[int, int]) -> None:
        project.run_sql(f"insert into {table} values {record}")

    @staticmethod
    def refresh_materialized_view(project: Any, materialized_view: Any) -> None:
        run_dbt(["run", "--models", materialized_view.identifier])

    @staticmethod
    def query_row_count(project: Any, relation: Any) -> int:
        return int(project.run_sql(f"select count(*) from {relation}", fetch="one")[0])

    @staticmethod
    def query_relation_type(project: Any, relation: Any) -> str | None:
        return relation_type(project, relation)


class Changes(MaterializedViewChanges):
    @staticmethod
    def check_start_state(project: Any, materialized_view: Any) -> None:
        found = options(project, materialized_view)
        assert "snapshot.num-retained.min" not in found
        assert "bucket" not in found

    @staticmethod
    def change_config_via_alter(project: Any, materialized_view: Any) -> None:
        config = "materialized='materialized_view', tblproperties={'snapshot.num-retained.min': 5}"
        model = get_model_file(project, materialized_view)
        set_model_file(project, materialized_view, model.replace("materialized='materialized_view'", config))

    @staticmethod
    def check_state_alter_change_is_applied(project: Any, materialized_view: Any) -> None:
        assert options(project, materialized_view)["snapshot.num-retained.min"] == "5"

    @staticmethod
    def change_config_via_replace(project: Any, materialized_view: Any) -> None:
        config = "materialized='materialized_view', bucket=2, bucket_key='id', on_rebuild='drop_history'"
        model = get_model_file(project, materialized_view)
        set_model_file(project, materialized_view, model.replace("materialized='materialized_view'", config))

    @staticmethod
    def check_state_replace_change_is_applied(project: Any, materialized_view: Any) -> None:
        assert options(project, materialized_view)["bucket"] == "2"

    @staticmethod
    def query_relation_type(project: Any, relation: Any) -> str | None:
        return relation_type(project, relation)


class TestMaterializedViewChangesApply(Changes, MaterializedViewChangesApplyMixin):
    pass


class TestMaterializedViewChangesContinue(Changes, MaterializedViewChangesContinueMixin):
    pass


class TestMaterializedViewChangesFail(Changes, MaterializedViewChangesFailMixin):
    pass
