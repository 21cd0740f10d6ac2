"""Java's stack traces become one message with the cause, the line and the remedy."""

from unittest.mock import MagicMock

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import debug
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.messages import shorten

TASK_FAILURE = """An error occurred while calling o44.sql.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 14.0 failed 1 times, most recent failure: Lost task 1.0 in stage 14.0 (TID 15) (host executor driver): java.lang.RuntimeException: Cannot write null to non-null column(id)
\tat org.apache.paimon.table.sink.TableWriteImpl.checkNullability(TableWriteImpl.java:196)
\tat java.base/java.lang.Thread.run(Thread.java:840)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
Caused by: java.lang.RuntimeException: Cannot write null to non-null column(id)
\tat org.apache.paimon.table.sink.TableWriteImpl.checkNullability(TableWriteImpl.java:196)
\t... 1 more
"""
ANALYSIS = """[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nope` cannot be resolved. Did you mean one of the following? [`id`].; line 2 pos 7;
'Project ['nope]
+- SubqueryAlias paimon.d.t
"""
MERGE = """An error occurred while calling o44.sql.
: java.lang.RuntimeException: Can't execute this MergeInto when there are some target rows that each of them match more then one source rows. It may lead to an unexpected result.
\tat org.apache.paimon.spark.commands.MergeIntoPaimonTable.checkMatchRationality(MergeIntoPaimonTable.scala:283)
"""


