"""The code of a project's nodes. `env promote` compares it with the code that `env create` built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

    from dbt_paimon.lineage.project import Project


@dataclass(frozen=True)
class Code:
    """The code of all nodes of a project. Only its methods load sqlglot, because other commands do not need it."""

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
        """A hash of the node's Jinja, macros, config and contract, and of the file of a seed."""
        from dbt_paimon.lineage import changes

        return changes.fingerprint(self.project, unique_id.lower())
