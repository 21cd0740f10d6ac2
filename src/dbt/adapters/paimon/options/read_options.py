"""Options for a single read or session, which must not be table properties.

Paimon accepts most of them in TBLPROPERTIES, but then every reader gets an old snapshot, a range of changes or an empty
branch. With `scan.tag-name` and `scan.watermark`, no statement can read or alter the table any more [ran, 0.9.0].
Source: CoreOptions at release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

from typing import Final

_STATE: Final = (
    "Remove it, and read with at(ref('…'), snapshot=…, tag=… or timestamp=…) for one state, or start a "
    "stream with stream(ref('…'), scan_mode=…)"
)
# (what to do instead, options)
_GROUPS: Final = (
    (
        _STATE,
        "scan.snapshot-id scan.tag-name scan.timestamp scan.timestamp-millis scan.watermark scan.version "
        "scan.file-creation-time-millis scan.creation-time-millis",
    ),
    (
        "Remove it, and read what has changed with paimon_changes(ref('…'))",
        "incremental-between incremental-between-timestamp incremental-between-tag-to-snapshot incremental-to-auto-tag",
    ),
    ("Remove it, and put it into the options of the stream(…) that reads the table", "consumer-id"),
    (
        "Remove it: only Paimon's own streaming source reads it. The scan_mode of a stream(…) says where it "
        "starts, and each run of the stream ends when it has read all existing rows",
        "consumer.ignore-progress scan.bounded.watermark",
    ),
    ("Remove it, and read with at(ref('…'), branch=…)", "branch"),
    (
        "Remove it, and set 'spark.paimon.{name}' in the spark_config of the one run that needs it",
        "scan.bucket scan.ignore-corrupt-files scan.ignore-lost-files commit.strict-mode.last-safe-snapshot",
    ),
)
# Option -> what to do instead.
READ_OPTIONS: Final = {name: instead for instead, names in _GROUPS for name in names.split()}

_REASON: Final = "applies to one read; as a table property it would apply to all later ones"


def read_fault(name: str, value: str) -> str | None:
    """Why an option cannot be a table property, as 'reason. Remedy'; None if it can."""
    if name == "scan.mode":
        # Even with `latest-full`, no statement can read the table's changes [ran, 0.9.0].
        return None if value.lower() == "default" else f"{_REASON}. {_STATE}"
    if name in READ_OPTIONS:
        return f"{_REASON}. {READ_OPTIONS[name].format(name=name)}"
    return None
