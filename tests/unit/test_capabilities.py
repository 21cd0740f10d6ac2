"""Versions and what they can do."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from packaging.version import Version

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.capabilities.artifacts import connector_artifact
from dbt.adapters.paimon.capabilities.version_numbers import options_versions, parse_version


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.9.0", "0.9.0"),
        (" 1.4.2 ", "1.4.2"),
        ("1.4-SNAPSHOT", "1.4"),
        ("3.5.7-amzn-0", "3.5.7"),
        ("v2.0", "2.0"),
    ],
)
def test_parse_version(text, expected):
    assert parse_version(text) == Version(expected)


@pytest.mark.parametrize("text", ["", "latest", "paimon"])
def test_text_that_is_no_version_is_refused(text):
    with pytest.raises(DbtRuntimeError, match="is not a version"):
        parse_version(text)


@pytest.mark.parametrize(
    ("paimon", "keys"),
    [
        ("0.9.0", ("0.9",)),
        ("1.0.1", ("0.9", "1.4")),
        ("1.3.2", ("0.9", "1.4")),
        ("1.4.2", ("1.4",)),
        ("1.5.0", ("1.4", "2.0")),
        ("2.0.0", ("2.0",)),
        ("2.1.0", ("2.0",)),
    ],
)
def test_options_version(paimon, keys):
    assert options_versions(Version(paimon)) == keys


def test_a_paimon_older_than_the_catalogue_is_refused():
    with pytest.raises(DbtRuntimeError, match=r"Paimon 0\.8\.2 is too old"):
        options_versions(Version("0.8.2"))


@pytest.mark.parametrize(
    ("spark", "paimon", "artifact"),
    [
        ("3.5.7", "0.9.0", "paimon-spark-3.5:0.9.0"),
        ("3.2.4", "1.0.1", "paimon-spark-3.2:1.0.1"),
        ("3.5.7", "1.3.2", "paimon-spark-3.5:1.3.2"),
        ("3.5.7", "1.4.2", "paimon-spark-3.5_2.12:1.4.2"),
        ("3.4.1", "2.0.0", "paimon-spark-3.4_2.12:2.0.0"),
        ("4.0.0", "1.2.0", "paimon-spark-4.0:1.2.0"),
        ("4.0.0", "1.4.2", "paimon-spark-4.0_2.13:1.4.2"),
        ("4.1.0", "2.0.0", "paimon-spark-4.1_2.13:2.0.0"),
    ],
)
def test_connector_artifact(spark, paimon, artifact):
    assert connector_artifact(spark, paimon) == f"org.apache.paimon:{artifact}"


@pytest.mark.parametrize(
    ("spark", "paimon", "message"),
    [
        ("3.1.3", "0.9.0", "no connector for Spark 3.1.3"),
        ("4.0.0", "0.9.0", "the first is Paimon 1.2"),
        ("4.1.0", "1.4.2", "the first is Paimon 2.0"),
        ("3.5.7", "0.7.0", "too old"),
    ],
)
def test_connectors_that_were_never_published(spark, paimon, message):
    with pytest.raises(DbtRuntimeError, match=message):
        connector_artifact(spark, paimon)


@pytest.mark.parametrize(
    ("capability", "paimon", "catalog", "expected"),
    [
        (Capability.VIEWS, "0.9.0", "hive", False),
        (Capability.VIEWS, "1.0.0", "hive", True),
        (Capability.VIEWS, "1.0.0", "rest", False),
        (Capability.VIEWS, "1.1.0", "rest", True),
        (Capability.VIEWS, "1.4.2", "jdbc", False),
        (Capability.VIEWS, "2.0.0", "jdbc", True),
        (Capability.VIEWS, "2.0.0", "filesystem", False),
        (Capability.POSTPONE_BUCKET, "1.0.1", "filesystem", False),
        (Capability.POSTPONE_BUCKET, "1.1.0", "filesystem", True),
        (Capability.FIXED_BUCKET_ACROSS_PARTITIONS, "1.2.0", "filesystem", False),
        (Capability.FIXED_BUCKET_ACROSS_PARTITIONS, "1.3.0", "filesystem", True),
        (Capability.FIELD_DEFAULT_VALUE, "1.1.1", "filesystem", True),
        (Capability.FIELD_DEFAULT_VALUE, "1.2.0", "filesystem", False),
        (Capability.MERGE_ON_VARCHAR, "1.2.0", "filesystem", False),
        (Capability.MERGE_ON_VARCHAR, "1.3.1", "filesystem", True),
        (Capability.MERGE_ON_CHAR, "2.0.0", "filesystem", False),
        (Capability.COMPACT_ORDER, "0.9.0", "filesystem", True),
        # a release candidate has what its release has
        (Capability.POSTPONE_BUCKET, "1.1.0rc1", "filesystem", True),
    ],
)
def test_supports(capability, paimon, catalog, expected):
    assert Versions.of(paimon, catalog_kind=catalog).supports(capability) is expected


@pytest.mark.parametrize(("spark", "expected"), [("3.5.7", False), ("4.0.1", False), ("4.1.0", True)])
def test_supports_by_spark(spark, expected):
    assert Versions.of("2.0.0", spark).supports(Capability.CONNECT_PRE_SHARED_KEY) is expected


@pytest.mark.parametrize("capability", [Capability.STATEMENT_PARAMETERS, Capability.COLUMN_NAMES_OF_ANY_TEXT])
def test_capabilities_that_spark_4_1_removed(capability):
    assert Versions.of("2.0.0", "4.0.1").supports(capability)
    later = Versions.of("2.0.0", "4.1.1")
    assert not later.supports(capability)
    assert "gone since Spark 4.1, this is 4.1.1" in later.explain(capability)


def test_require_says_what_and_which_version_and_the_remedy():
    versions = Versions.of("0.9.0", catalog_kind="hive")
    with pytest.raises(DbtRuntimeError) as raised:
        versions.require(Capability.VIEWS, "materialized='view'")
    message = str(raised.value)
    assert "materialized='view'" in message
    assert "needs Paimon >= 1.0 on a hive catalog, this is 0.9.0" in message
    assert "view_catalog" in message


def test_require_passes_a_supported_capability():
    Versions.of("1.4.2").require(Capability.POSTPONE_BUCKET, "bucket=-2")


def test_a_catalog_without_views_names_those_that_have_them():
    assert "hive (Paimon >= 1.0)" in Versions.of("2.0.0").explain(Capability.VIEWS)


@pytest.mark.parametrize("paimon", ["0.9.0", "1.2.0", "2.0.0"])
def test_describe_gives_a_reason_for_each_missing_capability(paimon):
    described = Versions.of(paimon).describe()
    assert len({label for label, _, _ in described}) == len(described)
    assert all(bool(reason) is not supported for _, supported, reason in described)


@pytest.mark.parametrize("capability", list(Capability))
def test_every_capability_has_a_rule(capability):
    versions = Versions.of("1.0.0")
    assert versions.supports(capability) is (versions.explain(capability) == "")
