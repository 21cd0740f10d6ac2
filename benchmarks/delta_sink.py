"""Spark's own stream into a Delta table, as in Delta's documentation. Streaming models are compared with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Stream:
    """A stream to run.

    Attributes:
        source: `json` or `kafka`.
        options: the reader's options.
        columns: the columns of a message, as DDL.
        table: folder of the Delta table; its checkpoint is next to it.
        key: the column to merge by; '' to append.
        seconds: how long it runs, with one batch per second; 0 to stop once all messages are read.
    """

    source: str
    options: dict[str, str]
    columns: str
    table: str
    key: str = ""
    seconds: int = 0

    def asked(self) -> dict[str, Any]:
        """The stream as a dictionary for JSON."""
        return asdict(self)

    def run(self) -> None:
        """Run the stream until it ends."""
        session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
        writer = self._rows(session).writeStream.option("checkpointLocation", f"{self.table}-checkpoint")
        writer = writer.foreachBatch(self._merge) if self.key else writer.format("delta").option("path", self.table)
        if self.seconds:
            query = writer.trigger(processingTime="1 second").start()
            query.awaitTermination(self.seconds)
            query.stop()
        else:
            writer.trigger(availableNow=True).start().awaitTermination()

    def _rows(self, session: SparkSession) -> DataFrame:
        reader = session.readStream.format(self.source).options(**self.options)
        if self.source == "json":
            return reader.schema(self.columns).load()
        value = f"from_json(cast(value as string), '{self.columns}') as row"
        return reader.load().selectExpr(value).selectExpr("row.*")

    def _merge(self, batch: DataFrame, number: int) -> None:
        names = ", ".join(column.split()[0] for column in self.columns.split(","))
        # MERGE needs one row per key: the newest of the batch.
        batch.createOrReplaceTempView("batch")
        session = batch.sparkSession
        newest = (
            f"select {names} from (select *, row_number() over (partition by {self.key} "
            "order by message_no desc) as place from batch) where place = 1"
        )
        if not (Path(self.table) / "_delta_log").exists():
            session.sql(newest).write.format("delta").save(self.table)
            return
        session.sql(
            f"merge into delta.`{self.table}` t using ({newest}) s on t.{self.key} = s.{self.key} "
            "when matched and s.message_no >= t.message_no then update set * when not matched then insert *"
        )
