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
_SAID = re.compile(r"^\[[A-Z_]+(?:\.[A-Z_]+)*\] .+$", re.MULTILINE)
_POSITION = re.compile(
    r"\(line (?P<a>\d+), pos \d+\)|; line (?P<b>\d+) pos \d+|== SQL ?\(line (?P<c>\d+), position \d+\) =="
)
# The file or folder of a path that Spark does not find; it does not say where the statement names it.
_NO_PATH: Final = re.compile(r"\[PATH_NOT_FOUND\] Path does not exist: \S*/([^/\s]+?)\.?(?=\s|$)")
_TABLE = re.compile(
    r"\b(?:from|join|into|overwrite|table|using|update)\s+(?P<name>`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)*)", re.IGNORECASE
)
# Spark's advice for someone who drops a table or has mistyped a name.
_IDLE_ADVICE: Final = re.compile(
    r" *(?:Verify the spelling and correctness of|If you did not qualify the name with"
    r"|To tolerate the error on drop use)[^.;]*\."
)
# Some errors print the plan after the position.
_PLAN: Final = re.compile(r"(; line \d+ pos \d+);.*$| from 'MergeIntoTable .*$")
# Wrappers without a message of their own: the cause below them is what the user needs.
_WRAPPERS = ("SparkException", "ExecutionException", "InvocationTargetException", "RuntimeException")


MEMORY_ADVICE: Final = (
    "Give Spark more memory (spark.driver.memory under `spark_config` in the profile; spark.executor.memory, too, on a "
    "cluster), run fewer `threads`, or process the input in smaller parts (as a microbatch model does)."
)


_UNKNOWN_FUNCTION: Final = (
    "Spark SQL has no function of this name: correct it, or take another one of "
    "https://spark.apache.org/docs/latest/api/sql/."
)
# FileUtils, about a file that is being read; a commit conflict has its own message.
EXPIRED: Final = "snapshot expires too fast"


@dataclass(frozen=True)
class Remedy:
    """A known failure: `pattern` is searched in the error's text, `advice` ends the message.

    In the advice, `{0}` is the matched text, and `{tables}` the tables in the statement.
    """

    pattern: str
    advice: str


