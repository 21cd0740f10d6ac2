"""Small SVG charts, drawn by pygal, without scripts and styles; the page defines colours and fonts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import size
from dbt_paimon.report.words import number, seconds

if TYPE_CHECKING:
    from dbt_paimon.report.figures import Bucket, NodeRun, Run, Table, TableSnapshot

# A phone cannot show more bars.
MOST_BARS: Final = 40
LARGEST: Final = 12
TESTS: Final = ("test", "unit_test")
FAILED: Final = ("error", "fail", "runtime error")
_PLAIN: Final = {"css": (), "js": (), "show_legend": False, "margin": 8, "explicit_size": False}
# Attributes, classes and elements. Only pygal's script uses those that are removed.
_UNUSED: Final = frozenset({"rx", "ry", "id"})
_KEPT: Final = frozenset({"pygal-chart", "axis", "x", "y", "background", "line", "guide"})
_DROPPED: Final = frozenset({"defs", "desc", "title"})
_PLACES: Final = frozenset({"d", "x", "y", "width", "height", "transform"})
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_NUMBER: Final = re.compile(r"-?\d+\.\d+")


def pygal() -> ModuleType:
    """Import pygal; if it is missing, the error says how to install it."""
    try:
        import pygal as library
    except ImportError:
        raise DbtRuntimeError(
            "dbt-paimon report draws with pygal, which is not installed: pip install 'dbt-paimon[report]'"
        ) from None
    found: ModuleType = library
    return found


def buckets(table: Table) -> str:
    """The bytes of each bucket, stacked by level; '' if there is only one bucket with one level."""
    if len(table.buckets) * len(table.levels) < 2:
        return ""
    several = len({each.partition for each in table.buckets}) > 1
    shown = sorted(table.buckets, key=lambda each: -each.bytes)[:MOST_BARS]
    shown.sort(key=lambda each: (each.partition, each.bucket))
    chart = _chart("StackedBar", height=190, value_formatter=size)
    chart.x_labels = ["" if several else str(each.bucket) for each in shown]
    for level in table.levels:
        chart.add(f"level {level}", [_bucket_bar(each, level, several) for each in shown])
    largest = max(shown, key=lambda each: each.bytes)
    more = f"the {MOST_BARS} largest of " if len(table.buckets) > MOST_BARS else ""
    says = (
        f"Size of {more}{len(table.buckets):,} buckets of {table.name}, by level. The largest: "
        f"{largest.partition + ', ' if largest.partition else ''}bucket {largest.bucket} with {size(largest.bytes)}."
    )
    return _svg(chart, says, [f"level-{shade(table, level)}" for level in table.levels])


def _bucket_bar(bucket: Bucket, level: int, several: bool) -> dict[str, Any] | None:
    if level not in bucket.levels:
        return None
    files, held = bucket.levels[level]
    what = f"{bucket.partition + ', ' if several else ''}bucket {bucket.bucket}, level {level}"
    return {"value": held, "label": f"{what}: {number(files)} files, {size(held)}"}


def shade(table: Table, level: int) -> int:
    """The colour of a level. Without a key, level 0 does not await a compaction, so it looks like the others."""
    return min(level, 5) if table.primary_key else 5


def snapshots(table: Table) -> str:
    """The rows of each commit, coloured by kind; '' if there are fewer than two commits."""
    shown = table.snapshots[-MOST_BARS:]
    if len(shown) < 2:
        return ""
    chart = _chart("StackedBar", height=170, value_formatter=number)
    every = max(len(shown) // 8, 1)
    chart.x_labels = [str(each.number) if not index % every else "" for index, each in enumerate(shown)]
    kinds = [kind for kind in ("APPEND", "OVERWRITE", "COMPACT", "ANALYZE") if any(each.kind == kind for each in shown)]
    for kind in kinds:
        chart.add(kind, [_commit_bar(each, kind) for each in shown])
    says = f"Rows in the data files of the last {len(shown)} commits of {table.name}, by kind: {', '.join(kinds)}."
    return _svg(chart, says, [f"kind-{kind.lower()}" for kind in kinds])


def _commit_bar(commit: TableSnapshot, kind: str) -> dict[str, Any] | None:
    if commit.kind != kind or not commit.added:
        return None
    return {"value": commit.added, "label": f"{commit.number} {commit.kind}: {commit.added:+,} rows"}


def largest(tables: Sequence[Table]) -> str:
    """A bar chart of the largest tables."""
    shown = sorted((table for table in tables if table.bytes), key=lambda table: -table.bytes)[:LARGEST]
    if len(shown) < 2:
        return ""
    shown.reverse()
    chart = _chart("HorizontalBar", height=40 + 24 * len(shown), width=920, value_formatter=size, truncate_label=34)
    chart.x_labels = [table.name for table in shown]
    chart.add("bytes", [{"value": table.bytes, "label": f"{table.name}: {size(table.bytes)}"} for table in shown])
    first = shown[-1]
    chart.y_labels = [round(first.bytes * part / 4) for part in range(5)]
    says = f"The {len(shown)} largest tables. The largest is {first.name} with {size(first.bytes)}."
    return _svg(chart, says, ["size"])


def threads(run: Run) -> str:
    """The timeline of a run: one row per thread, one bar per node."""
    rows: dict[str, list[NodeRun]] = {}
    for node in sorted(run.nodes, key=lambda node: node.begins):
        if node.thread and node.seconds > 0:
            rows.setdefault(node.thread, []).append(node)
    if not rows:
        return ""
    names = sorted(rows)
    chart = _chart("HorizontalStackedBar", height=60 + 34 * len(names), width=920, value_formatter=seconds, spacing=6)
    chart.x_labels = [f"thread {index}" for index, _ in enumerate(names, 1)][::-1]
    classes = []
    # Gaps and bars alternate.
    for turn in range(max(map(len, rows.values()))):
        pairs = [_gap_and_bar(rows[name], turn) for name in reversed(names)]
        chart.add("", [gap for gap, _ in pairs])
        chart.add("", [bar for _, bar in pairs])
        classes += ["gap", "node"]
    longest = max(run.nodes, key=lambda node: node.seconds)
    says = (
        f"What {len(names)} threads did in {seconds(run.seconds)}: {len(run.nodes)} nodes. "
        f"The longest: {longest.name}, {seconds(longest.seconds)}."
    )
    return _svg(chart, says, classes)


def _gap_and_bar(nodes: Sequence[NodeRun], turn: int) -> tuple[float | None, dict[str, Any] | None]:
    if turn >= len(nodes):
        return None, None
    node, before = nodes[turn], nodes[turn - 1] if turn else None
    end = before.begins + before.seconds if before else 0
    # Two nodes of a thread may overlap a little in dbt's timing.
    length = node.seconds - max(end - node.begins, 0)
    bar = {"value": max(length, 0.001), "label": f"{node.name}: {node.status}, {seconds(node.seconds)}"}
    colour = "bad" if node.status in FAILED else "turn" if node.kind in TESTS else ""
    if colour:
        bar["color"] = f"var(--{colour})"
    return max(node.begins - end, 0) or None, bar


def sparkline(values: Sequence[float], says: str) -> str:
    """A small bar chart without axes."""
    if len(values) < 2:
        return ""
    chart = pygal().Bar(**{**_PLAIN, "margin": 1, "spacing": 0})
    hidden = ("show_x_labels", "show_y_labels", "show_y_guides", "show_x_guides")
    chart.config(width=120, height=24, **dict.fromkeys(hidden, False))
    chart.add("", [value or None for value in values])
    return _svg(chart, says, ["size"])


def _chart(kind: str, **options: Any) -> Any:
    library = pygal()
    style = library.style.Style(label_font_size=11, major_label_font_size=11, font_family="sans-serif")
    chosen = {"width": 480, "spacing": 4, "y_labels_major_count": 3, "show_minor_y_labels": False, **options}
    if kind.startswith("Horizontal"):
        del chosen["y_labels_major_count"], chosen["show_minor_y_labels"]
    return getattr(library, kind)(style=style, **_PLAIN, **chosen)


def _svg(chart: Any, says: str, classes: Sequence[str]) -> str:
    chart.add_xml_filter(lambda root: _tidied(root, says, classes))
    text: str = chart.render(is_unicode=True, disable_xml_declaration=True)
    return _COMMENT.sub("", text)


def _tidied(root: Any, says: str, classes: Sequence[str]) -> Any:
    """Add a label for screen readers, turn labels of bars into titles, and remove what only pygal's script uses."""
    root.set("role", "img")
    root.set("aria-label", says)
    _tidy(root, classes, in_names=False)
    return root


