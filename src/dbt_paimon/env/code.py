"""The code of a project's nodes, which `env promote` compares with the code that `env create` built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

    from dbt_paimon.lineage.project import Project


@dataclass(frozen=True)
class Code:
    """The code of all nodes of a project. Its methods load sqlglot, which other commands do without."""

    project: Project

    @classmethod
    def of(cls, manifest: Manifest) -> Code:
        """The code of dbt's manifest."""
        from dbt_paimon.lineage.project import Project, as_json

        return cls(Project(as_json(manifest)))

    def texts(self, unique_id: str) -> list[str]:
        """The Jinja of a node and of the project's macros and ephemeral models that it uses, without comments."""
        from dbt_paimon.lineage import macros

        return [text for _, text in macros.code(self.project, unique_id.lower())]

    def fingerprint(self, unique_id: str) -> str:
        """Identifies the node's Jinja, macros, config, contract, and the file of a seed."""
        from dbt_paimon.lineage import changes

        return changes.fingerprint(self.project, unique_id.lower())
