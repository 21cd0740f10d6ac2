"""The runner of the docs pages fails for a wrong command, line or row."""

from __future__ import annotations

from pathlib import Path

import pytest

from doc_pages import Shell, blocks_in, difference, follow

PAGE = """
# Page

`notes/rows.txt`:

```csv title="notes/rows.txt"
| id | name |
| -- | ---- |
|  1 | ann  |
```

## Look

```sh
cd notes   # comments are left out
export WHO=ann
cat rows.txt && echo "hello $WHO, it is $(date)"
```

```text
| id | name |
| -- | ---- |
|  1 | ann  |
…
hello ann, it is …
```

```sh
echo "still in $(basename $PWD)" && false   # exit code 1
```

```text
still in notes
```
"""


def do(page: str, folder: Path) -> None:
    follow(blocks_in(page, "page.md"), Shell(folder, {"PATH": "/usr/bin:/bin"}))


def test_a_page_that_is_right(tmp_path: Path) -> None:
    do(PAGE, tmp_path)
    assert (tmp_path / "notes/rows.txt").read_text().endswith("|  1 | ann  |\n")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("cat rows.txt", "cat row.txt"),
        ("exit code 1", "exit code 2"),
        ("   # exit code 1", ""),
        ("&& false", ""),
        ("…\nhello ann", "…\nhello bob"),
        ("still in notes\n```", "still in notes\nand more\n```"),
        ("|  1 | ann  |\n…", "|  2 | ann  |\n…"),
        ("|  1 | ann  |\n…", "…"),
        ("|  1 | ann  |\n…", "|  1 | ann  |\n|  2 | bob  |\n…"),
    ],
)
def test_a_page_that_is_wrong(right: str, wrong: str, tmp_path: Path) -> None:
    assert PAGE.count(right) == 1
    with pytest.raises(pytest.fail.Exception):
        do(PAGE.replace(right, wrong), tmp_path)


def test_a_file_whose_name_github_does_not_show() -> None:
    with pytest.raises(ValueError, match=r"page.md:6: .*notes/rows.txt"):
        blocks_in(PAGE.replace("`notes/rows.txt`:", "A file:"), "page.md")


def test_lines_have_an_order() -> None:
    printed = "\x1b[0m12:30:01  1 of 2 OK \x1b[32mone\x1b[0m in 2.0s\n12:30:02  2 of 2 OK two in 3.1s\n"
    assert difference("1 of 2 OK one …\n2 of 2 OK two in …s\n", printed) == ""
    assert difference("2 of 2 OK two in …s\n1 of 2 OK one …\n", printed)


def test_the_headings_of_a_page() -> None:
    found = blocks_in(PAGE, "page.md")
    assert [(block.heading, block.language) for block in found] == [
        ("Page", "csv"),
        *[("Look", language) for language in ("sh", "text", "sh", "text")],
    ]
    with pytest.raises(ValueError, match="no heading"):
        blocks_in(PAGE, "page.md", "## Elsewhere")
