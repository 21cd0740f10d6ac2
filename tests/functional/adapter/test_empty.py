"""dbt's own suite: --empty."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    BaseTestEmptySeedFlag,
    MetadataWithEmptyFlag,
)


class TestTestEmpty(BaseTestEmpty):
    pass


class TestTestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef):
    pass


class TestTestEmptySeedFlag(BaseTestEmptySeedFlag):
    pass


# Spark's VARCHAR needs a length.
class TestMetadataWithEmptyFlag(MetadataWithEmptyFlag):
    @pytest.fixture(scope="class")
    def models(self):
        base = MetadataWithEmptyFlag.models.__wrapped__(self)
        return {name: text.replace('"varchar"', '"string"') for name, text in base.items()}
