"""dbt's own suite: dbt debug."""

from __future__ import annotations

import re
from argparse import Namespace

import pytest
from dbt.flags import set_from_args
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugInvalidProjectPostgres, BaseDebugPostgres


# The base's bad targets, with mistakes that this adapter's profiles can have: a missing key, an unusable warehouse.
class TestDebug(BaseDebugPostgres):
    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema):
        good = dbt_profile_target | {"schema": unique_schema}
        outputs = {
            "default": good,
            "nopass": {key: value for key, value in good.items() if key != "schema"},
            "wronguser": good | {"warehouse": "/proc/nobody"},
            "none_target": None,
        }
        return {"test": {"outputs": outputs, "target": "default"}}

    @pytest.fixture(autouse=True)
    def own_profiles(self, project):
        """A test of the base sets a profiles folder that does not exist, and dbt's test helper would keep using it."""
        set_from_args(Namespace(profiles_dir=project.profiles_dir, project_dir=project.project_root), {})

    def assertGotValue(self, linepat, result):  # noqa: N802 - the name is the base's
        # The base also passes if it does not find the line; here the line has to be there.
        output = self.capsys.readouterr().out
        lines = [line for line in output.split("\n") if linepat.match(re.sub(r"^\S+ ", " ", line))]
        assert lines, output
        assert all(result in line for line in lines), output


class TestDebugInvalidProject(BaseDebugInvalidProjectPostgres):
    pass
