"""Which values are secrets, and where they are masked or refused."""

from __future__ import annotations

import os
import re
from importlib.resources import files

import pytest
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors import redaction
from dbt.adapters.paimon.options.table_options import option_fault
from dbt.adapters.paimon.sql import procedures


@pytest.mark.parametrize(
    ("key", "value", "secrets"),
    [
        ("s3.secret-key", "s3cr3t", ("s3cr3t",)),
        ("s3.endpoint", "http://host", ()),
        ("fs.s3a.token.enabled", "true", ()),
        ("token.provider", "bear", ()),
        ("dlf.token-path", "/run/token", ()),
        ("fs.s3a.aws.credentials.provider", "org.example.Provider", ()),
        ("jdbc.password", "abc", ()),
        ("kafka.ssl.keystore.key", "-----BEGIN", ("-----BEGIN",)),
        ("uri", "jdbc:mysql://ann:hunter2@db/x?password=pa55word&a=b", ("pa55word", "hunter2")),
        ("uri", "http://token@host/", ("token",)),
        ("uri", "http://ann:p@ss/w@host/", ()),
        ("uri", "http://ann:p@ss@host/", ("p@ss",)),
        ("uri", "http://ann:p%40ssw@host/", ("p%40ssw", "p@ssw")),
        ("uri", "http://host/?mail=a@b", ()),
        ("warehouse", "abfss://sales@acct.dfs.core.windows.net/wh", ()),
        ("warehouse", "wasb://sales@acct.blob.core.windows.net:443/wh", ()),
        ("warehouse", "abfs://ann:hunter2@acct.dfs.core.windows.net/wh", ("hunter2",)),
        ("jars", "https://a.blob.core.windows.net/c/x.jar?sv=2024-11-04&sr=b&sig=q%2Bw8", ("q%2Bw8", "q+w8")),
        ("jars", "https://b.s3.amazonaws.com/x.jar?X-Amz-Date=2024&X-Amz-Signature=fe12", ("fe12",)),
        ("jars", "https://b.s3.amazonaws.com/x.jar?AWSAccessKeyId=AKIA&Signature=fe12", ("AKIA", "fe12")),
        (
            "spark.driver.extraJavaOptions",
            "-Da=b -Dx.passphrase='two words' -Dy.token=tok-1",
            ("two words", "tok-1"),
        ),
        ("sasl.jaas.config", 'required username="ann" password="hunter2";', ("hunter2",)),
    ],
)
def test_secrets_of(key: str, value: str, secrets: tuple[str, ...]) -> None:
    assert redaction.secrets_of([(key, value)]) == secrets


def test_a_secret_that_contains_another_is_masked_completely() -> None:
    secrets = redaction.secrets_of([("password", "pass"), ("secret", "password-of-ann")])
    assert redaction.blank("x password-of-ann y pass z", secrets) == f"x {redaction.MASK} y {redaction.MASK} z"


def test_signed_urls_are_masked_and_containers_are_not() -> None:
    text = "abfss://sales@acct/wh and https://acct/x.jar?sig=abcd&sv=2024, where sig = 1"
    assert redaction.redact_text(text) == text.replace("abcd", redaction.MASK)


def test_dbt_gets_the_secrets_to_redact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"DBT_ENV_SECRET_A": "known"})
    PaimonCredentials(schema="s", warehouse="/x", catalog_options={"s3.secret-key": "known", "token": "other"})
    with pytest.raises(DbtRuntimeError, match=r"\*\*\*\*\* and \*\*\*\*\*"):
        raise DbtRuntimeError("known and other")
    assert sorted(os.environ.values()) == ["known", "other"]


@pytest.mark.parametrize("name", ["s3.secret-key", "metadata.iceberg.jdbc.password", "fs.oss.accessKeySecret"])
def test_secret_table_options_are_refused(name: str) -> None:
    assert option_fault(name, "s3cr3t", "0.9.0") == redaction.REFUSAL
    with pytest.raises(ValidationError, match=re.escape(f"tblproperties: {name}: anyone who reads the table")):
        PaimonCredentials.translate_aliases({"materialized": "table", "tblproperties": {name: "s3cr3t", "bucket": 1}})
    with pytest.raises(DbtRuntimeError) as raised:
        procedures.render("compact", ("c", "s", "t"), {"options": {name: "s3cr3t"}}, Versions.of("0.9.0"))
    assert redaction.REFUSAL in str(raised.value) and "s3cr3t" not in str(raised.value)


@pytest.mark.parametrize("name", ["fields.token.aggregate-function", "file-index.bloom-filter.password.fpp"])
def test_a_column_may_have_any_name(name: str) -> None:
    config = {"tblproperties": {name: "0.1", "bucket": None}}
    assert PaimonCredentials.translate_aliases(config) == config
    assert option_fault(name, "sum", "0.9.0") != redaction.REFUSAL


def test_sparks_log_masks_the_same_secrets() -> None:
    properties = files("dbt.adapters.paimon.spark.launch").joinpath("log4j2.properties").read_text("utf-8")
    pattern = properties.replace("\\\\", "\\")
    assert f"{{{redaction.USER_INFO}}}{{{redaction.MASK}}}" in pattern
    assert f"{{(?i){redaction.INLINE}}}{{$1{redaction.MASK}}}" in pattern