def _tidy(element: Any, classes: Sequence[str], in_names: bool) -> None:
    """Tidy an element and its descendants; `in_names`: whether it belongs to the axis of names."""
    kind = element.get("class", "")
    if kind.startswith("axis") and element.tag.endswith("g"):
        in_names = "always_show" not in kind
    _tidy_attributes(element.attrib, classes)
    label = _label_of(element)
    for child in list(element):
        name = _tag(child)
        if _is_dropped(child, in_names):
            element.remove(child)
            continue
        _tidy(child, classes, in_names)
        if name == "rect" and label:
            title = child.makeelement(child.tag.replace("rect", "title"), {})
            title.text = label
            child.append(title)
        elif name == "g" and not len(child):
            element.remove(child)


def _label_of(element: Any) -> str:
    return next((each.text or "" for each in element if each.get("class") == "label"), "")


def _tidy_attributes(given: Any, classes: Sequence[str]) -> None:
    for name in _UNUSED & given.keys():
        del given[name]
    for name in _PLACES & given.keys():
        given[name] = _NUMBER.sub(_short, given[name])
    given["class"] = _class(given.get("class", ""), classes)
    if not given["class"]:
        del given["class"]


def _is_dropped(element: Any, in_names: bool) -> bool:
    name = _tag(element)
    is_empty = name == "rect" and not float(element.get("width") or 0)
    return name in _DROPPED or is_empty or "overlay" in element.get("class", "") or (name == "path" and in_names)


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _short(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")


def _class(text: str, classes: Sequence[str]) -> str:
    """The element's class in the page: that of its series, or those of pygal's classes that the page uses."""
    if found := re.search(r"\bserie-(\d+)\b", text):
        return f"series {classes[int(found[1]) % len(classes)]}"
    return " ".join(part for part in text.split() if part in _KEPT)
