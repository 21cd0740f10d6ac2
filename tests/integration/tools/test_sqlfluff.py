"""sqlfluff lints models as dbt compiles them: docs/tools/sqlfluff.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.tools import pages
from integration.tools.environments import Environment

pytestmark = pytest.mark.full


def test_lint(
    installed: Callable[[str, str], Environment], shop: Path, ran_with: Callable[..., None]
) -> None:
    install, lint, fix = pages.commands("sqlfluff.md")
    environment = installed("sqlfluff", install)
    pages.write(shop, "sqlfluff.md")
    environment.run(lint, shop)

    model = shop / "models" / "revenue.sql"
    right = model.read_text()
    model.write_text(right.replace("select\n", "SELECT\n").replace("sum(if", "SUM(if"))
    found = json.loads(environment.run(f"{lint} --format json", shop, returns=1))
    wrong = {
        (Path(file["filepath"]).name, violation["code"], violation["start_line_no"])
        for file in found
        for violation in file["violations"]
    }
    lines = right.splitlines()
    keyword = lines.index("select") + 1
    # Names of keywords, and of functions, in one case.
    assert wrong == {("revenue.sql", "CP01", keyword), ("revenue.sql", "CP03", keyword + 2)}
    environment.run(fix, shop)
    environment.run(lint, shop)
    ran_with("sqlfluff", environment, "sqlfluff", "sqlfluff-templater-dbt", "dbt-core")