REMEDIES: tuple[Remedy, ...] = (
    Remedy(
        # Before those of the metastore: Parquet wraps it in the exception of a Thrift transport.
        r"No space left on device|Disk quota exceeded|There is not enough space on the disk",
        "A disk is full: the warehouse's, or the one for Spark's temporary files (spark.local.dir). The "
        "tables are unchanged. Free space and run again (`dbt retry` runs what failed); files that the "
        "failed statement may have left are removed by `dbt run-operation remove_orphan_files --args "
        "'{{relation: …, older_than: <now>, dry_run: false}}'`.",
    ),
    Remedy(
        r"stopped SparkContext|SparkContext was shut down",
        "Spark was stopped while the statement ran (`dbt-paimon server stop --force` does so, and whoever runs the "
        "server can). Each table is in its old state or its new one: start it, and run again (`dbt retry` runs what "
        "failed).",
    ),
    Remedy(
        EXPIRED,
        "Files of the table snapshot being read are gone: it expired, or the table was recreated. Run again, "
        "and keep table snapshots longer than the longest read takes (snapshot_retention).",
    ),
    Remedy(
        r"branch/branch-[^/\s]+/schema/schema-\d+",
        "The branch lacks a schema of its table, which Paimon 0.9 leaves out, so rows older than the table's last "
        "ALTER cannot be read there. Create it again with `method: session`, where dbt-paimon copies the schemas, or "
        "with Paimon 1.0 or later.",
    ),
    Remedy(
        # PaimonCommand.findTouchedFiles
        r"Only compacted table can generate touched files",
        "Paimon deletes rows of a partial-update or aggregation table only while it is compacted. Use delete_rows, "
        'which compacts it first: {{{{ delete_rows(this, "<condition>") }}}} in a hook, or '
        "dbt run-operation delete_rows.",
    ),
    Remedy(
        conflicts.SIGNS.pattern,
        "Another writer changed the table's files in the meantime. Check its $snapshots before you run the "
        "model again: if only the compaction of an INSERT failed, its rows are committed.",
    ),
    Remedy(
        # CompactProcedure of 0.9: the cast of a literal is not folded.
        r"cannot translate expression to source filter",
        "The condition on the partitions has to compare each column with a literal of its type: '2024-01-31' in quotes "
        "for a text, DATE '2024-01-31' for a date, 7L for a bigint. The macro does so, in a hook too: "
        "{{{{ compact(this, partitions=[{{'dt': '2024-01-31'}}]) }}}}.",
    ),
    Remedy(
        # ObjectsFile.read: Paimon names the file but not the table.
        r"Failed to read manifest(?: list)? \S+",
        "{0}: the metadata of a table that the statement reads or writes is damaged or lost ({tables}). "
        "If the table's option manifest.format was changed, set it back. Else restore the file from a backup of the "
        "warehouse, or roll back to an intact table snapshot with rollback_to ($snapshots names the manifest lists).",
    ),
    Remedy(
        r"PaimonSparkSessionExtensions|org\.apache\.paimon\.spark\.SparkCatalog.*(not found|ClassNotFound)",
        "Paimon's connector is not on Spark's class path: leave `jars` out of the profile to have it resolved, "
        "or name its jar there.",
    ),
    Remedy(
        # FactoryUtil uses the thread's class loader, and the threads of a Thrift server do not see the jars of --jars.
        r"Could not find any factories that implement 'org\.apache\.paimon\.",
        "Start the server with Paimon's connector on the class path of its driver, too (--driver-class-path), or among "
        "Spark's own jars.",
    ),
    Remedy(
        # From the metastore's own process, which creates the folders of databases and tables (Warehouse.mkdirs).
        r"MetaException\(message:Got exception: \S+ No FileSystem for scheme",
        "The Hive metastore has no file system for the warehouse: set `location-in-properties: true` under "
        "catalog_options in the profile, so that Paimon stores table locations itself; or give the metastore "
        "that file system (hadoop-aws for s3a://).",
    ),
    Remedy(
        # FileIO.get; the classes are those of Hadoop's S3A, which handles s3a:// if Paimon's plug-in is missing.
        r"Could not find a file io implementation for scheme '(\w+)'|No FileSystem for scheme"
        r"|com/amazonaws/\w+|com\.amazonaws\.\w+ *not found|ClassNotFoundException: (?:Class )?com\.amazonaws\."
        r"|S3AFileSystem not found|AliyunOSSFileSystem not found",
        "The jar of that storage is missing: name it under `packages` or `jars` in the profile "
        "(org.apache.paimon:paimon-s3 for s3://, org.apache.paimon:paimon-oss for oss://), and write s3:// instead of "
        "s3a://.",
    ),
    Remedy(
        r"InvalidAccessKeyId|SignatureDoesNotMatch|Status Code: 40[13]|The AWS Access Key Id",
        "The storage rejects the keys, or they lack permission: check s3.access-key and s3.secret-key "
        "(fs.oss.accessKeyId and fs.oss.accessKeySecret) under catalog_options in the profile, and their "
        "user's permissions on the bucket.",
    ),
    Remedy(r"Tag (name )?'.*' already exists", "Delete it first (`delete_tag`), or take another name."),
    Remedy(
        r"NoSuchBucket|UnknownStoreException|The specified bucket does not exist",
        "The bucket does not exist: create it, or correct `warehouse` (or the endpoint, if it is on another server) "
        "in the profile.",
    ),
    Remedy(
        r"Unable to execute HTTP request|Connect to \S+ failed|SdkClientException: .*(?:[Cc]onnect|timed out)",
        "The storage does not answer. Each table is in its old state or its new one: run again when it is "
        "back (`dbt retry` runs what failed).",
    ),
    Remedy(
        r"Call From \S+ to \S+ failed on|ConnectTimeoutException|could only be written to 0 of the"
        r"|NoRouteToHostException|SafeModeException",
        "HDFS does not answer, or accepts no writes. Each table is in its old state or its new one: run "
        "again when it is back (`dbt retry` runs what failed).",
    ),
    Remedy(
        r"(?:NoSuchMethodError|NoClassDefFoundError|NoSuchFieldError|IncompatibleClassChangeError): \S*\bscala[./]",
        "A jar on Spark's class path was made for another Scala version than Spark: check `jars`, `packages` and "
        "spark.jars for names that end in another _2.1x than Spark's own.",
    ),
    Remedy(
        # Spark's own limits, of executor memory and of spark.driver.maxResultSize, name their settings.
        r"OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded)",
        MEMORY_ADVICE,
    ),
    Remedy(
        r"Out of space in CodeCache",
        "The JVM has no room for compiled code: add -XX:ReservedCodeCacheSize=240m to spark.driver.extraJavaOptions "
        "under `spark_config` in the profile (-XX:TieredStopAtLevel=1 alone shrinks it to 48 MB).",
    ),
    Remedy(
        r"No suitable driver found for jdbc:",
        "The JDBC driver of that database is not on Spark's class path: name its Maven coordinates under `packages` "
        "in the profile, or its jar under `jars`.",
    ),
    Remedy(
        r"password authentication failed|Access denied for user|no password was provided",
        "Correct jdbc.user and jdbc.password under `catalog_options` in the profile.",
    ),
    Remedy(
        # JdbcClientPool.newClient
        r"Failed to connect: jdbc:\S+",
        "{0}: the database that keeps the catalog does not answer or cannot be opened. Correct `uri` in the profile, "
        "or check that it is running.",
    ),
    Remedy(
        # HiveCatalogLock; the metastore's log says why.
        r"Internal error processing lock",
        "The Hive metastore cannot lock, usually because its database lacks the lock tables: create them with Hive's "
        "`schematool -initSchema` (or -upgradeSchema), or set lock.enabled to false under `catalog_options` in the "
        "profile and let one process at a time write.",
    ),
    Remedy(
        # HiveMetaStoreClient, of any version, in whatever Paimon or Spark wraps it.
        r"thrift\.transport\.TTransportException|Could not connect to meta ?store|to Hive Metastore",
        "The Hive metastore does not answer, or the address is not a metastore's: check that it is running, and that "
        "`uri` in the profile is its address. What was committed before is kept; the next run continues from there.",
    ),
    Remedy(
        # TaskResultGetter: the plug-in's classes are not on Spark's own class path.
        r"Lost task .*: UnknownReason",
        "A task failed with an error of the storage's plug-in, which Spark cannot pass on: most likely the "
        "storage does not answer or rejects a request. The error is in spark.log next to dbt's log.",
    ),
    Remedy(
        r"java\.lang\.(?:Byte|Short) cannot be cast to (?:class )?java\.lang\.Integer",
        "Paimon 0.9 cannot filter a tinyint or smallint column of this table in Parquet. If dbt builds the table, run "
        "its model once more. Else: alter table … set tblproperties ('parquet.filter.stats.enabled'='false', "
        "'parquet.filter.dictionary.enabled'='false'): both, because with the first alone rows are not found.",
    ),
    Remedy(
        r"each of them match more th[ae]n one source rows",
        "Two rows of the model have the same unique_key: make them one (row_number() … = 1), "
        "or use incremental_strategy='upsert', where the last row wins.",
    ),
    Remedy(
        r"Try to write .* with a new bucket num (\d+), but the previous bucket num is (\d+)",
        "The number of buckets changed, and rows written before keep the old one. Rewrite them: "
        "`dbt run-operation rescale` (in the partitions you name, or all), or --full-refresh.",
    ),
    Remedy(
        # Paimon's own check; if `row_checks` refused the row, the message already has the remedy.
        r"Cannot write null to non-null column\((\w+)\)(?! of )",
        "A column that is part of the primary key or declared not_null got a NULL: filter or fill it in the model.",
    ),
    Remedy(
        # QueryExecutionErrors.unsupportedOperationForTable and ddlUnsupportedTemporarilyError.
        r"(?:MERGE INTO|UPDATE) TABLE is not supported temporarily",
        "It changes a temporary view, or a table that is not Paimon's. `create_table_as(True, …)` makes a temporary "
        "view of the query; for a table that can be changed: relation = make_intermediate_relation(this, '__stage'), "
        "create_table_as(False, relation, sql), and at the end adapter.drop_relation(relation).",
    ),
    Remedy(
        # PredicateBuilder.transformFieldMapping; the column alone is accepted.
        r'"leafPredicate" is null',
        "Paimon's MERGE does not take a predicate on a nested field, or on a column whose name needs quotes, beside "
        "another predicate: give the model a plain column for it.",
    ),
    Remedy(
        # FileIO.mkdirs of a partition; HadoopFileIO only says that it failed.
        r"Mkdirs failed to create \S*/[^/=\s]+=|File name too long",
        "A partition's folder is named after its value, and file systems limit names to 255 bytes: partition "
        "by something shorter, such as a hash of it.",
    ),
    Remedy(
        # LocalFileIO and java.io of a local disk; the name node of HDFS.
        r"Mkdirs failed to create \S+|\(Permission denied\)|\(Read-only file system\)"
        r"|file\.AccessDeniedException: /|Permission denied: user=\S+",
        "dbt's user may not write there, or the file system is read-only: give that user write permission on "
        "the folder, or set another `warehouse` or `schema` in the profile.",
    ),
    Remedy(
        r"year -?\d+ is out of range",
        "dbt shows dates and timestamps from the year 1 to the year 9999: cast the column to string.",
    ),
    Remedy(
        r"SchemaParseException: Illegal (?:initial )?character",
        "Avro allows only letters, digits and _ in names of columns and fields: rename it, or use another file_format.",
    ),
    Remedy(
        r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near end of input\.?\s*(?:SQLSTATE: \w+ ?)?\(line 1, pos 0\)"
        r"|\[PARSE_EMPTY_STATEMENT\]",
        "There is no SQL: a model's file, or a hook, needs a query beside its config and comments.",
    ),
    Remedy(
        # PaimonMergeIntoResolver quotes the whole condition, not the name in it.
        r"cannot resolve .+ from 'MergeIntoTable",
        "A name in the condition is not a column of the table or the model: correct incremental_predicates, "
        "unique_key or merge_delete_condition.",
    ),
    Remedy(
        # ExpressionHelper.resolveExpression, called by PaimonMergeIntoResolverBase for INSERT as well [ran, 0.9.0].
        r"cannot resolve .+ from Project \[",
        "The source of a MERGE has no column of that name. Paimon 0.9 also looks up there the columns that it inserts: "
        "give the source each of them, as in using (select *, 0 as n from …).",
    ),
    Remedy(
        # dbt lists schemas by their names in lower case (GraphRunnableTask.create_schemas).
        r"\[SCHEMA_NOT_FOUND\]",
        "dbt creates the schemas of its nodes when it starts; but if there is one whose name differs only in case, dbt "
        "takes that for this one. Write `schema` as the catalog has it, or create this one yourself.",
    ),
    Remedy(r"Not a supported type: void", "A column is an untyped NULL: cast it, for example cast(null as string)."),
    Remedy(
        # Spark 4.1, before its plan can be looked through (streaming/query.py).
        r"INVALID_SUBQUERY_EXPRESSION\.STREAMING_QUERY",
        "It joins two streams. Write each into a table of its own and join those, or let both models fill one row "
        "(merge_engine='partial-update').",
    ),
)


