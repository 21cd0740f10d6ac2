"""The commands of `dbt-paimon` read a profile as dbt does, including `env_var()`."""

from __future__ import annotations

from contextvars import Context
from pathlib import Path

import pytest
import yaml

from dbt.adapters.paimon.profile import load_credentials


def test_env_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = {
        "type": "paimon",
        "method": "connect",
        "schema": "{{ env_var('WANTED_SCHEMA') }}",
        "warehouse": "{{ env_var('WANTED_WAREHOUSE', '/lake') }}",
    }
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "warm", "profile": "warm"}))
    (tmp_path / "profiles.yml").write_text(
        yaml.safe_dump({"warm": {"target": "dev", "outputs": {"dev": target, "prod": target | {"schema": "lake"}}}})
    )
    monkeypatch.setenv("WANTED_SCHEMA", "flights")
    # An earlier dbt command leaves its context behind; a `dbt-paimon` command starts without one.
    found = Context().run(load_credentials, project_dir=str(tmp_path), profiles_dir=str(tmp_path))
    assert (found.schema, found.warehouse) == ("flights", "/lake")
    # As for dbt, a variable names the target, and the project is the folder above.
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    monkeypatch.setenv("DBT_TARGET", "prod")
    assert Context().run(load_credentials, profiles_dir=str(tmp_path)).schema == "lake"
