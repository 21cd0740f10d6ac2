"""`dbt-paimon shell` on a terminal: commands, a saved file, Ctrl-C; the project stays loaded between commands."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from dbt.adapters.base.impl import DEFAULT_BASE_BEHAVIOR_FLAGS

from dbt_paimon.cli import main, run_loaded
from dbt_paimon.shell.project import Project
from dbt_paimon.shell.prompt import build_saved, execute

LONG = "select count(*) as n from range(10000000000) as a cross join range(1000) as b where a.id * b.id = 7"
MODELS = {
    "small.sql": "{{ config(materialized='table') }} select 1 as id",
    "calling.sql": "{{ config(materialized='table') }} select {{ number() }} as id",
    "long.sql": f"{{{{ config(materialized='table') }}}} {LONG}",
    "models.yml": "models: [{name: small, columns: [{name: id, data_tests: [not_null]}]}]",
}
SECONDS = 240


class Terminal:
    """The shell as a process, with a terminal to type into."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dbt_paimon.cli", "shell", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "DBT_USE_COLORS": "false"},
            start_new_session=True,
        )
        os.close(theirs)
        self.said = ""

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        """Send SIGINT, as a terminal sends it to its foreground process on Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def wait_for(self, text: str) -> str:
        """Wait for `text` and return the output before it; the next call continues after it."""
        end = time.monotonic() + SECONDS
        while text not in self.said:
            assert time.monotonic() < end, self.said
            if select.select([self._ours], [], [], 1)[0]:
                try:
                    self.said += os.read(self._ours, 65536).decode(errors="replace")
                except OSError:
                    raise AssertionError(self.said) from None
        before, _, self.said = self.said.partition(text)
        return before

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        with suppress(OSError):
            os.close(self._ours)


class TestShell:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def macros(self):
        return {"number.sql": "{% macro number() %}1{% endmacro %}"}

    @pytest.fixture
    def terminal(self, project) -> Iterator[Terminal]:
        opened = Terminal("--project-dir", str(project.project_root), "--profiles-dir", project.profiles_dir)
        yield opened
        opened.close()

    def test_on_a_terminal(self, project, rows, terminal):
        terminal.wait_for("dbt>")
        terminal.type("run -s small\r")
        terminal.wait_for("OK created sql table model")
        terminal.wait_for("dbt>")
        assert rows("select * from {schema}.small") == [(1,)]

        terminal.type("watch\r")
        terminal.wait_for("Ctrl-C ends it.")
        time.sleep(1)
        Path(project.project_root, "models", "small.sql").write_text(MODELS["small.sql"].replace("1 as", "2 as"))
        terminal.wait_for("PASS not_null_small_id")
        terminal.wait_for(" s\r\n")
        assert rows("select * from {schema}.small") == [(2,)]
        terminal.interrupt()
        terminal.wait_for("dbt>")

        terminal.type("run -s long\r")
        terminal.wait_for("START sql table model")
        time.sleep(3)
        terminal.interrupt()
        terminal.wait_for("dbt>")
        terminal.type("show --inline 'select 40 + 2 as answer'\r")
        terminal.wait_for("42")
        terminal.wait_for("dbt>")
        terminal.type("exit\r")
        assert terminal.process.wait(60) == 0

    @pytest.fixture
    def client(self, project):
        """Function: start `dbt-paimon <command>` in another process, which cannot start Java."""

        def begin(*words: str) -> subprocess.Popen[str]:
            folders = ["--project-dir", str(project.project_root), "--profiles-dir", project.profiles_dir]
            return subprocess.Popen(
                [sys.executable, "-m", "dbt_paimon.entry", *words, *folders],
                env={**os.environ, "JAVA_HOME": "/nowhere", "PATH": "/nowhere"},
                stdout=subprocess.PIPE,
                text=True,
            )

        return begin

    def test_other_processes_use_it(self, project, rows, terminal, client):
        terminal.wait_for("dbt>")
        terminal.type("run -s")
        assert client("run", "-s", "small", "calling").wait(SECONDS) == 0
        assert rows("select * from {schema}.calling") == [(1,)]
        # The half-typed command is still there.
        terminal.type(" small\r")
        terminal.wait_for("Completed successfully")

        long = client("run", "-s", "long")
        while "START sql table model" not in long.stdout.readline():
            assert long.poll() is None
        time.sleep(3)
        long.send_signal(signal.SIGINT)
        assert long.wait(60) != 0

        planned = client("--no-write-json", "plan", "-s", "small", "--output", "json", "--debug")
        assert json.loads(planned.communicate(timeout=SECONDS)[0])["does"] == "rebuild in place"
        assert planned.returncode == 0
        assert client("diff", "small").wait(SECONDS) == 0
        assert client("report", "--json", "-s", "no_such_model").wait(SECONDS) == 1

        terminal.type("watch\r")
        terminal.wait_for("Ctrl-C ends it.")
        shown = client("show", "--inline", "select 40 + 2 as answer")
        assert "42" in shown.communicate(timeout=SECONDS)[0]
        assert client("run", "-s", "small", "--no-such-option").wait(SECONDS) == 2
        (Path(project.project_root) / "models" / "wrong.sql").write_text("select nothing from nowhere")
        assert client("run", "-s", "wrong").wait(SECONDS) == 1
        (Path(project.project_root) / "models" / "wrong.sql").unlink()

        terminal.close()
        assert client("run", "-s", "small").wait(SECONDS) == 2, "without the shell, dbt needs Java"

    def test_the_second_run_mentions_it_once(self, project, tmp_path):
        folders = ["--project-dir", str(project.project_root), "--profiles-dir", project.profiles_dir]

        def mentions() -> bool:
            ours, theirs = pty.openpty()
            dbt = [sys.executable, "-m", "dbt.cli.main", "run", "-s", "no_such_model", *folders]
            with subprocess.Popen(dbt, stdout=theirs, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}) as process:
                os.close(theirs)
                said = b""
                with suppress(OSError):
                    while part := os.read(ours, 65536):
                        said += part
            os.close(ours)
            assert process.returncode == 0
            return b"dbt-paimon shell" in said

        Path(project.project_root, "target", "run_results.json").unlink(missing_ok=True)
        assert [mentions() for _ in range(3)] == [False, True, False]

    def test_without_a_project(self, tmp_path):
        done = CliRunner().invoke(main, ["shell", "--project-dir", str(tmp_path)])
        assert done.exit_code == 1
        assert f"There is no dbt_project.yml in {tmp_path}" in done.stderr

    def test_what_is_saved_is_built(self, project, rows):
        root = Path(project.project_root)
        of_project = Project(root, {"profiles_dir": str(project.profiles_dir)}, run_loaded)
        assert execute(of_project, "dbt run -s small calling") is True
        first = of_project.manifest
        assert execute(of_project, "run -s small") is True
        assert execute(of_project, "--quiet plan -s small --no-version-check") is True
        assert execute(of_project, "plan -s no_such_model") is False
        assert of_project.manifest is first

        macro = root / "macros" / "number.sql"
        macro.write_text("{% macro number() %}5{% endmacro %}")
        assert build_saved(of_project, [macro], []) == ["calling"]
        assert rows("select * from {schema}.calling") == [(5,)]
        assert of_project.manifest is not first

        broken = root / "models" / "small.sql"
        broken.write_text("{{ config(materialized='table') }} select {{ nothing( }}")
        assert build_saved(of_project, [broken], []) == []
        assert execute(of_project, "run -s small") is False
        broken.write_text(MODELS["small.sql"].replace("1 as", "3 as"))
        assert build_saved(of_project, [broken], []) == ["small"]
        assert rows("select * from {schema}.small") == [(3,)]
        assert build_saved(of_project, [root / "models" / "models.yml"], []) == []
        assert execute(of_project, "rnu") is False

        # A failed query affects neither the next one nor the results that `dbt retry` reads.
        assert execute(of_project, "show --inline 'select nothing'") is False
        assert execute(of_project, "show --inline 'select 40 + 2 as answer'") is True
        results = json.loads((root / "target" / "run_results.json").read_text())
        assert results["args"]["which"] == "build"
        assert execute(of_project, "retry") is True

        manifest = json.loads((root / "target" / "manifest.json").read_text())
        assert "3 as id" in manifest["nodes"]["model.test.small"]["raw_code"]
        flags = [flag["name"] for flag in DEFAULT_BASE_BEHAVIOR_FLAGS]
        assert len(flags) == len(set(flags)), "no flag is added twice"
