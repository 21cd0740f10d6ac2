"""dbt's own suite: hooks of models, seeds, snapshots and runs."""

from __future__ import annotations

from pathlib import Path

import dbt.tests.adapter.hooks
import pytest
from dbt.tests.adapter.hooks.test_model_hooks import (
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
    BaseTestPrePost,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks
from tests.functional.adapter.postgres_sql import in_spark


def in_paimon(value):
    """A hook, or a project's config with hooks, in Spark SQL; a compaction replaces PostgreSQL's VACUUM."""
    if isinstance(value, dict):
        return {key: in_paimon(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [in_paimon(entry) for entry in value]
    if not isinstance(value, str):
        return value
    value = value.replace("null::{{ dbt.type_int() }}", "cast(null as {{ dbt.type_int() }})")
    if value.startswith("vacuum "):
        return f"call sys.compact(table => '{value.removeprefix('vacuum ')}')"
    return value.replace(" text", " string")


class InSpark:
    """A project that translates its queries to Spark SQL."""

    def __init__(self, project):
        self._project = project
        self.test_schema = project.test_schema

    def run_sql(self, sql, fetch=None):
        return self._project.run_sql(in_spark(sql), fetch)


@pytest.fixture(scope="module")
def test_data_dir(tmp_path_factory):
    """A folder with the suite's SQL files, translated to Spark SQL."""
    folder = tmp_path_factory.mktemp("data")
    for path in Path(dbt.tests.adapter.hooks.__path__[0], "data").glob("*.sql"):
        (folder / path.name).write_text(in_spark(path.read_text()))
    return folder


def check_target(ctx, project, state, host):
    """The base's assertions on a hook's context, for this profile, which has no dbname, host, user or password."""
    assert ctx["test_state"] == state
    assert ctx["target_dbname"] == ""
    assert host is None and ctx["target_host"] == ""
    assert ctx["target_name"] == "default"
    assert ctx["target_schema"] == project.test_schema
    assert ctx["target_threads"] == 2
    assert ctx["target_type"] == "paimon"
    assert ctx["target_user"] == ""
    assert ctx["target_pass"] == ""
    assert ctx["run_started_at"] is not None and len(ctx["run_started_at"]) > 0, "run_started_at was not set"
    assert ctx["invocation_id"] is not None and len(ctx["invocation_id"]) > 0, "invocation_id was not set"


# Queries with backticks, and assertions for this profile.
class ModelHooks(BaseTestPrePost):
    def get_ctx_vars(self, state, count, project):
        return super().get_ctx_vars(state, count, InSpark(project))

    def check_hooks(self, state, project, host, count=1):
        for ctx in self.get_ctx_vars(state, count=count, project=project):
            check_target(ctx, project, state, host)
            assert ctx["thread_id"].startswith("Thread-")


class TestPrePostModelHooks(ModelHooks, BasePrePostModelHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return in_paimon(BasePrePostModelHooks.project_config_update.__wrapped__(self))


class TestHookRefs(ModelHooks, BaseHookRefs):
    pass


class TestPrePostModelHooksInConfig(ModelHooks, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigKwargs(ModelHooks, BasePrePostModelHooksInConfigKwargs):
    pass


class TestPrePostModelHooksInConfigWithCount(ModelHooks, BasePrePostModelHooksInConfigWithCount):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return in_paimon(BasePrePostModelHooksInConfigWithCount.project_config_update.__wrapped__(self))


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


# Hooks with Spark's cast.
class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return in_paimon(BasePrePostModelHooksOnSeeds.project_config_update.__wrapped__(self))


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


# Hooks and queries with backticks and STRING for TEXT, and assertions for this profile.
class TestPrePostRunHooks(BasePrePostRunHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return in_paimon(BasePrePostRunHooks.project_config_update.__wrapped__(self))

    def get_ctx_vars(self, state, project):
        return super().get_ctx_vars(state, InSpark(project))

    def check_hooks(self, state, project, host):
        ctx = self.get_ctx_vars(state, project)
        check_target(ctx, project, state, host)
        assert ctx["thread_id"].startswith("Thread-") or ctx["thread_id"] == "MainThread"


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
