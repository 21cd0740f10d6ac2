"""A warehouse that Paimon 0.9.0 wrote, continued by the connector in use, and read again by 0.9.0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION, parse_version
from dbt.adapters.paimon.credentials import PaimonCredentials
from faults import further, lakehouse
from faults.house import House, State
from functional.crossing import layouts
from functional.crossing.other_version import OtherVersion

pytestmark = pytest.mark.skipif(
    parse_version(DEFAULT_PAIMON_VERSION) == CONNECTOR,
    reason=f"a newer connector than {DEFAULT_PAIMON_VERSION} has to be in DBT_PAIMON_JARS",
)


@dataclass
class OldHouse(House):
    """A project whose commands the older version runs."""

    old: OtherVersion | None = None

    def _run(self, arguments: Any) -> bool:
        assert self.old is not None
        failed = self.old.dbt(*self.arguments(arguments))
        print(failed)
        return failed == ""


def rows_of(state: State, step: int) -> list[tuple[Any, ...]]:
    """The rows of a state, after a round trip through JSON."""
    return sorted((tuple(json.loads(json.dumps(row))) for row in state.rows(step)), key=repr)


class TestUpgrade:
    @pytest.fixture(scope="class", params=[layouts, lakehouse, further], ids=lambda module: module.__name__)
    def project_module(self, request: pytest.FixtureRequest) -> ModuleType:
        found: ModuleType = request.param
        return found

    @pytest.fixture(scope="class")
    def old(
        self,
        project_module: ModuleType,
        tmp_path_factory: pytest.TempPathFactory,
        spark_config: dict[str, Any],
        request: pytest.FixtureRequest,
    ) -> Iterator[OtherVersion]:
        folder = tmp_path_factory.mktemp("crossing")
        here = {"paimon_version": DEFAULT_PAIMON_VERSION, "spark_config": spark_config}
        project_module.write_project(folder, {"type": "paimon", "method": "session", "threads": 4} | here)
        credentials = here | {"schema": project_module.SCHEMA, "warehouse": str(folder / "lake")}
        version = OtherVersion(folder, credentials, request.config.getoption("--old-python"))
        with closing(version):
            yield version

    @pytest.fixture(scope="class")
    def house(self, project_module: ModuleType, old: OtherVersion, spark_config: dict[str, Any]) -> House:
        """The project after two steps of the older version."""
        from dbt.adapters.paimon.spark.runtime import Runtime
        from dbt.adapters.paimon.spark.session import open_session

        credentials = PaimonCredentials(
            paimon_version="0.9.0",
            schema=project_module.SCHEMA,
            warehouse=str(old.folder / "lake"),
            spark_config=dict(spark_config),
        )
        session = open_session(Runtime(credentials)).session
        house = OldHouse(
            project_module,
            old.folder,
            lambda sql: [tuple(row) for row in session.sql(sql).collect()],
            old=old,
        )
        house.begin()
        house.next_step("build")
        assert house.done("build")
        fields = {name: value for name, value in vars(house).items() if name != "old"}
        return House(**fields)

    def test_reads(self, house: House) -> None:
        assert house.wrong() == []

    def test_continues(self, house: House) -> None:
        for _ in range(2):
            house.next_step("build")
            assert house.done("build")
            assert house.wrong() == []
        for command in [name for name in house.project.COMMANDS if name != "build"]:
            house.prepare(command)
            assert house.done(command), command
        assert house.wrong() == []
        assert house.leftovers() == []

    def test_older_version_reads_them(self, house: House, old: OtherVersion) -> None:
        wrong = {}
        for name, state in house.project.STATES.items():
            found = old.rows(state.query.format(s=f"`paimon`.`{house.project.SCHEMA}`"))
            if isinstance(found, str):
                wrong[name] = found
            elif sorted(found, key=repr) != rows_of(state, house.at_step[state.command]):
                wrong[name] = str(found[:3])
        assert wrong == {}
