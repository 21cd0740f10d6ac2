"""A class-data-sharing archive of Spark's JVM: the classes that one run loaded, mapped by the next ones as they are.

The first JVM of a kind writes the archive when it ends, after dbt has; later ones start with it. Each kind (a JDK, a
Spark, the jars) has its own, and Java itself ignores one that does not fit its class path. Java 17: JEP 350,
"Dynamic CDS Archives".
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.machine.cache_folder import cache_folder, fingerprint, stamp
from dbt.adapters.paimon.machine.java import JavaRuntime
from dbt.adapters.paimon.machine.private_files import is_own_file, read_own, write_own
from dbt.adapters.paimon.machine.processes import is_alive

# Set to 0, it keeps archives from being used and made.
VARIABLE: Final = "DBT_PAIMON_CLASS_ARCHIVE"
_QUIET: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
# -XX:ArchiveClassesAtExit.
_SINCE_JAVA: Final = 13
# CDS_DYNAMIC_ARCHIVE_MAGIC of HotSpot's cds.h; written last, so that half an archive has none.
_MAGIC: Final = 0xF00BABA8
# Archives of jars that are gone: only so many are kept.
_KEPT: Final = 6


def java_options(java: JavaRuntime, class_path: Sequence[Path], conf: Mapping[str, str]) -> list[str]:
    """The options of a JVM that use the archive of its kind, or have it made.

    Args:
        java: the Java that starts.
        class_path: the jars that Spark starts with.
        conf: the settings of Spark; a user's own archive among its Java options is left alone.

    Returns:
        None of them, where there can be no archive.
    """
    own = f"{conf.get('spark.driver.extraJavaOptions', '')} {os.environ.get('JDK_JAVA_OPTIONS', '')}"
    unwanted = os.environ.get(VARIABLE, "1") in ("0", "false") or "Archive" in own or "-Xshare" in own
    if unwanted or java.major < _SINCE_JAVA or os.name == "nt":
        return []
    with suppress(OSError):
        archive = cache_folder() / f"classes-{_kind(java, class_path)}.jsa"
        if _is_whole(archive):
            os.utime(archive.with_suffix(".json"))
            # What a bad disk has changed is found by checksums (0.1 s), and then Java does without the archive.
            return [f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces", *_QUIET]
        if _may_be_made(archive):
            return [f"-XX:ArchiveClassesAtExit={archive}", *_QUIET]
    return []


def _kind(java: JavaRuntime, class_path: Sequence[Path]) -> str:
    release = Path(java.home, "release")
    said = release.read_text(errors="replace") if release.is_file() else ""
    return fingerprint([java.home, said, sys.platform, *(stamp(jar) for jar in class_path)])


def _is_whole(archive: Path) -> bool:
    """Whether an archive was written to its end, and is as it was when that was first seen; if not, it goes."""
    note = archive.with_suffix(".json")
    with suppress(FileNotFoundError):
        found = list(stamp(archive))
        with suppress(OSError, ValueError):
            if json.loads(read_own(note)) == found and is_own_file(archive):
                return True
            # Somebody has changed it.
            note.unlink()
            archive.unlink()
            return False
        if not is_own_file(archive):
            archive.unlink()
            return False
        with archive.open("rb") as file:
            head = file.read(4)
        if len(head) == 4 and struct.unpack("=I", head)[0] == _MAGIC:
            write_own(note, json.dumps(found))
            _let_old_ones_go(archive.parent)
            return True
    return False


def _may_be_made(archive: Path) -> bool:
    """Whether this process is the one that makes an archive: one at a time does."""
    claim = archive.with_suffix(".pid")
    with suppress(FileExistsError):
        with claim.open("x") as file:
            file.write(str(os.getpid()))
        return True
    with suppress(OSError, ValueError):
        if not is_alive(int(claim.read_text())):
            # Its JVM was killed, or could write none: try again.
            claim.unlink()
            return _may_be_made(archive)
    return False


def _let_old_ones_go(folder: Path) -> None:
    notes = sorted(folder.glob("classes-*.json"), key=lambda note: note.stat().st_mtime, reverse=True)
    for note in notes[_KEPT:]:
        for ending in (".jsa", ".pid", ".json"):
            note.with_suffix(ending).unlink(missing_ok=True)
