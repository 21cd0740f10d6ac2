"""`dbt-paimon stream` selects streaming models only."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_paimon import commands, stream


def test_each_selector_is_limited_to_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(commands, "listed", lambda words, *keys: asked.append(words) or [])
    with pytest.raises(DbtRuntimeError, match="No streaming model is selected by"):
        stream.run(["+events copied", "tag:x"], [], False, {})
    only = "config.materialized:streaming"
    assert asked[0][2:6] == ["--select", f"+events,{only}", f"copied,{only}", f"tag:x,{only}"]
