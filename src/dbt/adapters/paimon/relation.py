"""Names of tables and views: catalog, schema and identifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dbt.adapters.base.relation import BaseRelation, EventTimeFilter
from dbt.adapters.contracts.relation import ComponentName, HasQuoting, Policy, RelationConfig, RelationType
from dbt.adapters.exceptions import ApproximateMatchError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql import event_time, views
from dbt.adapters.paimon.sql.text import quoted


@dataclass(frozen=True, eq=False, repr=False)
class PaimonRelation(BaseRelation):
    """dbt's relation; `database` is Spark's catalog, `schema` is Paimon's database.

    A view whose catalog cannot store views is rendered with the catalog that stores it (see `sql.views`). Its
    `database` stays the same, so that dbt's cache and manifest use one name.
    """

    # All parts are quoted, because Paimon allows names that Spark only accepts in backticks.
    quote_policy: Policy = field(default_factory=Policy)
    # All parts are rendered, so that the session's current catalog does not matter.
    include_policy: Policy = field(default_factory=Policy)
    quote_character: str = "`"
    require_alias: bool = False
    # The clause after the name in FROM: VERSION AS OF …, TIMESTAMP AS OF … (see `time_travel`).
    travel: str = ""
    # `_is_catalog` checks whether Spark has a catalog; `_own_catalog` is the target's. The last new adapter sets both.
    _is_catalog: ClassVar[Callable[[str], bool]] = staticmethod(lambda name: True)
    _own_catalog: ClassVar[str | None] = None

    @classmethod
    def know_catalogs(cls, own: str, is_catalog: Callable[[str], bool]) -> None:
        """Set the target's catalog, and the function that checks whether Spark has a catalog."""
        cls._own_catalog, cls._is_catalog = own, staticmethod(is_catalog)

    @classmethod
    def catalog_of(cls, database: str | None, schema: str | None) -> str | None:
        """The catalog: the database, or the target's catalog if the database is the schema's name, as in dbt-spark."""
        if database and database == schema and database != cls._own_catalog and not cls._is_catalog(database):
            return cls._own_catalog
        return database

    @classmethod
    def create(
        cls,
        database: str | None = None,
        schema: str | None = None,
        identifier: str | None = None,
        type: RelationType | None = None,
        **kwargs: Any,
    ) -> PaimonRelation:
        relation: PaimonRelation = super().create(cls.catalog_of(database, schema), schema, identifier, type, **kwargs)
        return relation

    @classmethod
    def create_from(cls, quoting: HasQuoting, relation_config: RelationConfig, **kwargs: Any) -> PaimonRelation:
        """The relation of a node in the manifest.

        A view model has the type View even before it is in the cache, because the type determines the catalog in the
        rendered name. All parts are quoted, whatever dbt's `quoting` is, except in dbt's log (`quote_policy`).
        """
        config = relation_config.config
        is_view = config is not None and config.get("materialized") == "view"
        if is_view and relation_config.resource_type == "model":
            kwargs.setdefault("type", RelationType.View)
        for_display = "quote_policy" in kwargs
        relation: PaimonRelation = super().create_from(quoting, relation_config, **kwargs)
        if for_display:
            return relation
        # Backticks do not change what Spark finds. But `==` compares quote policies, so all of them must be the same.
        return relation.replace(quote_policy=Policy())

    def without_identifier(self) -> PaimonRelation:
        """The schema without a type, because dbt would list it once per type."""
        schema: PaimonRelation = self.include(identifier=False).replace_path(identifier=None)
        return schema.replace(type=None)

    def matches(self, database: str | None = None, schema: str | None = None, identifier: str | None = None) -> bool:
        """Override: for names that differ only in case, dbt's own error would ask the user to delete the relation."""
        try:
            return bool(super().matches(database, schema, identifier))
        except ApproximateMatchError as exc:
            wanted = ".".join(part for part in (schema, identifier) if part)
            raise DbtRuntimeError(
                f"{self.shown} exists, and {wanted} differs from it only in case, which dbt ignores. Set `schema` or "
                "`alias` in the node's config to the existing name, or to one that differs in more than case."
            ) from exc

    def quoted(self, identifier: str) -> str:
        return quoted(identifier)

    def render(self) -> str:
        """The full name in Spark, with the time-travel clause."""
        return f"{self._name()} {self.travel}".rstrip()

    def _name(self) -> str:
        named = self.include_policy.get_part(ComponentName.Database) and self.identifier
        if named and self.type in (None, RelationType.View):
            home = views.DIRECTORY.home_of(self.database, self.schema, self.identifier, self.type)
            if home != self.database:
                moved = self.replace_path(database=home)
                return str(super(PaimonRelation, moved).render())
        return str(super().render())

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        """The condition for an input's batch or sample; '' if the window has no bound."""
        window = event_time.Window.of(event_time_filter.start, event_time_filter.end)
        if window.is_open:
            return ""
        return event_time.condition(event_time.column_sql(event_time_filter.field_name), window)

    @property
    def parts(self) -> tuple[str, str, str]:
        """Catalog, schema and identifier, without backticks."""
        return self.database or "", self.schema or "", self.identifier or ""

    @property
    def shown(self) -> str:
        """`schema.identifier`, as in dbt's log."""
        return f"{self.schema}.{self.identifier}"

    @property
    def in_catalog(self) -> str:
        """The quoted `schema.identifier`, for RENAME TO, which takes no catalog before Paimon 1.1."""
        return str(self.include(database=False).replace(type=RelationType.Table).render())

    def system_table(self, name: str) -> str:
        """The rendered name of a system table, such as `snapshots` or `files`."""
        return str(
            self.replace_path(identifier=f"{self.identifier}${name}")
            .replace(type=RelationType.Table, quote_policy=Policy())
            .render()
        )