@pytest.mark.parametrize(
    ("text", "statement", "said"),
    [
        (TASK_FAILURE, "", ["Cannot write null to non-null column(id)", "A primary-key or not_null column"]),
        (
            ANALYSIS,
            "select\n  nope\nfrom t",
            ["`nope` cannot be resolved", "at line 2 of the statement: nope"],
        ),
        (MERGE, "", ["more then one source rows", "same unique_key"]),
        (
            "java.lang.UnsupportedOperationException: Not a supported type: void",
            "",
            ["UnsupportedOperation", "cast(null"],
        ),
        (
            "java.lang.RuntimeException: Failed to read manifest list manifest-list-1-0\nCaused by: "
            "org.apache.avro.InvalidAvroMagicException: Not an Avro data file",
            "insert into `flights`.`legs` select `t`.`id` from `flights`.`raw` as t",
            ["Failed to read manifest list manifest-list-1-0", "(`flights`.`legs`, `flights`.`raw`)"],
        ),
        (
            "java.lang.RuntimeException: Failed to connect: jdbc:postgresql://h/d\nCaused by: "
            'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "ann"',
            "",
            ['password authentication failed for user "ann"', "jdbc.password under `catalog_options`"],
        ),
        (
            "An error occurred while calling o76.sql.\n: org.apache.spark.SparkException: Job aborted due to stage failure: "
            "Task 0 in stage 1.0 failed 1 times: java.lang.OutOfMemoryError: Java heap space\n\tat java.base/x.y(Z.java:1)\n"
            "Caused by: java.lang.OutOfMemoryError: Java heap space",
            "",
            ["OutOfMemoryError: Java heap space", "spark.driver.memory under `spark_config`"],
        ),
        (
            ": java.lang.VirtualMachineError: Out of space in CodeCache for method handle intrinsic",
            "",
            ["Out of space in CodeCache", "-XX:ReservedCodeCacheSize=240m"],
        ),
        (
            "java.lang.RuntimeException: Failed to connect: jdbc:oracle:x\nCaused by: "
            "java.sql.SQLException: No suitable driver found for jdbc:oracle:x",
            "",
            ["No suitable driver found for jdbc:oracle:x", "`packages`"],
        ),
        (
            "java.lang.RuntimeException: Failed to get database d properties\nCaused by: "
            "org.apache.thrift.transport.TTransportException: java.net.SocketException: Broken pipe",
            "",
            ["The Hive metastore does not answer", "`uri`"],
        ),
        (
            "org.apache.hive.service.cli.HiveSQLException: Error running query: [PARSE_SYNTAX_ERROR] "
            "org.apache.spark.sql.catalyst.parser.ParseException: \n[PARSE_SYNTAX_ERROR] Syntax error at or near 'id'."
            "(line 2, pos 1)\n\n== SQL ==\nselect 1 wher\n id\n-^^^\n\n\tat org.apache.spark.sql.X(Y.scala:1)",
            "select 1 wher\n id",
            ["[PARSE_SYNTAX_ERROR] Syntax error at or near 'id'.", "at line 2 of the statement: id"],
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/tmp/landing/planes.csv. SQLSTATE: 42K03",
            "select *\nfrom text.`landing/planes.csv` -- made by land.py",
            [
                "Path does not exist",
                "at line 2 of the statement: from text.`landing/planes.csv` -- made by land.py",
            ],
        ),
        ("something else", "", ["something else"]),
    ],
)
def test_shorten(text, statement, said):
    message = shorten(text, statement)
    for part in said:
        assert part in message
    assert "\tat " not in message
    assert "'Project" not in message
    assert len(message.splitlines()) <= 3


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        # Messages of Spark 3.5.7, Hadoop 3.3.4 and Paimon 0.9.0.
        (
            "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 2.0 failed 1 times, most "
            "recent failure: Lost task 0.0 in stage 2.0 (TID 3) (192.0.2.2 executor driver): UnknownReason",
            "The error is in spark.log",
        ),
        (
            "java.io.UncheckedIOException: org.apache.hadoop.fs.s3a.AWSClientIOException: getFileStatus on s3://w/x: "
            "com.amazonaws.SdkClientException: Unable to execute HTTP request: Connect to 127.0.0.1:1 failed",
            "The storage does not answer",
        ),
        (
            "Caused by: com.amazonaws.services.s3.model.AmazonS3Exception: FORBIDDEN (Service: Amazon S3; "
            "Status Code: 403; Error Code: 403 FORBIDDEN; Request ID: null)",
            "The storage rejects the keys",
        ),
        (
            "java.lang.NoClassDefFoundError: com/amazonaws/AmazonClientException",
            "The jar for this storage is missing",
        ),
        (
            "java.io.FileNotFoundException: /lake/s.db/t/bucket-0/data-1.parquet (Permission denied)",
            "dbt's user has no write permission there",
        ),
        (
            "org.apache.hadoop.security.AccessControlException: Permission denied: user=bob, access=WRITE, "
            'inode="/lake":alice:supergroup:drwxr-xr-x',
            "dbt's user has no write permission there",
        ),
        ("java.lang.NoClassDefFoundError: scala/collection/IterableOnce", "different Scala version"),
        (
            "Caused by: org.apache.paimon.shade.parquet.org.apache.thrift.transport.TTransportException: "
            "java.io.IOException: No space left on device",
            "A disk is full",
        ),
        (
            "java.io.FileNotFoundException: File 'x' not found, Possible causes: 1.snapshot expires too fast, you can",
            "Files of the table snapshot being read were deleted",
        ),
    ],
)
def test_storages(text: str, remedy: str) -> None:
    assert remedy in shorten(text)


@pytest.mark.parametrize("fails", ["insert into", "drop table"])
def test_debug_reports_the_step_that_failed_first(fails: str) -> None:
    sent: list[str] = []

    def query(sql: str) -> list[tuple[str]]:
        sent.append(sql)
        if sql.startswith((fails, "drop table")):
            raise DbtRuntimeError(sql.split(" `", maxsplit=1)[0])
        return [("written",)] if sql.startswith("select") else []

    adapter = MagicMock(query=query, credentials=PaimonCredentials(schema="s", warehouse="/lake"))
    with pytest.raises(DbtRuntimeError, match=fails):
        debug.check(adapter)
    assert sent[-1].startswith("drop")
