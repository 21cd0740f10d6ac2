"""generate_sources and generate_model_yaml write YAML that dbt can read and that describes the tables."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from dbt.tests.util import get_manifest, run_dbt, run_dbt_and_capture

# Strings with characters that are special in YAML, Jinja or SQL.
TEXTS = [
    'it\'s "quoted": yes # no comment',
    "{{ not_jinja }} {% nor this %} {# nor that #} {{{",
    "two\nlines \\ and a `tick`",
    "- ünï 表 🛫",
    "null",
]
TABLES = {
    "plain": "(id bigint, word string)",
    "keyed": "(`day` string not null, id int not null, amount decimal(20,4), code varchar(3), at timestamp_ntz) "
    "using paimon partitioned by (`day`) tblproperties ('primary-key' = 'day,id', 'bucket' = '1')",
    "odd": "(`a b` int comment 'x', `true` int, `1` int, `ä:` array<struct<a:int,b:map<string,double>>>)",
}


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


class TestGenerateSources:
    @pytest.fixture(scope="class")
    def models(self):
        return {"one.sql": "select 1 as id"}

    @pytest.fixture(scope="class", autouse=True)
    def tables(self, project, rows):
        for name, ddl in TABLES.items():
            rows(f"create table {{schema}}.{name} {ddl if 'using' in ddl else ddl + ' using paimon'}")
        columns = ", ".join(
            f"c{index} int comment {literal(text)}".replace("{", "{{").replace("}", "}}")
            for index, text in enumerate(TEXTS)
        )
        comment = literal(TEXTS[1]).replace("{", "{{").replace("}", "}}")
        rows(f"create table {{schema}}.commented ({columns}) using paimon comment {comment}")
        rows("insert into {schema}.plain values (1, 'a')")
        run_dbt(["run"])  # a view: `one`

    def generated(self, project, file, **arguments) -> tuple[dict, Path]:
        path = Path(project.project_root, "models", file)
        run_dbt(["run-operation", "generate_sources", "--args", str({"path": f"models/{file}", **arguments})])
        return yaml.safe_load(path.read_text(encoding="utf-8")), path

    def test_own_schema(self, project, rows):
        content, path = self.generated(project, "own.yml", name="own", exclude="\\_dbt%")
        (source,) = content["sources"]
        assert {"name": "own", "schema": project.test_schema} == {k: v for k, v in source.items() if k != "tables"}
        tables = {table["name"]: table for table in source["tables"]}
        assert list(tables) == ["commented", "keyed", "odd", "one", "plain"]
        assert tables["plain"] == {
            "name": "plain",
            "columns": [{"name": "id", "data_type": "bigint"}, {"name": "word", "data_type": "string"}],
        }
        assert tables["keyed"] == {
            "name": "keyed",
            "config": {"meta": {"primary_key": ["day", "id"], "partition_by": ["day"]}},
            "columns": [
                {
                    "name": name,
                    "data_type": data_type,
                    "constraints": [{"type": "not_null"}, {"type": "primary_key"}],
                }
                for name, data_type in (("day", "string"), ("id", "int"))
            ]
            + [
                {"name": "amount", "data_type": "decimal(20,4)"},
                {"name": "code", "data_type": "varchar(3)"},
                {"name": "at", "data_type": "timestamp_ntz"},
            ],
        }
        # dbt can read the file, and finds the same names and comments.
        (Path(project.project_root) / "models" / "reads.sql").write_text(
            "{{ config(materialized='table') }} select id, word from {{ source('own', 'plain') }}"
        )
        run_dbt(["run", "--select", "reads"])
        assert rows("select * from {schema}.reads") == [(1, "a")]
        nodes = {node.name: node for node in get_manifest(project.project_root).sources.values()}
        assert [nodes["commented"].columns[f"c{index}"].description for index in range(len(TEXTS))] == TEXTS
        assert nodes["commented"].description == TEXTS[1]
        assert nodes["keyed"].config.meta["primary_key"] == ["day", "id"]
        odd = nodes["odd"].columns
        assert {name: column.data_type for name, column in odd.items()} == {
            "a b": "int",
            "true": "int",
            "1": "int",
            "ä:": "array<struct<a:int,b:map<string,double>>>",
        }
        assert odd["a b"].quote
        path.unlink()
        Path(project.project_root, "models", "reads.sql").unlink()

    def test_another_catalog(self, project, rows):
        rows("create database if not exists spark_catalog.elsewhere")
        rows("create table spark_catalog.elsewhere.facts (id int comment 'the key', n double) using parquet")
        try:
            content, path = self.generated(project, "other.yml", database_name="spark_catalog", schema_name="elsewhere")
            path.unlink()
        finally:
            rows("drop database spark_catalog.elsewhere cascade")
        assert content["sources"] == [
            {
                "name": "elsewhere",
                "database": "spark_catalog",
                "tables": [
                    {
                        "name": "facts",
                        "columns": [
                            {"name": "id", "data_type": "int", "description": "the key"},
                            {"name": "n", "data_type": "double"},
                        ],
                    }
                ],
            }
        ]

    def test_printed(self, project, capsys):
        arguments = {"table_names": ["plain"], "generate_columns": False}
        run_dbt(["--quiet", "run-operation", "generate_sources", "--args", str(arguments)])
        content = yaml.safe_load("version: 2" + capsys.readouterr().out.partition("version: 2")[2])
        assert [source["tables"] for source in content["sources"]] == [[{"name": "plain"}]]

    def test_a_file_is_not_overwritten_unasked(self, project):
        path = Path(project.project_root, "models", "kept.yml")
        path.write_text("version: 2\n")
        arguments = {"path": "models/kept.yml", "table_names": ["plain"]}
        run_dbt(["run-operation", "generate_sources", "--args", str(arguments)], expect_pass=False)
        assert path.read_text() == "version: 2\n"
        run_dbt(["run-operation", "generate_sources", "--args", str(arguments | {"overwrite": True})])
        assert "plain" in path.read_text()
        path.unlink()

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"schema_name": "nowhere"}, "paimon has no schema nowhere. Existing schemas: "),
            ({"table_names": ["plain", "nothing"]}, " has no table nothing."),
            ({"table_pattern": "x%"}, " has no table like x%."),
        ],
    )
    def test_nothing_found(self, project, arguments, said):
        path = Path(project.project_root, "models", "none.yml")
        arguments["path"] = "models/none.yml"
        _, output = run_dbt_and_capture(
            ["run-operation", "generate_sources", "--args", str(arguments)], expect_pass=False
        )
        assert said in output
        assert not path.exists()


class TestGenerateModelYaml:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "keyed.sql": "{{ config(materialized='table', primary_key=['id', 'day'], partition_by='day') }}\n"
            "select cast(1 as int) as id, '2024-01-01' as day, cast(1.5 as decimal(10,2)) as amount, "
            "array(named_struct('a', 1)) as nested",
            "viewed.sql": "{{ config(materialized='view') }} select id, day from {{ ref('keyed') }}",
        }

    def test_a_contract_that_holds(self, project, rows):
        run_dbt(["run"])
        arguments = {"model_names": ["keyed", "viewed"], "contract": True, "path": "models/models.yml"}
        run_dbt(["run-operation", "generate_model_yaml", "--args", str(arguments)])
        path = Path(project.project_root, "models", "models.yml")
        keyed, viewed = yaml.safe_load(path.read_text())["models"]
        assert keyed == {
            "name": "keyed",
            "config": {"contract": {"enforced": True}},
            "constraints": [{"type": "primary_key", "columns": ["id", "day"]}],
            "columns": [
                {"name": "id", "data_type": "int", "constraints": [{"type": "not_null"}]},
                {"name": "day", "data_type": "string", "constraints": [{"type": "not_null"}]},
                {"name": "amount", "data_type": "decimal(10,2)"},
                {"name": "nested", "data_type": "array<struct<a:int>>"},
            ],
        }
        assert viewed["columns"] == [
            {"name": "id", "data_type": "int"},
            {"name": "day", "data_type": "string"},
        ]
        run_dbt(["run"])
        assert rows(f"select id, day from spark_catalog.{project.test_schema}.viewed") == [(1, "2024-01-01")]
        # The contract is enforced: another type is refused.
        path.write_text(path.read_text().replace("decimal(10,2)", "date"))
        run_dbt(["run", "--select", "keyed"], expect_pass=False)
        assert rows("select amount from {schema}.keyed")[0][0] == 1.5
