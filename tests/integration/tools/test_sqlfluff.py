"""sqlfluff lints models as dbt compiles them: docs/tools/sqlfluff.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.tools import pages
from integration.tools.environments import Environment

pytestmark = pytest.mark.full


def test_lint(installed: Callable[[str, str], Environment], shop: Path, ran_with: Callable[..., None]) -> None:
    install, lint, fix, without_spark = pages.commands("sqlfluff.md")
    environment = installed("sqlfluff", install)
    pages.write(shop, "sqlfluff.md")
    for command in (lint, without_spark):
        environment.run(command, shop)

    model = shop / "models" / "revenue.sql"
    right = model.read_text()
    model.write_text(right.replace("from {{", "FROM {{"))
    (line,) = (number for number, text in enumerate(right.splitlines(), 1) if text.startswith("from {{"))
    for command in (lint, without_spark):
        found = json.loads(environment.run(f"{command} --format json", shop, returns=1))
        wrong = {
            (Path(file["filepath"]).name, violation["code"], violation["start_line_no"])
            for file in found
            for violation in file["violations"]
        }
        # CP01: a keyword in upper case among lower-case ones.
        assert wrong == {("revenue.sql", "CP01", line)}
    environment.run(fix, shop)
    assert model.read_text() == right
    ran_with("sqlfluff", environment, "sqlfluff", "sqlfluff-templater-dbt", "dbt-core")