class StatementError(DbtDatabaseError):
    """A statement that Spark refused; `statement` is the SQL exactly as sent, whose positions `text` names."""

    def __init__(self, text: str, statement: str) -> None:
        super().__init__(shorten(text, statement))
        self.text = text
        self.statement = statement


def shorten(text: str, statement: str = "", where: str = "") -> str:
    """Turn a Java or Spark error into one short message: innermost cause, line of the SQL or of `where`, remedy."""
    kind, message = _innermost(text)
    message = _PLAN.sub(
        lambda found: found[1] or "", _IDLE_ADVICE.sub("", message).replace(".; line", "; line")
    ).rstrip(";")
    if where:
        # The line in the statement, beside that in the file, would only confuse.
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
    """The whole text of an exception of PySpark, causes included."""
    # CapturedException keeps the Java side separately: str() of it alone loses the causes.
    java = getattr(exc, "java_exception", None)
    text = str(exc)
    if java is not None:
        return text + "\n" + str(java)
    stack = getattr(exc, "_stackTrace", None) or getattr(exc, "stackTrace", None)
    if isinstance(stack, str) and stack not in text:
        text = f"{text}\n{stack}"
    cause = getattr(exc, "cause", None)
    while cause is not None:
        name = type(cause).__name__
        text = f"{text}\nCaused by: {name}: {getattr(cause, '_desc', None) or cause}"
        cause = getattr(cause, "cause", None)
    return text


def _innermost(text: str) -> tuple[str, str]:
    """Class name and message of the deepest cause that has a message."""
    head = text.strip()
    if head.startswith("["):
        return "", _first_paragraph(head)
    candidates = list(_candidates(text))
    # A Thrift server names the exception of the parser on one line, and says what it is on the next.
    if candidates and candidates[-1][1].endswith("Exception:") and (said := _SAID.search(text)):
        return "", said[0].strip()
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
        # The Java side of the exception repeats it.
        if lines and lines[0].rstrip(";") in line:
            break
        if line.strip():
            lines.append(line.strip())
    return " ".join(lines) or text[:300]


def _line_of(text: str, statement: str) -> str:
    # As Spark counts: only a line feed ends a line.
    lines = statement.split("\n")
    number = 0
    if found := _POSITION.search(text):
        number = int(found["a"] or found["b"] or found["c"])
    elif path := _NO_PATH.search(text):
        number = next((at for at, line in enumerate(lines, 1) if path[1] in line), 0)
    if 0 < number <= len(lines) and lines[number - 1].strip():
        return f"  at line {number} of the statement: {lines[number - 1].strip()[:200]}"
    return ""
