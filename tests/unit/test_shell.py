"""What the prompt of `dbt-paimon shell` completes, and when a project is parsed again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from dbt.cli.main import cli

from dbt_paimon import cli as commands
from dbt_paimon import client
from dbt_paimon.shell.project import Project, must_parse
from dbt_paimon.shell.prompt import completions
from dbt_paimon.shell.requests import Requests
from dbt_paimon.words import WITH_VALUE, command

NAMES = ["fct_flights", "fct_hourly", "stg_flights"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ru", ["run", "run-operation"]),
        ("run", ["run", "run-operation"]),
        ("run fct", []),
        ("run -s fct", ["fct_flights", "fct_hourly"]),
        ("run --select fct_flights stg", ["stg_flights"]),
        ("run -s +fct_h", ["fct_hourly"]),
        ("run -s 1+fct_h", ["fct_hourly"]),
        ("run -s fct_flights --full-refresh stg", []),
        ("watch stg", ["stg_flights"]),
    ],
)
def test_completions(line, offered):
    found = list(completions(line, NAMES))
    assert [text for text, _ in found] == offered
    assert all(line.endswith(text[:behind]) for text, behind in found)


def test_which_files_cause_a_parse(tmp_path: Path):
    (tmp_path / "dbt_project.yml").write_text("name: p\nmodel-paths: [sql]\n")
    (tmp_path / "sql").mkdir()
    (tmp_path / "target").mkdir()
    model = tmp_path / "sql" / "m.sql"
    model.write_text("select 1 as id")
    project = Project(tmp_path, {})
    before = project._file_states()
    (tmp_path / "target" / "manifest.json").write_text("{}")
    assert project._file_states() == before
    os.utime(model, ns=(1, 1))
    assert project._file_states() != before
    assert project.watched_folders() == [tmp_path / "sql"]


def test_a_package_that_is_a_link_causes_a_parse(tmp_path: Path):
    macro = tmp_path / "shared" / "macros" / "m.sql"
    macro.parent.mkdir(parents=True)
    macro.write_text("{% macro m() %}1{% endmacro %}")
    (tmp_path / "shared" / "up").symlink_to(tmp_path)
    packages = tmp_path / "project" / "dbt_packages"
    packages.mkdir(parents=True)
    (packages / "shared").symlink_to(tmp_path / "shared")
    project = Project(tmp_path / "project", {})
    before = project._file_states()
    os.utime(macro, ns=(1, 1))
    assert project._file_states() != before


def test_a_target_of_the_line_replaces_the_shells_own():
    project = Project(Path(), {"target": "dev", "vars": None})
    assert project._with_options(["run"]) == ["run", "--target", "dev"]
    for words in (["run", "-t", "prod"], ["run", "-tprod"], ["run", "--target=prod"]):
        assert project._with_options(words) == words
        assert must_parse(words)
    assert not must_parse(["run", "-s", "clean", "--exclude", "debug"])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("run -s m", "run"),
        ("--no-write-json show --inline x", "show"),
        ("--log-level debug --target run plan", "plan"),
        ("--log-level=debug -t dev report", "report"),
        ("--version", ""),
        ("", ""),
    ],
)
def test_the_command_may_follow_options(line, found):
    assert command(line.split()) == found


def test_options_with_a_value_are_those_of_dbt():
    assert {name for param in cli.params if not param.is_flag for name in param.opts} == WITH_VALUE


def test_options_of_dbt_are_passed_on(monkeypatch):
    given = []
    monkeypatch.setattr(commands.preview, "run", lambda arguments, *rest, **more: given.extend(arguments) or [])
    line = "--no-write-json -t dev plan --log-path logs -s a b --selector=nightly --quiet --threads 2"
    done = CliRunner().invoke(commands.main, line.split())
    assert done.exit_code == 0, done.output
    assert given[:5] == ["--no-write-json", "--log-path", "logs", "--selector=nightly", "--quiet"]
    assert given[5:] == ["--target", "dev", "--threads", "2", "--select", "a", "b"]
    assert CliRunner().invoke(commands.main, ["plan", "--no-such-option"]).exit_code == 2


def test_a_command_uses_only_a_shell_of_its_own_target(tmp_path: Path, monkeypatch) -> None:
    def used(*words: str) -> bool:
        """Whether a command reaches the shell that was started with `--target prod`."""
        shared, rest = client._split(words)
        assert rest == ["run", "-s", "orders"]
        return client.socket_path(tmp_path, shared) == shell

    monkeypatch.delenv("DBT_TARGET", raising=False)
    project = Project(tmp_path, {"target": "prod", "profiles_dir": str(tmp_path), "vars": None})
    shell = client.socket_path(tmp_path, project.dbt_options)
    here = ["--profiles-dir", str(tmp_path), "run", "-s", "orders"]
    assert used(*here, "--target", "prod")
    assert used(*here, "-tprod")
    assert not used(*here)
    assert not used(*here, "-t", "dev")
    assert not used(*here, "--target=prod", "--vars", "{day: 1}")
    monkeypatch.setenv("DBT_TARGET", "prod")
    assert used(*here)
    monkeypatch.setenv("DBT_ENGINE_TARGET", "dev")
    assert not used(*here)


def test_a_second_shell_leaves_the_socket_of_the_first(tmp_path: Path) -> None:
    first, second = (Requests(tmp_path / "shell.sock", lambda: None) for _ in range(2))
    assert first.open()
    assert not second.open()
    second.close()
    assert not Requests(tmp_path / "shell.sock", lambda: None).open()
    first.close()
    assert not (tmp_path / "shell.sock").exists()
