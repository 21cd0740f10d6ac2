"""What is checked before Spark starts."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import check_warehouse


def check(credentials):
    check_warehouse(Runtime(credentials))


def test_a_local_warehouse_is_made(tmp_path):
    check(PaimonCredentials(schema="s", warehouse=str(tmp_path / "new" / "lake")))
    assert (tmp_path / "new" / "lake").is_dir()


def test_a_warehouse_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DbtRuntimeError, match="cannot be written"):
        check(PaimonCredentials(schema="s", warehouse=str(tmp_path / "file" / "lake")))


def test_another_storage_is_not_looked_at():
    check(PaimonCredentials(schema="s", warehouse="s3://bucket/lake"))
