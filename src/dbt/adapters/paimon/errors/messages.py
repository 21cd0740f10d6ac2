"""Short messages for errors of Spark and Paimon: what failed, where in the statement, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.errors import dialects

_CAUSE = re.compile(r"^Caused by: (?P<type>[\w.$]+)(?:: (?P<message>.*))?$", re.MULTILINE)
_FIRST = re.compile(
    r"^(?:: )?(?P<type>[a-z][\w.$]*\.[\w.$]*(?:Exception|Error)\w*)(?:: (?P<message>.*))?$", re.MULTILINE
)
_INNERMOST = re.compile(r"\): (?P<type>[a-z][\w.$]*(?:Exception|Error)): (?P<message>.*)$", re.MULTILINE)
_CONDITION = re.compile(r"^\[[A-Z_]+(?:\.[A-Z_]+)*\] .+$", re.MULTILINE)
_POSITION = re.compile(
    r"\(line (?P<a>\d+), pos \d+\)|; line (?P<b>\d+) pos \d+|== SQL ?\(line (?P<c>\d+), position \d+\) =="
)
# The last part of a path that Spark cannot find. It locates the line, because this error has no position.
_NO_PATH: Final = re.compile(r"\[PATH_NOT_FOUND\] Path does not exist: \S*/([^/\s]+?)\.?(?=\s|$)")
_TABLE = re.compile(
    r"\b(?:from|join|into|overwrite|table|using|update)\s+(?P<name>`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)*)", re.IGNORECASE
)
# Spark's advice that does not help a dbt user.
_IDLE_ADVICE: Final = re.compile(
    r" *(?:Verify the spelling and correctness of|If you did not qualify the name with"
    r"|To tolerate the error on drop use)[^.;]*\."
)
# The plan that some errors print after the position.
_PLAN: Final = re.compile(r"(; line \d+ pos \d+);.*$| from 'MergeIntoTable .*$")
# Wrapper exceptions, whose cause has the useful message.
_WRAPPERS = ("SparkException", "ExecutionException", "InvocationTargetException", "RuntimeException")


MEMORY_ADVICE: Final = (
    "Give Spark more memory (spark.driver.memory under `spark_config` in the profile; on a cluster also "
    "spark.executor.memory), run fewer `threads`, or process the input in smaller parts (as a microbatch model does)."
)


_UNKNOWN_FUNCTION: Final = (
    "Spark SQL has no function of this name. Correct the name, or choose a function from "
    "https://spark.apache.org/docs/latest/api/sql/."
)
# Paimon's FileUtils says this if a file being read no longer exists. (A commit conflict has its own message.)
EXPIRED: Final = "snapshot expires too fast"


@dataclass(frozen=True)
class Remedy:
    """A known failure: `pattern` is searched for in the error's text, and `advice` is appended to the message.

    In the advice, `{0}` is the matched text, and `{tables}` the tables in the statement.
    """

    pattern: str
    advice: str


# Matches errors of HiveMetaStoreClient in any version, whichever exception of Paimon or Spark wraps them.
_LOST_METASTORE: Final = r"thrift\.transport\.TTransportException|Could not connect to meta ?store|to Hive Metastore"

REMEDIES: tuple[Remedy, ...] = (
    Remedy(
        # Must precede the metastore's entry, because Parquet wraps this error in a Thrift transport exception.
        r"No space left on device|Disk quota exceeded|There is not enough space on the disk",
        "A disk is full: the warehouse's, or the one for Spark's temporary files (spark.local.dir). The "
        "tables are unchanged. Free space and run again (`dbt retry` runs what failed). To remove files that the "
        "failed statement may have left: `dbt run-operation remove_orphan_files --args "
        "'{{relation: …, older_than: <now>, dry_run: false}}'`.",
    ),
    Remedy(
        r"stopped SparkContext|SparkContext was shut down",
        "Spark was stopped while the statement ran (by `dbt-paimon server stop --force`, or by whoever runs the "
        "server). Each table is in its old or its new state: start Spark and run again (`dbt retry` runs what failed).",
    ),
    Remedy(
        EXPIRED,
        "Files of the table snapshot being read were deleted: the snapshot expired, or the table was recreated. Run "
        "again, and keep table snapshots longer than the longest read takes (snapshot_retention).",
    ),
    Remedy(
        r"branch/branch-[^/\s]+/schema/schema-\d+",
        "Paimon 0.9 does not copy all of a table's schemas to a new branch, so rows older than the table's last ALTER "
        "cannot be read in this branch. Recreate it with `method: session`, for which dbt-paimon copies the schemas, "
        "or with Paimon 1.0 or later.",
    ),
    Remedy(
        # PaimonCommand.findTouchedFiles
        r"Only compacted table can generate touched files",
        "Paimon can delete rows of a partial-update or aggregation table only if the table is compacted. Use "
        'delete_rows, which compacts it first: {{{{ delete_rows(this, "<condition>") }}}} in a hook, or '
        "dbt run-operation delete_rows.",
    ),
    Remedy(
        conflicts.CONFLICT_PATTERN.pattern,
        "Another writer changed the table's files in the meantime. Check the table's $snapshots before you run the "
        "model again: if only the compaction after an INSERT failed, the inserted rows are already committed.",
    ),
    Remedy(
        # CompactProcedure of 0.9 cannot evaluate the cast of a literal.
        r"cannot translate expression to source filter",
        "The partition condition must compare each column with a literal of its type: '2024-01-31' in quotes for a "
        "string, DATE '2024-01-31' for a date, 7L for a bigint. The macro `compact` quotes the values for you, in "
        "hooks, too: {{{{ compact(this, partitions=[{{'dt': '2024-01-31'}}]) }}}}.",
    ),
    Remedy(
        # ObjectsFile.read: Paimon names the file but not the table.
        r"Failed to read manifest(?: list)? \S+",
        "{0}: the metadata of a table that the statement reads or writes is damaged or missing ({tables}). "
        "If the table's option manifest.format was changed, restore its old value. Otherwise restore the file from a "
        "backup of the warehouse, or roll back to an intact table snapshot with rollback_to ($snapshots lists the "
        "manifest lists).",
    ),
    Remedy(
        r"PaimonSparkSessionExtensions|org\.apache\.paimon\.spark\.SparkCatalog.*(not found|ClassNotFound)",
        "Paimon's connector is not on Spark's class path: remove `jars` from the profile to have it resolved, or add "
        "its jar to `jars`.",
    ),
    Remedy(
        # FactoryUtil uses the thread's context class loader, which in a Thrift server does not have the jars of --jars.
        r"Could not find any factories that implement 'org\.apache\.paimon\.",
        "Start the server with Paimon's connector on the driver's class path as well (--driver-class-path), or put its "
        "jar among Spark's own jars.",
    ),
    Remedy(
        # Raised in the metastore's process, which creates the folders of databases and tables (Warehouse.mkdirs).
        r"MetaException\(message:Got exception: \S+ No FileSystem for scheme",
        "The Hive metastore has no Hadoop file system for the warehouse: set `location-in-properties: true` under "
        "catalog_options in the profile, so that Paimon stores table locations itself; or give the metastore "
        "that file system (hadoop-aws for s3a://).",
    ),
    Remedy(
        # FileIO.get; the classes are those of Hadoop's S3A, which handles s3a:// if Paimon's plug-in is missing.
        r"Could not find a file io implementation for scheme '(\w+)'|No FileSystem for scheme"
        r"|com/amazonaws/\w+|com\.amazonaws\.\w+ *not found|ClassNotFoundException: (?:Class )?com\.amazonaws\."
        r"|S3AFileSystem not found|AliyunOSSFileSystem not found",
        "The jar for this storage is missing: add it to `packages` or `jars` in the profile "
        "(org.apache.paimon:paimon-s3 for s3://, org.apache.paimon:paimon-oss for oss://), and write s3:// instead of "
        "s3a://.",
    ),
    Remedy(
        r"InvalidAccessKeyId|SignatureDoesNotMatch|Status Code: 40[13]|The AWS Access Key Id",
        "The storage rejects the keys, or they lack permission: check s3.access-key and s3.secret-key "
        "(fs.oss.accessKeyId and fs.oss.accessKeySecret) under catalog_options in the profile, and their "
        "user's permissions on the bucket.",
    ),
    Remedy(r"Tag (name )?'.*' already exists", "Delete it first (`delete_tag`), or use a different name."),
    Remedy(
        r"NoSuchBucket|UnknownStoreException|The specified bucket does not exist",
        "The bucket does not exist: create it, or correct `warehouse` or the endpoint in the profile.",
    ),
    Remedy(
        r"Unable to execute HTTP request|Connect to \S+ failed|SdkClientException: .*(?:[Cc]onnect|timed out)",
        "The storage does not answer. Each table is in its old or its new state: run again when the storage is back "
        "(`dbt retry` runs what failed).",
    ),
    Remedy(
        r"Call From \S+ to \S+ failed on|ConnectTimeoutException|could only be written to 0 of the"
        r"|NoRouteToHostException|SafeModeException",
        "HDFS does not answer, or does not accept writes. Each table is in its old or its new state: run again when "
        "HDFS is back (`dbt retry` runs what failed).",
    ),
    Remedy(
        r"(?:NoSuchMethodError|NoClassDefFoundError|NoSuchFieldError|IncompatibleClassChangeError): \S*\bscala[./]",
        "A jar on Spark's class path was built for a different Scala version than Spark's: check `jars`, `packages` "
        "and spark.jars for names with the wrong Scala version (_2.12 or _2.13).",
    ),
    Remedy(
        # Not for errors about Spark's own limits (executor memory, spark.driver.maxResultSize): they name the setting.
        r"OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded)",
        MEMORY_ADVICE,
    ),
    Remedy(
        r"Out of space in CodeCache",
        "The JVM's code cache is full: add -XX:ReservedCodeCacheSize=240m to spark.driver.extraJavaOptions "
        "under `spark_config` in the profile (-XX:TieredStopAtLevel=1 alone shrinks it to 48 MB).",
    ),
    Remedy(
        r"No suitable driver found for jdbc:",
        "The database's JDBC driver is not on Spark's class path: add its Maven coordinates to `packages` in the "
        "profile, or its jar to `jars`.",
    ),
    Remedy(
        r"password authentication failed|Access denied for user|no password was provided",
        "Correct jdbc.user and jdbc.password under `catalog_options` in the profile.",
    ),
    Remedy(
        # JdbcClientPool.newClient
        r"Failed to connect: jdbc:\S+",
        "{0}: the catalog's database does not answer or cannot be opened. Correct `uri` in the profile, or check that "
        "the database is running.",
    ),
    Remedy(
        # Raised by HiveCatalogLock; the reason is in the metastore's log.
        r"Internal error processing lock",
        "The Hive metastore cannot lock tables, usually because its database has no lock tables: create them with "
        "Hive's `schematool -initSchema` (or -upgradeSchema), or set lock.enabled to false under `catalog_options` in "
        "the profile and make sure that only one process writes at a time.",
    ),
    Remedy(
        _LOST_METASTORE,
        "The Hive metastore does not answer, or `uri` in the profile is not its address: check both. What was "
        "committed before is kept; the next run continues from there.",
    ),
    Remedy(
        # TaskResultGetter cannot deserialize the exception: its class is not on Spark's own class path.
        r"Lost task .*: UnknownReason",
        "A task failed with an error of the storage plug-in that Spark cannot pass on. Most likely the storage does "
        "not respond or rejects a request. The error is in spark.log next to dbt's log.",
    ),
    Remedy(
        r"java\.lang\.(?:Byte|Short) cannot be cast to (?:class )?java\.lang\.Integer",
        "Paimon 0.9 cannot filter a tinyint or smallint column of this table in Parquet. If dbt builds the table, run "
        "its model again. Otherwise: alter table … set tblproperties ('parquet.filter.stats.enabled'='false', "
        "'parquet.filter.dictionary.enabled'='false'). Set both: with the first alone, rows are not found.",
    ),
    Remedy(
        r"each of them match more th[ae]n one source rows",
        "Two rows of the model have the same unique_key or primary_key: keep one of them (row_number() … = 1). Or set "
        "primary_key and sequence_field: then 'delete+insert', 'microbatch' and 'upsert' keep the row with the highest "
        "sequence_field ('merge' does not).",
    ),
    Remedy(
        r"Try to write .* with a new bucket num (\d+), but the previous bucket num is (\d+)",
        "The number of buckets changed, but existing rows are still in the old buckets. Rewrite them: "
        "`dbt run-operation rescale` (for the partitions you list, or for all), or --full-refresh.",
    ),
    Remedy(
        # Paimon's own check; a message of `row_checks` already has a remedy.
        r"Cannot write null to non-null column\((\w+)\)(?! of )",
        "A primary-key or not_null column got a NULL: filter such rows out, or fill in a value in the model.",
    ),
    Remedy(
        # QueryExecutionErrors.ddlUnsupportedTemporarilyError; from Spark 4 unsupportedTableOperationError.
        r"(?:MERGE INTO|UPDATE) TABLE is not supported temporarily"
        r"|Table `unknown` does not support (?:MERGE INTO|UPDATE) TABLE",
        "The statement changes a temporary view, or a table that is not a Paimon table. `create_table_as(True, …)` "
        "creates a temporary view of the query. To create a table that can be changed, set relation = "
        "make_intermediate_relation(this, '__stage') and run create_table_as(False, relation, sql); at the end, call "
        "adapter.drop_relation(relation).",
    ),
    Remedy(
        # PredicateBuilder.transformFieldMapping; Paimon accepts a predicate on a nested field if it is the only one.
        r'"leafPredicate" is null',
        "Paimon's MERGE does not accept a predicate on a nested field, or on a column whose name needs quotes, "
        "together with another predicate: select the value as a column of its own in the model, and use that column.",
    ),
    Remedy(
        # FileIO.mkdirs fails for a partition's folder; HadoopFileIO does not give the reason.
        r"Mkdirs failed to create \S*/[^/=\s]+=|File name too long",
        "A partition's folder is named after its value, and file systems limit names to 255 bytes: partition by a "
        "shorter value, such as a hash.",
    ),
    Remedy(
        # LocalFileIO and java.io on a local disk; HDFS's name node.
        r"Mkdirs failed to create \S+|\(Permission denied\)|\(Read-only file system\)"
        r"|file\.AccessDeniedException: /|Permission denied: user=\S+",
        "dbt's user has no write permission there, or the file system is read-only: grant the "
        "permission on the folder, or set a different `warehouse` or `schema` in the profile.",
    ),
    Remedy(
        r"year -?\d+ is out of range",
        "dbt can only show dates and timestamps of the years 1 to 9999: cast the column to string.",
    ),
    Remedy(
        r"SchemaParseException: Illegal (?:initial )?character",
        "Avro allows only letters, digits and _ in names of columns and fields: rename this one, or use a different "
        "file_format.",
    ),
    Remedy(
        r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near end of input\.?\s*(?:SQLSTATE: \w+ ?)?\(line 1, pos 0\)"
        r"|\[PARSE_EMPTY_STATEMENT\]",
        "There is no SQL: a model or a hook needs a query in addition to its config and comments.",
    ),
    Remedy(
        # PaimonMergeIntoResolver quotes the whole condition, not the unresolved name.
        r"cannot resolve .+ from 'MergeIntoTable",
        "A name in the condition is not a column of the table or the model: correct incremental_predicates, "
        "unique_key or merge_delete_condition.",
    ),
    Remedy(
        # ExpressionHelper.resolveExpression, called by PaimonMergeIntoResolverBase for INSERT as well [ran, 0.9.0].
        r"cannot resolve .+ from Project \[",
        "The source of a MERGE has no column of that name. Paimon 0.9 needs the inserted columns in the source, too: "
        "add them, as in using (select *, 0 as n from …).",
    ),
    Remedy(
        # dbt compares schema names in lower case (GraphRunnableTask.create_schemas).
        r"\[SCHEMA_NOT_FOUND\]",
        "dbt creates its nodes' schemas when it starts, but not if a schema exists whose name differs only in case. "
        "Write `schema` exactly as in the catalog, or create this schema yourself.",
    ),
    Remedy(r"Not a supported type: void", "A column is an untyped NULL: cast it, for example cast(null as string)."),
    Remedy(
        # Spark 4.1 raises this before streaming/query.py can examine the plan.
        r"INVALID_SUBQUERY_EXPRESSION\.STREAMING_QUERY",
        "The query joins two streams. Write each to a table of its own and join the tables, or read both with UNION "
        "ALL in one model that fills the same rows from both (merge_engine='partial-update').",
    ),
)


def is_lost_metastore(text: str) -> bool:
    """Whether an error says that Hive's metastore does not answer."""
    return re.search(_LOST_METASTORE, text) is not None


