"""A stream's checkpoint, and the note in it, which identifies the stream's model and sources.

Structured Streaming stores how far each source was read, but nothing about the query, so a model's SQL may change
between runs. The note prevents a different model or different sources from continuing from the checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, refuse_newer
from dbt.adapters.paimon.streaming.hadoop_files import HadoopFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A folder in the table's folder, so that checkpoints are renamed and dropped with the table. Paimon ignores it.
FOLDER: Final = "__dbt_checkpoint"
# The folder in a checkpoint that has a subfolder for each input that plans its own batches.
PLANS: Final = "dbt_plans"
# The key in a Kafka source's identity for its topic IDs, which older brokers do not have.
TOPIC_IDS: Final = "topic ids"
_NOTE: Final = "dbt.json"
# The number of files checked concurrently.
_PARALLEL_CHECKS: Final = 8


@dataclass(frozen=True)
class Note:
    """The note in a checkpoint.

    Attributes:
        inputs: the identity of each source, in the order of the checkpoint.
        columns: label of an input -> the columns that its messages added: name -> data type.
        version: the version of the note and of the inputs' plans beside it.
    """

    model: str
    inputs: tuple[dict[str, str], ...] = ()
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    version: int = CURRENT[Kind.CHECKPOINT]


class Checkpoint:
    """A stream's checkpoint."""

    def __init__(self, session: SparkSession, location: str) -> None:
        self.location = location
        self._folder = HadoopFolder(session, location)

    def note(self) -> Note | None:
        """The note; None if the checkpoint does not exist yet.

        Raises:
            NewerStateError: a newer adapter has written it.
            DbtRuntimeError: the checkpoint was not made by a streaming model.
        """
        text = self._folder.read(_NOTE)
        if text is None:
            if self._folder.names("offsets"):
                raise DbtRuntimeError(
                    f"The checkpoint {self.location} was not made by a streaming model. Set a different "
                    "checkpoint_location, or remove that key to keep the checkpoint in the table's folder."
                )
            return None
        return self._parsed(text)

    def refuse_newer(self) -> None:
        """Raise NewerStateError if a newer adapter has written the checkpoint."""
        if text := self._folder.read(_NOTE):
            self._parsed(text)

    def _parsed(self, text: str) -> Note:
        read = json.loads(text)
        refuse_newer(Kind.CHECKPOINT, str(read.get("version", 0)), self.location)
        return Note(read["model"], tuple(read["inputs"]), read["columns"])

    def write_note(self, note: Note) -> None:
        self._folder.write(_NOTE, json.dumps(asdict(note), indent=1))

    def unfinished_batch(self) -> tuple[int, float] | None:
        """The batch that was begun but not finished, and when it began (seconds since 1970), or None."""
        begun, ended = self._batches("offsets"), self._batches("commits")
        if not begun or (ended and ended[-1] >= begun[-1]):
            return None
        return begun[-1], self._folder.modified_at(f"offsets/{begun[-1]}")

    def last_begun(self) -> int:
        """The last batch that was begun, or -1."""
        return max(self._batches("offsets"), default=-1)

    def last_batch(self) -> int:
        """The last finished batch, or -1."""
        return max(self._batches("commits"), default=-1)

    def last_offsets(self) -> tuple[str, ...]:
        """The last offset of each source, as the source's own JSON; empty if no batch has finished."""
        ended = self._batches("commits")
        return _offsets(self._folder, ended[-1]) if ended else ()

    def delete(self) -> None:
        """Delete the checkpoint, so that the stream starts over."""
        self._folder.delete()

    def _batches(self, folder: str) -> list[int]:
        return sorted(int(name) for name in self._folder.names(folder) if name.isdecimal())


def folder_of(session: SparkSession, table: str) -> str:
    """The folder for checkpoints inside a table's folder."""
    # Read from a plan, because SHOW TBLPROPERTIES redacts values that look like secrets.
    plan: Any = session.table(table)._jdf.queryExecution().analyzed()
    location = plan.collectLeaves().apply(0).table().properties().get("path")
    return f"{location}/{FOLDER}"


