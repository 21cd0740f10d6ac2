"""Finds the value edges of a query in Spark's analyzed plan."""

from __future__ import annotations

from typing import Any

from dbt.adapters.paimon.sql.scala import elements

Field = tuple[str, str]


class Edges:
    """Follows the ids of attributes through an analyzed plan, down to tables and views. Does not look inside views."""

    def __init__(self) -> None:
        self._base: dict[int, Field] = {}
        self._from: dict[int, set[int]] = {}
        # CTE id -> the ids of the CTE's output attributes.
        self._ctes: dict[int, list[int]] = {}

    def of(self, frame: Any) -> dict[str, set[Field]]:
        """For each output column of a query, the columns that it is computed from, as (schema.table, column)."""
        plan = frame._jdf.queryExecution().analyzed()
        self._plan(plan)
        return {str(each.name()).lower(): self._bases(_id(each), set()) for each in elements(plan.output())}

    def _bases(self, attribute: int, seen: set[int]) -> set[Field]:
        if attribute in seen:
            return set()
        seen.add(attribute)
        own = {self._base[attribute]} if attribute in self._base else set()
        return own.union(*(self._bases(each, seen) for each in self._from.get(attribute, ())))

    def _plan(self, plan: Any) -> None:
        kind = plan.getClass().getSimpleName()
        if kind in ("View", "DataSourceV2Relation"):
            name = plan.desc().identifier().unquotedString() if kind == "View" else plan.identifier().get().toString()
            table = ".".join(str(name).replace("`", "").split(".")[-2:])
            self._base |= {_id(each): (table, str(each.name()).lower()) for each in elements(plan.output())}
            return
        if kind == "WithCTE":
            for each in elements(plan.cteDefs()):
                self._plan(each.child())
                self._ctes[each.id()] = _ids(each.child().output())
        for child in elements(plan.children()):
            self._plan(child)
        self._outputs(kind, plan)
        for expression in elements(plan.expressions()):
            self._aliases(expression)

    def _outputs(self, kind: str, plan: Any) -> None:
        """Link the output attributes that a plan node creates without an alias."""
        if kind == "CTERelationRef":
            self._link(_ids(plan.output()), self._ctes[plan.cteId()])
        if kind in ("Union", "Intersect", "Except"):
            for child in elements(plan.children())[: 1 if kind == "Except" else None]:
                self._link(_ids(plan.output()), _ids(child.output()))
        if kind == "Generate":
            read = self._values(plan.generator())
            for each in _ids(plan.generatorOutput()):
                self._from.setdefault(each, set()).update(read)
        if kind == "Expand":
            for projection in elements(plan.projections()):
                for each, expression in zip(_ids(plan.output()), elements(projection), strict=True):
                    self._from.setdefault(each, set()).update(self._values(expression))

    def _link(self, outputs: list[int], inputs: list[int]) -> None:
        for one, other in zip(outputs, inputs, strict=True):
            if one != other:
                self._from.setdefault(one, set()).add(other)

    def _aliases(self, expression: Any) -> None:
        kind = expression.getClass().getSimpleName()
        if kind == "Alias":
            self._from.setdefault(_id(expression), set()).update(self._values(expression.child()))
        for child in elements(expression.children()):
            self._aliases(child)

    def _values(self, expression: Any) -> set[int]:
        """The attributes that an expression's value is computed from, without those that only order, group or filter rows."""
        kind = expression.getClass().getSimpleName()
        if kind == "WindowExpression":
            return self._values(expression.windowFunction())
        if kind in ("RowNumber", "Rank", "DenseRank", "PercentRank", "NTile", "CumeDist"):
            return set()
        if kind == "AggregateExpression":
            return self._values(expression.aggregateFunction())
        if kind == "ScalarSubquery":
            self._plan(expression.plan())
            return {_ids(expression.plan().output())[0]}
        own = {_id(expression)} if kind == "AttributeReference" else set()
        return own.union(*(self._values(child) for child in elements(expression.children())))


def _id(attribute: Any) -> int:
    return int(attribute.exprId().id())


def _ids(attributes: Any) -> list[int]:
    return [_id(each) for each in elements(attributes)]
