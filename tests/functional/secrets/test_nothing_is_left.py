"""Secrets in profiles and models are not in the files, output or command lines of dbt processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import yaml

DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]
# Place -> the secret there, which the profile and the models read from the environment.
SECRETS = {
    place: f"Zq7{place.title().replace('_', '')}x9"
    for place in (
        "access_key",
        "secret_key",
        "hadoop_key",
        "session_token",
        "java_option",
        "repository",
        "warehouse",
        "address",
        "address_part",
        "integration",
        "table_option",
        "hook_option",
    )
}
# The same secret, URL-encoded and decoded.
SECRETS["encoded"] = "Zq7%40Encodedx9"
DECODED = "Zq7@Encodedx9"


def env(place: str) -> str:
    return f"{{{{ env_var('LAKE_{place.upper()}') }}}}"


def target(spark_config: dict[str, object], **other: object) -> dict[str, object]:
    """A target with secrets in the settings that work with any value."""
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "s",
        "warehouse": "lake",
        "threads": 2,
        "catalog_options": {"s3.access-key": env("access_key"), "s3.secret-key": env("secret_key")},
        "spark_config": {
            **spark_config,
            "spark.hadoop.fs.s3a.secret.key": env("hadoop_key"),
            "spark.hadoop.fs.s3a.session.token": env("session_token"),
            "spark.driver.extraJavaOptions": f"-Dlake.password={env('java_option')} -Dlake.user=ann",
        },
        "repositories": [f"http://ann:{env('repository')}@127.0.0.1:9/maven"],
        **other,
    }


MODELS = {
    "good.sql": "{{ config(materialized='incremental', primary_key='id', tblproperties={'snapshot.num-retained.max': 70}) }} select 1 as id",
    "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('good') }}",
    "python.py": "def model(dbt, session):\n    return session.sql('select 2 as id')\n",
}
FAILING = {
    "secret_hook.sql": "{{ config(materialized='table', post_hook=\"{{ compact(this, options={'s3.secret-key': env_var('LAKE_HOOK_OPTION')}) }}\") }} select 1 as id",
    # Spark's error message has a secret that is not in the statement.
    "spark_error.sql": "{{ config(materialized='table') }} select raise_error(concat('refused: ', java_method('java.lang.System', 'getProperty', 'lake.password'))) as id from range(3)",
    "python_error.py": "def model(dbt, session):\n    key = session.conf.get('spark.sql.catalog.paimon.s3.secret-key')\n    raise ValueError(key)\n    return session.range(1)\n",
}
# Each of these models stops the command before dbt writes anything.
SECRET_OPTIONS = {
    "secret_option.sql": "{{ config(materialized='table', tblproperties={'metadata.iceberg.jdbc.password': env_var('LAKE_TABLE_OPTION')}) }} select 1 as id",
    "unknown_option.sql": "{{ config(materialized='table', tblproperties={'s3.secret-key': env_var('LAKE_TABLE_OPTION')}) }} select 1 as id",
}


@dataclass
class Ran:
    """A finished process: exit code, output, and the command lines of the process and its descendants."""

    code: int
    output: str
    command_lines: set[str]


class Project:
    """A project with its profiles, its warehouse, and a folder for temporary files."""

    def __init__(self, root: Path, targets: dict[str, dict[str, object]]) -> None:
        self.root = root
        for folder in ("models", "tmp"):
            (root / folder).mkdir()
        (root / "dbt_project.yml").write_text(
            yaml.safe_dump({"name": "secrets", "profile": "secrets", "flags": {"send_anonymous_usage_stats": False}})
        )
        (root / "profiles.yml").write_text(
            yaml.safe_dump({"secrets": {"target": "good", "outputs": targets}}, width=1000)
        )

    def write(self, models: dict[str, str]) -> None:
        for name, text in models.items():
            (self.root / "models" / name).write_text(text)

    def dbt(self, *arguments: str) -> Ran:
        environment = {
            **os.environ,
            **{f"LAKE_{place.upper()}": value for place, value in SECRETS.items()},
            "TMPDIR": str(self.root / "tmp"),
        }
        with (self.root / "output.txt").open("ab") as output:
            process = subprocess.Popen([*DBT, *arguments], cwd=self.root, stdout=output, stderr=output, env=environment)
            seen: set[str] = set()
            started: set[psutil.Process] = set()
            while process.poll() is None:
                seen |= command_lines(process.pid)
                started |= children(process.pid)
                time.sleep(0.02)
        # A JVM deletes its temporary files when it exits, maybe after dbt.
        psutil.wait_procs(list(started), timeout=120)
        return Ran(process.returncode, (self.root / "output.txt").read_text(), seen)

    def shown(self) -> dict[str, list[str]]:
        """File or folder -> the places whose secrets are in its path or content."""
        found: dict[str, list[str]] = {}
        for path in self.root.rglob("*"):
            content = str(path.relative_to(self.root)).encode()
            if path.is_file():
                content += path.read_bytes()
            places = places_in(content)
            if path.name == "partial_parse.msgpack":
                # dbt stores the values of a project's env_var() calls there.
                places = [place for place in places if place != "hook_option"]
            if places:
                found[str(path.relative_to(self.root))] = places
        return found


def places_in(content: bytes) -> list[str]:
    known = {**SECRETS, "decoded": DECODED}
    return [place for place, secret in known.items() if secret.encode() in content]


def command_lines(parent: int) -> set[str]:
    """The command lines of a process and its descendants."""
    lines: set[str] = set()
    try:
        process = psutil.Process(parent)
        processes = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return lines
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            lines.add(" ".join(each.cmdline()))
    return lines


def children(parent: int) -> set[psutil.Process]:
    """The descendants of a process."""
    try:
        return set(psutil.Process(parent).children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


@pytest.fixture(scope="module")
def project(tmp_path_factory, spark_config) -> Project:
    bad = {"catalog_options": {"jdbc.password": env("secret_key")}}
    targets = {
        "good": target(spark_config),
        "no_such_storage": target(spark_config, warehouse=f"nosuch://ann:{env('warehouse')}@bucket/lake"),
        "no_such_database": target(
            spark_config,
            metastore="jdbc",
            uri=f"jdbc:nosuch://ann:{env('address')}@db/lake?user=ann&password={env('address_part')}",
            **bad,
        ),
        "no_such_package": target(
            spark_config,
            packages=["org.nobody:nothing:1.0"],
            repositories=[f"http://ann:{env('encoded')}@127.0.0.1:9/maven"],
        ),
        "no_such_key": target(spark_config, catalog_option={"s3.secret-key": env("secret_key")}),
    }
    return Project(tmp_path_factory.mktemp("secrets"), targets)


def check(project: Project, ran: Ran) -> None:
    assert project.shown() == {}
    assert ran.command_lines
    assert [line for line in ran.command_lines if places_in(line.encode())] == []


class TestSecrets:
    def test_a_run_that_passes(self, project):
        project.write(MODELS)
        ran = project.dbt("--debug", "build")
        assert ran.code == 0, ran.output
        # The JVM was among the watched processes, and got its options.
        assert any("-Dlog4j2" in line for line in ran.command_lines)
        check(project, ran)

    @pytest.mark.parametrize(
        "command",
        [
            ("debug",),
            ("--log-format", "json", "--log-level", "debug", "docs", "generate"),
            ("show", "--inline", "set -v"),
        ],
        ids=" ".join,
    )
    @pytest.mark.full
    def test_other_commands(self, project, command):
        check(project, project.dbt(*command))

    def test_a_run_that_fails(self, project):
        project.write(FAILING)
        ran = project.dbt("--debug", "run")
        assert ran.code == 1
        for said in ("they must not hold secrets", "refused: ***", "python_error.py:3:"):
            assert said in ran.output
        check(project, ran)

    @pytest.mark.parametrize("name", SECRET_OPTIONS)
    def test_an_option_of_a_table_that_is_secret(self, project, name):
        project.write({name: SECRET_OPTIONS[name]})
        ran = project.dbt("--debug", "run")
        (project.root / "models" / name).unlink()
        assert ran.code == 2
        assert name.partition(".")[0] in ran.output and "they must not hold secrets" in ran.output
        check(project, ran)

    @pytest.mark.parametrize(
        ("name", "command", "said"),
        [
            ("no_such_storage", "run", "nosuch"),
            ("no_such_database", "debug", "jdbc:nosuch"),
            ("no_such_package", "run", "org.nobody:nothing:1.0"),
            ("no_such_key", "compile", "catalog_option"),
        ],
    )
    @pytest.mark.full
    def test_a_target_that_does_not_work(self, project, name, command, said):
        ran = project.dbt("--debug", command, "--target", name)
        assert ran.code != 0
        assert said in ran.output
        check(project, ran)
