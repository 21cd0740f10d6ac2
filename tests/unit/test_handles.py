"""Spark settings that apply only to some statements, or to a view."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.spark.handles import Handle, with_conf


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


class Session(Handle):
    """A handle whose settings are a dictionary."""

    def __init__(self, settings: dict[str, str]) -> None:
        super().__init__()
        self.settings = settings
        self.reads = 0

    def _settings(self) -> dict[str, str]:
        self.reads += 1
        return dict(self.settings)

    def _value_of(self, key: str) -> str | None:
        return self.settings.get(key)

    def _set(self, key: str, value: str | None) -> None:
        writer(self.settings)(key, value)


# The test needs no cursor.
Session.__abstractmethods__ = frozenset()

ZONE = "spark.sql.session.timeZone"


def test_a_view_does_not_get_the_settings_of_its_reader() -> None:
    handle = Session({ZONE: "UTC", "spark.sql.kept": "1"})
    handle.remember_settings()
    of_node = {ZONE: "Asia/Tokyo", "spark.sql.ansi.enabled": "true"}
    with handle.configured(of_node):
        assert handle.changed_settings() == of_node
        with handle.view_settings() as settings:
            assert handle.settings[ZONE] == "Asia/Tokyo"
            with settings({"spark.sql.kept": "2"}):
                assert handle.settings == {ZONE: "UTC", "spark.sql.kept": "2"}
            reads = handle.reads
            with settings({}):
                assert handle.settings == {ZONE: "UTC", "spark.sql.kept": "1"}
            assert handle.reads == reads
        assert handle.settings == {"spark.sql.kept": "1", **of_node}
    assert handle.changed_settings() == {}


def test_settings_that_were_not_remembered_stay() -> None:
    handle = Session({ZONE: "UTC"})
    with handle.view_settings() as settings, settings({}):
        assert handle.settings == {ZONE: "UTC"}
    assert (handle.changed_settings(), handle.reads) == ({}, 0)
