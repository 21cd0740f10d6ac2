"""Spark settings that apply only to some statements, or to a view."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from dbt.adapters.paimon.spark.handles import Handle


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
        if value is None:
            self.settings.pop(key)
        else:
            self.settings[key] = value


# The test needs no cursor.
Session.__abstractmethods__ = frozenset()


@pytest.fixture
def session() -> Session:
    return Session({"kept": "1"})


def test_settings_are_restored(session: Session) -> None:
    with session.configured({"kept": "2", "new": "3"}):
        assert session.settings == {"kept": "2", "new": "3"}
    assert session.settings == {"kept": "1"}


def test_settings_are_restored_after_an_error(session: Session) -> None:
    with pytest.raises(ValueError, match="own"), session.configured({"new": "3"}):
        raise ValueError("own")
    assert session.settings == {"kept": "1"}


def test_the_error_of_the_statement_is_reported(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """If Spark's JVM has ended, the settings cannot be restored."""
    monkeypatch.setattr(session, "_set", Mock(side_effect=[None, ConnectionRefusedError]))
    with pytest.raises(ValueError, match="own"), session.configured({"new": "3"}):
        raise ValueError("own")


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
