"""Write-audit-publish: a model's data tests, compiled against the branch with its new rows.

dbt compiles them as for `dbt test`, except that `ref()` of the model returns the branch.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.relation import PaimonRelation

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# The branch, and the tag of the published state where it starts.
BRANCH: Final = "dbt_audit"


@dataclass(frozen=True)
class Audit:
    """A compiled data test."""

    name: str
    sql: str
    config: Any  # dbt's TestConfig


@dataclass(frozen=True)
class Result:
    """The result of a data test: the number of failing rows, and whether that is an error or a warning."""

    name: str
    failures: int
    is_error: bool
    is_warning: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.failures} {'row' if self.failures == 1 else 'rows'}"


def of_model(model_id: str, manifest: Manifest) -> list[Any]:
    """The data tests that can run before the model is published, ordered by name.

    A test that also reads a model not upstream of this one runs later: that table may not be built yet.
    """
    upstream = _upstream(model_id, manifest)
    nodes: Iterable[Any] = manifest.nodes.values()
    tests = [
        node
        for node in nodes
        if node.resource_type == "test"
        and model_id in node.depends_on.nodes
        and manifest.nodes.keys() & set(node.depends_on.nodes) <= upstream
    ]
    return sorted(tests, key=lambda node: str(node.name))


def compiled(
    tests: Iterable[Any], published: PaimonRelation, audited: PaimonRelation, config: Any, manifest: Manifest
) -> list[Audit]:
    """The data tests as SQL in which ref() of `published` reads `audited`."""
    from dbt.clients.jinja import add_rendered_test_kwargs
    from dbt.compilation import Compiler
    from dbt.contracts.graph.nodes import GenericTestNode

    class AuditCompiler(Compiler):
        def _create_node_context(self, node: Any, manifest: Manifest, extra_context: dict[str, Any]) -> dict[str, Any]:
            context: dict[str, Any] = super()._create_node_context(node, manifest, extra_context)
            ref = context["ref"]

            def audited_ref(*args: Any, **kwargs: Any) -> Any:
                relation = ref(*args, **kwargs)
                is_published = relation.parts == published.parts
                return relation.replace_path(identifier=audited.identifier) if is_published else relation

            context["ref"] = audited_ref
            context["builtins"] = {**context["builtins"], "ref": audited_ref}
            if isinstance(node, GenericTestNode):
                add_rendered_test_kwargs(context, node)
            return context

    compiler = AuditCompiler(config)
    found = []
    for test in tests:
        # A copy: dbt compiles the node again, against the published table, when it runs it.
        node = compiler.compile_node(copy.deepcopy(test), manifest, write=False)
        found.append(Audit(node.name, node.compiled_code or "", node.config))
    return found


def result(audit: Audit, row: Sequence[Any]) -> Result:
    """Evaluate a row of dbt's get_test_sql as TestRunner.build_test_result does."""
    failures, should_warn, should_error = row
    is_error = str(audit.config.severity).upper() == "ERROR" and _is_true(should_error)
    return Result(audit.name, int(failures or 0), is_error, not is_error and _is_true(should_warn))


def refuse_failed(model: Mapping[str, Any], audited: PaimonRelation, results: Sequence[Result]) -> None:
    """Fail a node if one of its data tests failed: say where the rows are, and what to do."""
    failed = [result for result in results if result.is_error]
    if not failed:
        return
    listed = "\n".join(f"  {result}" for result in failed)
    name = model["name"]
    raise DbtRuntimeError(
        f"model '{name}': {len(failed)} of {len(results)} audits failed, and nothing was published.\n"
        f"{listed}\n  The rows that failed are in {audited}. Fix the model or its sources and run it again; "
        f"or publish them anyway: dbt run-operation publish --args '{{relation: {name}}}'"
    )


def _upstream(model_id: str, manifest: Manifest) -> set[str]:
    found: set[str] = set()
    waiting = [model_id]
    while waiting:
        node_id = waiting.pop()
        if node_id not in found and node_id in manifest.nodes:
            found.add(node_id)
            node: Any = manifest.nodes[node_id]
            waiting += node.depends_on.nodes
    return found


def _is_true(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() in ("true", "1")