class StatementError(DbtDatabaseError):
    """A statement that Spark rejected: the error's whole `text`, and the SQL exactly as sent."""

    def __init__(self, text: str, statement: str) -> None:
        super().__init__(shorten(text, statement))
        self.text = text
        self.statement = statement


def shorten(text: str, statement: str = "", where: str = "") -> str:
    """Shorten a Java or Spark error to its innermost cause, the line of the SQL (or `where`), and a remedy."""
    kind, message = _innermost(text)
    message = _PLAN.sub(
        lambda found: found[1] or "", _IDLE_ADVICE.sub("", message).replace(".; line", "; line")
    ).rstrip(";")
    if where:
        # A second line number, that of the statement, would be confusing.
        message = _POSITION.sub("", message).rstrip()
    parts = [f"{kind}: {message}" if kind and not message.startswith("[") else message]
    if line := where or _line_of(text, statement):
        parts.append(line)
    parts.append(_remedy(text, statement))
    return "\n".join(filter(None, parts))


def _remedy(text: str, statement: str) -> str:
    for remedy in REMEDIES:
        if found := re.search(remedy.pattern, text):
            tables = dict.fromkeys(found["name"] for found in _TABLE.finditer(statement))
            return remedy.advice.format(found[0], tables=", ".join(tables) or "see its SQL")
    return dialects.remedy(text, statement) or (_UNKNOWN_FUNCTION if "[UNRESOLVED_ROUTINE]" in text else "")


