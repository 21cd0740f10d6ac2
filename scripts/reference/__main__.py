"""`python -m reference [--check]`: writes the pages of docs/reference; `--check` exits with 1 if one is out of date."""

from __future__ import annotations

import sys

from reference.pages import FOLDER, out_of_date, written

if __name__ == "__main__":
    if "--check" in sys.argv:
        if found := out_of_date():
            sys.exit(f"{', '.join(found)}: run `make reference`")
    else:
        FOLDER.mkdir(exist_ok=True)
        for name, text in written().items():
            (FOLDER / name).write_text(text, "utf-8")
