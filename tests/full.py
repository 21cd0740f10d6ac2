"""pytest plugin: runs tests marked `full` only with `--full` (`make test-full`) or if a test file is named."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run the tests marked `full`")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "full: not in CI, where another test shows the same on one engine, store or strategy less"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked `full` unless they are requested."""
    if config.getoption("full") or any(".py" in argument for argument in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]
