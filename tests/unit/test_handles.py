"""Spark settings that apply only to some statements."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.spark.handles import with_conf


@pytest.fixture
def settings() -> dict[str, str]:
    return {"kept": "1"}


def writer(settings: dict[str, str]):
    def write(key: str, value: str | None) -> None:
        if value is None:
            settings.pop(key)
        else:
            settings[key] = value

    return write


def test_settings_are_restored(settings) -> None:
    with with_conf({"kept": "2", "new": "3"}, settings.get, writer(settings)):
        assert settings == {"kept": "2", "new": "3"}
    assert settings == {"kept": "1"}


def test_settings_are_restored_after_an_error(settings) -> None:
    with pytest.raises(ValueError, match="own"), with_conf({"new": "3"}, settings.get, writer(settings)):
        raise ValueError("own")
    assert settings == {"kept": "1"}


def test_the_error_of_the_statement_is_reported() -> None:
    """If Spark's JVM has ended, the settings cannot be restored."""

    def write(key: str, value: str | None) -> None:
        if value is None:
            raise ConnectionRefusedError

    with pytest.raises(ValueError, match="own"), with_conf({"new": "3"}, lambda key: None, write):
        raise ValueError("own")
