"""The adapter's behavior flags, and its deprecations, which are dbt warnings."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner
from dbt_common.behavior_flags import Behavior
from dbt_common.events.base_types import EventMsg
from dbt_common.events.event_manager_client import (
    add_callback_to_manager,
    cleanup_event_logger,
    get_event_manager,
)
from dbt_common.exceptions import CompilationError, DbtRuntimeError, EventCompilationError
from dbt_common.helper_types import WarnErrorOptionsV2
from tests.unit.specs import incremental_spec, table_spec

from dbt.adapters.paimon import behavior_flags
from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.errors.warnings import OnceARun, deprecate
from dbt.adapters.paimon.spark import server
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.writing.seed_values import bad_text
from dbt.adapters.paimon.writing.seeds import check_file, load
from dbt_paimon import cli
from dbt_paimon.server import control, process

PAGE = Path(__file__).parents[2] / "docs" / "behavior-flags.md"


def set_to(**flags: object) -> Behavior:
    return Behavior(list(behavior_flags.FLAGS), flags)


def test_the_page_lists_each_flag_and_its_default():
    rows = re.findall(r"^\| `(\w+)` \| (on|off) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == [(flag["name"], "on" if flag["default"] else "off") for flag in behavior_flags.FLAGS]


@pytest.mark.parametrize("flag", behavior_flags.FLAGS, ids=lambda flag: flag["name"])
def test_a_flag_is_what_the_project_says(flag):
    assert behavior_flags.is_on(set_to(), flag) is flag["default"]
    assert behavior_flags.is_on(set_to(**{flag["name"]: not flag["default"]}), flag) is not flag["default"]


@pytest.mark.parametrize("value", ["false", 0, None])
def test_a_flag_that_is_no_boolean_is_refused(value):
    with pytest.raises(DbtRuntimeError, match=r"flags: require_server_token: .*without quotes"):
        behavior_flags.is_on(set_to(require_server_token=value), behavior_flags.SERVER_TOKEN)


@pytest.mark.parametrize(
    ("text", "on"),
    [("name: x\n", True), ("flags:\n", True), ("flags: {require_server_token: false}\n", False)],
)
def test_the_flags_of_a_project_that_dbt_does_not_run(tmp_path, text, on):
    (tmp_path / "dbt_project.yml").write_text(text)
    assert behavior_flags.is_on(behavior_flags.of_project(tmp_path), behavior_flags.SERVER_TOKEN) is on


@pytest.fixture
def events():
    cleanup_event_logger()
    found: list[EventMsg] = []
    add_callback_to_manager(found.append)
    yield found
    cleanup_event_logger()


def test_a_deprecation_is_dbts_own(events):
    deprecate("model 'm': goes.", "Write that.")
    (event,) = events
    assert (event.info.name, event.info.code) == ("AdapterDeprecationWarning", "D005")
    assert "model 'm': goes. Write that." in event.info.msg


@pytest.mark.parametrize("named", ["Deprecations", "AdapterDeprecationWarning"])
def test_dbts_warn_error_options_apply(events, named):
    names = {"AdapterDeprecationWarning"}
    get_event_manager().warn_error_options = WarnErrorOptionsV2(silence=[named], valid_error_names=names)
    deprecate("model 'm': goes.", "Write that.")
    assert events == []
    get_event_manager().warn_error_options = WarnErrorOptionsV2(error=[named], valid_error_names=names)
    with pytest.raises(EventCompilationError, match=r"model 'm': goes\. Write that\."):
        deprecate("model 'm': goes.", "Write that.")


def test_a_key_is_first_only_once():
    told = OnceARun()
    assert [told.first(key) for key in ("a", "b", "a")] == [True, True, False]


UNREAD = [
    ({"on_schema_change": "sync"}, "on_schema_change='sync'"),
    (
        {"primary_key": "id", "fields": {"n": {"ignore_retract": True}}},
        "fields.n.ignore_retract='true'",
    ),
    ({"tblproperties": {"snapshot.expire.execution-mode": "async"}}, "snapshot.expire.execution-mode"),
]


@pytest.mark.parametrize(("config", "where"), UNREAD)
def test_config_that_is_not_read_is_refused_or_warned_about(config, where):
    config = {"materialized": "incremental", **config}
    versions = Versions.of("0.9.0")
    with pytest.raises(ConfigErrors, match=re.escape(where)):
        incremental_spec(config, model="m", versions=versions)
    told: list[str] = []
    incremental_spec(config, model="m", versions=versions, warn=told.append)
    assert [text.startswith("model 'm': ") and where in text for text in told] == [True]


def test_other_mistakes_are_still_refused():
    with pytest.raises(ConfigErrors, match="merge_engine"):
        table_spec({"merge_engine": "nonsense"}, model="m", versions=Versions.of("0.9.0"), warn=print)


SEED = {"name": "s", "original_file_path": "seeds/s.csv", "config": {"column_types": {}}}


def test_short_lines_of_a_seed(tmp_path, events):
    path, told = tmp_path / "s.csv", []
    path.write_text("id,at,word\n1\n2,2024-01-01T00:00:00.1234567,x\n")
    table = load(path, SEED, told.append)
    assert [row["word"] for row in table.rows] == [None, "x"]
    assert ["line 2: 1 values for 3 columns" in event.info.msg for event in events] == [True]
    assert ["line 3: column at" in text for text in told] == [True]
    path.write_text("id,word\n1\n2,x,y\n")
    with pytest.raises(CompilationError, match="line 3: 3 values for 2 columns"):
        check_file(path, SEED)


def test_text_that_cannot_be_cast_is_refused_even_if_losses_are_allowed():
    assert bad_text("c", "date", lossless=False) == "c is not null and try_cast(c as date) is null"


@pytest.mark.parametrize("asks", [True, False])
def test_a_server_is_started_as_the_project_says(tmp_path, monkeypatch, asks):
    monkeypatch.setenv(server.FOLDER_VARIABLE, str(tmp_path / "servers"))
    (tmp_path / "dbt_project.yml").write_text(
        f"name: x\nprofile: x\nflags: {{require_server_token: {str(asks).lower()}}}\n"
    )
    (tmp_path / "profiles.yml").write_text(
        "x: {target: t, outputs: {t: {type: paimon, method: connect, schema: x, warehouse: /lake, "
        "paimon_version: 0.9.0}}}\n"
    )
    asked: list[object] = []

    def start(path: Path, idle_minutes: float, asks_token: bool, target: object) -> server.ServerNote:
        asked.append(asks_token)
        note = server.ServerNote(1, 1, {}, {}, {}, 30, asks_token)
        # Pretend that the server is running.
        monkeypatch.setattr(server, "read_note", lambda _: note)
        monkeypatch.setattr(server, "mismatches", lambda *_: [])
        return note

    monkeypatch.setattr(control, "start", start)
    arguments = ["server", "start", "--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)]
    first = CliRunner().invoke(cli.main, arguments)
    assert first.exit_code == 0, first.output
    assert asked == [asks]
    assert ("requires no token" in first.output) is not asks
    assert ("Every user of this machine can run statements" in first.output) is not asks
    assert "Already running" in CliRunner().invoke(cli.main, arguments).output

    text = (tmp_path / "dbt_project.yml").read_text()
    (tmp_path / "dbt_project.yml").write_text(text.replace(str(asks).lower(), str(not asks).lower()))
    other = CliRunner().invoke(cli.main, arguments)
    assert other.exit_code == 1
    assert f"was started when it was {str(asks).lower()}. Stop it first" in other.output


@pytest.mark.parametrize("token", [None, "hush-hush"])
def test_which_server_requires_a_token(token):
    """Only a server with a token checks tokens, even on Spark 4.1, which has its own pre-shared keys."""
    session = MagicMock()
    builder = session._jvm.org.sparkproject.connect.grpc.netty.NettyServerBuilder.forAddress.return_value
    builder.build.return_value.start.return_value.getPort.return_value = 7
    assert process._listen(session, token, "4.1.0") == 7
    assert builder.intercept.called is (token is not None)
