"""How the JVM starts: which settings its command line hides, its output and signals, and how long a start may take."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkRuntimeError

from dbt.adapters.paimon.machine.java import find_java
from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from dbt.adapters.paimon.spark.launch import jvm
from dbt.adapters.paimon.spark.launch.hidden_settings import hidden
from dbt.adapters.paimon.spark.launch.jvm_process import exit_status, spawned
from dbt.adapters.paimon.spark.launch.spark_log import Output

PLAIN = {"spark.master": "local[2]", "spark.driver.memory": "2g"}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def hidden_files(folder: Path) -> dict[str, str]:
    found = {path.name: path for path in folder.glob("dbt-paimon-*/*")}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in found.values())
    return {name: path.read_text() for name, path in found.items()}


def test_without_secrets_nothing_is_hidden(environment: Path) -> None:
    with hidden(PLAIN, ["elsewhere"]) as shown:
        assert shown == PLAIN
        assert hidden_files(environment) == {}
        assert "PYSPARK_SUBMIT_ARGS" not in os.environ


def test_options_of_java(environment: Path) -> None:
    options = r"""-Xss4m -Da.password='two "words"' -Db=c\\d"""
    with hidden({**PLAIN, "spark.driver.extraJavaOptions": options}, []) as shown:
        (folder,) = environment.glob("dbt-paimon-*")
        assert shown == {**PLAIN, "spark.driver.extraJavaOptions": f"@{folder / 'java'}"}
        assert hidden_files(environment) == {"java": '"-Xss4m"\n"-Da.password=two \\"words\\""\n"-Db=c\\\\d"'}
    assert list(environment.glob("dbt-paimon-*")) == []


def test_other_secrets_go_into_a_copy_of_the_defaults_file(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (environment / "spark-defaults.conf").write_text("spark.x 1\n")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--verbose pyspark-shell")
    conf = {**PLAIN, "spark.jars.repositories": "https://ann:hunter2@h/ü", "spark.jars": "/x/told/a.jar"}
    with hidden(conf, ["told"]) as shown:
        assert shown == PLAIN
        assert hidden_files(environment) == {
            "spark.conf": (
                "spark.x 1\n\nspark.jars.repositories=https://ann:hunter2@h/\\u00fc\nspark.jars=/x/told/a.jar\n"
            )
        }
        arguments = os.environ["PYSPARK_SUBMIT_ARGS"].split()
        assert arguments[0] == "--properties-file" and arguments[2:] == ["--verbose", "pyspark-shell"]
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == "--verbose pyspark-shell"


def test_secrets_in_the_output_are_masked(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    output = Output(log, ["hunter2"])
    os.write(output.end, b"http://ann:pw@host added\nsaid hunter2\nx.token=abc\n\xff")
    assert output.text() == log.read_text() == "http://********@host added\nsaid ********\nx.token=********\n\ufffd"


def test_ctrl_c_does_not_reach_the_jvm() -> None:
    """Python is not forked either: `preexec_fn` never runs."""

    def never() -> None:
        raise AssertionError

    with spawned():
        from pyspark import java_gateway

        with java_gateway.Popen(
            [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('alive')"],
            preexec_fn=never,
            stdout=subprocess.PIPE,
        ) as process:
            said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"alive\n")
    assert java_gateway.Popen is subprocess.Popen


def test_a_jvm_that_never_answers_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexec sleep 20\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(jvm, "_LONGEST_START", 0.5)
    with pytest.raises(WaitedTooLongError, match="for Spark's JVM to start"):
        jvm._resolved(PLAIN, (), tmp_path / "spark.log", ())
    assert exit_status(10) is not None


@pytest.mark.parametrize(
    ("report", "asked"),
    [
        ("", 1),
        (
            "Server access error at url https://central/a.pom (java.net.ConnectException: Connection refused)",
            3,
        ),
        (
            "[FAILED     ] org.apache.paimon#paimon-spark-3.5;7.7.7!paimon-spark-3.5.jar:  (Downloaded file size (0) "
            "doesn't match expected Content Length (9) for https://central/a.jar. Please retry.) (8ms)",
            3,
        ),
    ],
    ids=["no such jar", "no network", "damaged on the way"],
)
@pytest.mark.usefixtures("environment")
def test_missing_jars_are_asked_for_once_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, report: str, asked: int
) -> None:
    """After a failed start, other threads do not look for a missing jar again; a failed download is repeated."""
    starts = []

    def launch_gateway(conf: object, popen_kwargs: dict[str, int]) -> None:
        starts.append(conf)
        said = f"{report}\n[unresolved dependency: org.apache.paimon#paimon-spark-3.5;7.7.7: not found]\n"
        os.write(popen_kwargs["stdout"], said.encode())
        raise PySparkRuntimeError(error_class="JAVA_GATEWAY_EXITED", message_parameters={})

    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launch_gateway)
    monkeypatch.setattr(jvm, "_RESOLVE_AGAIN_AFTER", (0, 0))
    monkeypatch.setattr(jvm, "log_path", lambda: tmp_path / "spark.log")
    monkeypatch.setattr(jvm, "_unresolved", {})
    conf = PLAIN | {"spark.jars.packages": "org.apache.paimon:paimon-spark-3.5:7.7.7"}
    java = find_java(os.environ, "3.5.7")
    for _ in range(3):
        with pytest.raises(DbtRuntimeError, match=r"org\.apache\.paimon:paimon-spark-3\.5:7\.7\.7"):
            jvm.launch(conf, (), java)
    assert len(starts) == asked
