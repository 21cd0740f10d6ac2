"""The calls that dbt Power User's TypeScript sends to Python with `"dbt.dbtIntegration": "core"`.

`python power_user.py FOLDER`, with the extension's Python on the PYTHONPATH; prints the answers as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from dbt_core_integration import DbtProject, target_path
from dbt_utils import to_dict


def main(folder: str) -> dict[str, Any]:
    """Parse, compile, preview, list columns, check SQL; then switch targets and preview again."""
    project = DbtProject(project_dir=folder, profiles_dir=folder, target_path=target_path(folder))
    project.init_project()
    to_dict(project.safe_parse_project())
    node = to_dict(project.compile_node(project.get_ref_node("large_orders")))
    answers = {
        "compiled": node["compiled_sql"],
        "preview": _preview(project, "select * from {{ ref('orders') }}"),
    }
    answers["limited"] = _preview(project, "select * from {{ ref('orders') }} order by order_id", 1)
    revenue = project.get_ref_node("revenue")
    relation = project.create_relation(revenue.database, revenue.schema, revenue.alias)
    answers["columns"] = [column["column"] for column in to_dict(project.get_columns_in_relation(relation))]
    project.validate_sql_dry_run(answers["compiled"])
    project.set_selected_target("again")
    project.init_project()
    to_dict(project.safe_parse_project())
    answers["after a switch"] = _preview(project, "select * from {{ ref('orders') }}")
    project.cleanup_connections()
    return answers


def _preview(project: Any, sql: str, limit: int = 500) -> list[Any]:
    limited = project.execute_macro("get_show_sql", {"compiled_code": sql, "limit": limit}, sql)
    compiled = to_dict(project.compile_sql(limited, None))["compiled_sql"]
    return to_dict(project.execute_sql(compiled))["table"]["rows"]


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
