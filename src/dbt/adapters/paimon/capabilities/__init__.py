"""What a combination of Paimon, Spark and catalog supports: the only package that compares versions."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_common.exceptions import DbtRuntimeError
from packaging.version import Version

from dbt.adapters.paimon.capabilities.rules import Capability, Rule
from dbt.adapters.paimon.capabilities.version_numbers import USUAL_SPARK, as_version, reaches

__all__ = ("Capability", "Versions")


@dataclass(frozen=True)
class Versions:
    """A combination of versions and catalog kind ('filesystem', 'hive', 'jdbc' or 'rest')."""

    paimon: Version
    spark: Version
    catalog_kind: str = "filesystem"
    # spark.sql.caseSensitive
    case_sensitive: bool = False

    @classmethod
    def of(
        cls, paimon: str | Version, spark: str | Version = USUAL_SPARK, catalog_kind: str = "filesystem"
    ) -> Versions:
        return cls(as_version(paimon), as_version(spark), catalog_kind.lower())

    def supports(self, capability: Capability) -> bool:
        return self._missing(capability) is None

    def require(self, capability: Capability, what: str) -> None:
        """Raise DbtRuntimeError if `what`, such as "materialized='view'", needs a capability that is missing."""
        if missing := self.explain(capability):
            raise DbtRuntimeError(f"{what}: {missing}")

    def explain(self, capability: Capability) -> str:
        """Why a capability is missing, and the remedy, as a sentence; '' if it is supported."""
        missing, rule = self._missing(capability), capability.value
        return f"{rule.label}: {missing}. {rule.remedy}".rstrip() if missing else ""

    def describe(self) -> list[tuple[str, bool, str]]:
        """For `dbt debug`: (feature, whether it is supported, why not)."""
        missing = ((each.value.label, self._missing(each)) for each in Capability if each.value.listed)
        return [(label, why is None, why or "") for label, why in missing]

    def defects(self) -> list[str]:
        """The known defects of this Paimon version."""
        return [each.value.wrong for each in Capability if each.value.wrong and not self.supports(each)]

    def _missing(self, capability: Capability) -> str | None:
        """Why the capability is missing; None if it is supported."""
        rule = capability.value
        since, where = rule.paimon, ""
        if rule.catalogs:
            since, where = rule.catalogs.get(self.catalog_kind), f" on a {self.catalog_kind} catalog"
            if since is None:
                kinds = ", ".join(f"{kind} (Paimon >= {first})" for kind, first in rule.catalogs.items())
                return f"a {self.catalog_kind} catalog has none, unlike {kinds}"
        if since is None:
            return "no released Paimon has it"
        if not reaches(self.paimon, since):
            return f"needs Paimon >= {since}{where}, this is {self.paimon}"
        if rule.until is not None and reaches(self.paimon, rule.until):
            return f"gone since Paimon {rule.until}, this is {self.paimon}"
        return self._missing_in_spark(rule)

    def _missing_in_spark(self, rule: Rule) -> str | None:
        if rule.spark is not None and self.spark < Version(rule.spark):
            return f"needs Spark >= {rule.spark}, this is {self.spark}"
        if rule.until_spark is not None and self.spark >= Version(rule.until_spark):
            return f"gone since Spark {rule.until_spark}, this is {self.spark}"
        return None
