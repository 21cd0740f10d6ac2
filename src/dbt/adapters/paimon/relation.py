"""Names of tables and views, always of three parts: catalog, schema and identifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dbt.adapters.base.relation import BaseRelation, EventTimeFilter
from dbt.adapters.contracts.relation import ComponentName, HasQuoting, Policy, RelationConfig, RelationType
from dbt.adapters.exceptions import ApproximateMatchError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql import event_time, views


@dataclass
class PaimonQuotePolicy(Policy):
    """Every part is quoted: Paimon allows names that Spark's grammar only accepts in backticks."""

    database: bool = True
    schema: bool = True
    identifier: bool = True


@dataclass
class PaimonIncludePolicy(Policy):
    """Every part is written: the session's current catalog must not decide where a model is built."""

    database: bool = True
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class PaimonRelation(BaseRelation):
    """dbt's relation; `database` is Spark's catalog, `schema` is Paimon's database.

    If its catalog cannot store views, a view is rendered with the catalog where it is stored (see `sql.views`), under
    the same schema and identifier. `database` stays the profile's catalog, so that dbt's cache and manifest know only
    one name for it.
    """

    quote_policy: Policy = field(default_factory=PaimonQuotePolicy)
    include_policy: Policy = field(default_factory=PaimonIncludePolicy)
    quote_character: str = "`"
    require_alias: bool = False
    # Follows the name in FROM: VERSION AS OF …, TIMESTAMP AS OF … (see `time_travel`).
    travel: str = ""
    # Whether a name is a catalog of Spark, and the target's catalog; of the adapter that was made last.
    _is_catalog: ClassVar[Callable[[str], bool]] = staticmethod(lambda name: True)
    _own_catalog: ClassVar[str | None] = None

    @classmethod
    def know_catalogs(cls, own: str, is_catalog: Callable[[str], bool]) -> None:
        """Set the target's catalog, and what knows whether a name is a catalog."""
        cls._own_catalog, cls._is_catalog = own, staticmethod(is_catalog)

    @classmethod
    def catalog_of(cls, database: str | None, schema: str | None) -> str | None:
        """The catalog that is meant; for dbt-spark a database is the schema, which is then the target's."""
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
        """A relation by its parts (see `catalog_of`)."""
        relation: PaimonRelation = super().create(
            cls.catalog_of(database, schema), schema, identifier, type, **kwargs
        )
        return relation

    @classmethod
    def create_from(
        cls, quoting: HasQuoting, relation_config: RelationConfig, **kwargs: Any
    ) -> PaimonRelation:
        """Make the relation of a node in the manifest; a view model has the type View from the start.

        The type decides with which catalog the name is rendered, even before the cache knows the relation. All parts
        are quoted, also with dbt's `quoting: {identifier: false}`; only dbt's own lines name it as they ask for it.
        """
        config = relation_config.config
        if (
            config is not None
            and config.get("materialized") == "view"
            and relation_config.resource_type == "model"
        ):
            kwargs.setdefault("type", RelationType.View)
        for_display = "quote_policy" in kwargs
        relation: PaimonRelation = super().create_from(quoting, relation_config, **kwargs)
        if for_display:
            return relation
        # Whatever `quoting` says: Spark looks up a name in backticks like one without, and policies are part of `==`.
        return relation.replace(quote_policy=PaimonQuotePolicy())

    def without_identifier(self) -> PaimonRelation:
        """The schema, without a type: otherwise dbt would list the schema once for tables and once for views."""
        schema: PaimonRelation = self.include(identifier=False).replace_path(identifier=None)
        return schema.replace(type=None)

    def matches(
        self, database: str | None = None, schema: str | None = None, identifier: str | None = None
    ) -> bool:
        """Whether this is the relation of that name.

        Raises:
            DbtRuntimeError: the names differ only in case. dbt's own message asks to delete the relation.
        """
        try:
            return bool(super().matches(database, schema, identifier))
        except ApproximateMatchError as exc:
            wanted = ".".join(part for part in (schema, identifier) if part)
            raise DbtRuntimeError(
                f"{self.shown} exists, and {wanted} differs from it only in case: dbt takes them for one. Use the name "
                "of the existing one, or one that differs more, as `schema` or `alias` of the node's config."
            ) from exc

    def quoted(self, identifier: str) -> str:
        """Quote one part; backticks within it are doubled."""
        return f"`{identifier.replace('`', '``')}`"

    def render(self) -> str:
        """The full name as Spark finds it, with the time-travel clause."""
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
        """The rows of a batch or a sample of an input (see `sql.event_time`); empty if the window has no bound."""
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
        """`schema.identifier`, as dbt's own lines name a table."""
        return f"{self.schema}.{self.identifier}"

    @property
    def in_catalog(self) -> str:
        """`schema.identifier` without the catalog, quoted, for RENAME TO, which takes none before Paimon 1.1."""
        return str(self.include(database=False).replace(type=RelationType.Table).render())

    def system_table(self, name: str) -> str:
        """The rendered name of one of the table's system tables, for example `snapshots` or `files`."""
        return str(
            self.replace_path(identifier=f"{self.identifier}${name}")
            .replace(type=RelationType.Table, quote_policy=PaimonQuotePolicy())
            .render()
        )
