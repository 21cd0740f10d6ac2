"""dbt-paimon: SQL models as Apache Paimon tables through Spark."""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.impl import PaimonAdapter
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.include import paimon

Plugin = AdapterPlugin(
    adapter=PaimonAdapter,  # type: ignore[arg-type]
    credentials=PaimonCredentials,
    include_path=paimon.PACKAGE_PATH,
    dependencies=["spark"],
)

__all__ = ["PaimonAdapter", "PaimonColumn", "PaimonConnectionManager", "PaimonCredentials", "PaimonRelation", "Plugin"]