def check_fits(note: Note, model: str, inputs: Sequence[Mapping[str, str]], location: str) -> None:
    """Raise DbtRuntimeError if a checkpoint belongs to another model or to other sources."""
    if note.model != model:
        raise DbtRuntimeError(
            f"The table's checkpoint {location} belongs to {note.model}, and two streams cannot write one table. Give "
            f"{model} an alias or a schema of its own. If {model} is the new name of {note.model}, write it as `model` "
            f"into {location}/dbt.json; on a local disk, also delete .dbt.json.crc beside it."
        )
    tables = [each["table"] for each in inputs if "table" in each]
    # Where the first run began tells several streams of one table apart. Later runs continue where the last one ended.
    ignored = {"from"} if len({*tables}) == len(tables) else set()
    pairs = zip(note.inputs, inputs, strict=False)
    if len(note.inputs) == len(inputs) and all(_is_same(before, now, ignored) for before, now in pairs):
        return
    before, now = set(map(_identity_text, note.inputs)), set(map(_identity_text, inputs))
    added, removed = "; ".join(sorted(now - before)), "; ".join(sorted(before - now))
    raise DbtRuntimeError(
        f"The model's sources, or their order, differ from those of its checkpoint: {added or 'nothing'} was added, "
        f"{removed or 'nothing'} was removed. Run the model once with --full-refresh to read all of them into a new "
        "table, from their beginning or from where scan_mode says; or create a new model."
    )


def missing_files(session: SparkSession, location: str, index: int, batch: int) -> list[str]:
    """The files of a batch that do not exist, as URIs: Spark would treat them as empty."""
    jvm: Any = session._jvm
    conf = session._jsparkSession.sessionState().newHadoopConf()

    def exists(uri: str) -> bool:
        path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(uri))
        return bool(path.getFileSystem(conf).exists(path))

    files = _files_of_batch(session, location, index, batch)
    # Checked concurrently, because object stores respond slowly.
    with ThreadPoolExecutor(_PARALLEL_CHECKS) as pool:
        return [file for file, is_there in zip(files, pool.map(exists, files), strict=True) if not is_there]


def _files_of_batch(session: SparkSession, location: str, index: int, batch: int) -> list[str]:
    """The files of a batch, from Spark's log of a file source (FileStreamSourceLog) in a checkpoint."""
    checkpoint = HadoopFolder(session, location)
    first, last = _log_offset(checkpoint, index, batch - 1) + 1, _log_offset(checkpoint, index, batch)
    if last < first:
        return []
    folder = f"sources/{index}"
    # Spark sometimes compacts the log: `<number>.compact` then has all entries of the earlier files, too.
    logs = [*(f"{folder}/{number}" for number in range(first, last + 1)), f"{folder}/{last}.compact"]
    lines = (line for log in logs for line in (checkpoint.read(log) or "").splitlines())
    entries = (json.loads(line) for line in lines if line.startswith("{"))
    return sorted({str(each["path"]) for each in entries if first <= each["batchId"] <= last})


def _offsets(checkpoint: HadoopFolder, batch: int) -> tuple[str, ...]:
    # A file of OffsetSeqLog has a version, a line of metadata, and one line per source: `-` if it has no offset.
    return tuple((checkpoint.read(f"offsets/{batch}") or "").splitlines()[2:])


def _log_offset(checkpoint: HadoopFolder, index: int, batch: int) -> int:
    lines = _offsets(checkpoint, batch) if batch >= 0 else ()
    line = lines[index] if index < len(lines) else "-"
    return int(json.loads(line)["logOffset"]) if line.startswith("{") else -1


def _is_same(before: Mapping[str, str], now: Mapping[str, str], ignored: Collection[str]) -> bool:
    keys = (before.keys() | now.keys()) - set(ignored)
    if TOPIC_IDS not in before or TOPIC_IDS not in now:
        keys -= {TOPIC_IDS}
    return all(before.get(key) == now.get(key) for key in keys)


def _identity_text(identity: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in identity.items())