def error_text(exc: BaseException) -> str:
    """The whole text of a PySpark exception, including its causes."""
    # CapturedException keeps the Java exception separately; its str() has no causes.
    java = getattr(exc, "java_exception", None)
    text = str(exc)
    if java is not None:
        return text + "\n" + str(java)
    stack = getattr(exc, "_stackTrace", None) or getattr(exc, "stackTrace", None)
    if isinstance(stack, str) and stack not in text:
        text = f"{text}\n{stack}"
    cause = getattr(exc, "cause", None)
    while cause is not None:
        text = f"{text}\nCaused by: {type(cause).__name__}: {getattr(cause, '_desc', None) or cause}"
        cause = getattr(cause, "cause", None)
    return text


def _innermost(text: str) -> tuple[str, str]:
    """Class name and message of the deepest cause that has a message."""
    head = text.strip()
    if head.startswith("["):
        return "", _first_paragraph(head)
    candidates = list(_candidates(text))
    # A Thrift server puts the parser's exception class on one line, and its message on the next.
    if candidates and candidates[-1][1].endswith("Exception:") and (condition := _CONDITION.search(text)):
        return "", condition[0].strip()
    informative = [c for c in candidates if c[0] not in _WRAPPERS] or candidates
    return informative[-1] if informative else ("", _first_paragraph(head))


def _candidates(text: str) -> Iterator[tuple[str, str]]:
    for pattern in (_FIRST, _INNERMOST, _CAUSE):
        for found in pattern.finditer(text):
            if message := (found["message"] or "").strip():
                yield found["type"].rsplit(".", 1)[-1], message


def _first_paragraph(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(("\tat ", "== SQL", "'", "+- ", "JVM stacktrace")):
            break
        # The Java exception repeats the message.
        if lines and lines[0].rstrip(";") in line:
            break
        if line.strip():
            lines.append(line.strip())
    return " ".join(lines) or text[:300]


def _line_of(text: str, statement: str) -> str:
    # Spark counts lines by line feeds only.
    lines = statement.split("\n")
    number = 0
    if found := _POSITION.search(text):
        number = int(found["a"] or found["b"] or found["c"])
    elif path := _NO_PATH.search(text):
        number = next((at for at, line in enumerate(lines, 1) if path[1] in line), 0)
    if 0 < number <= len(lines) and lines[number - 1].strip():
        return f"  at line {number} of the statement: {lines[number - 1].strip()[:200]}"
    return ""
