"""The URL of a Spark Connect server, which PySpark parses again."""

import pytest
from pyspark.sql.connect.client import core

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.connect import _url

# PySpark 4 has split ChannelBuilder in two.
BUILDER = getattr(core, "DefaultChannelBuilder", core.ChannelBuilder)


@pytest.mark.parametrize("text", ["YWJjZGVm==", "ab/cd", "ab%41cd", "a;b", "svc/host@REALM"])
def test_token_and_user_may_contain_anything(text: str) -> None:
    credentials = PaimonCredentials.from_dict(
        {"schema": "s", "method": "connect", "host": "h", "token": text, "user": text, "use_ssl": True}
    )
    builder = BUILDER(_url(credentials, "h", 15002, {}))
    assert (builder.get("token"), builder.userId) == (text, text)
