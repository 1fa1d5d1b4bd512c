#!/usr/bin/env python3
"""Makes the pictures of README.md and docs/guide.md by running the Python blocks of the page, which draw them.

PYTHONPATH=build/cpu/python .venv/python/bin/python tools/pictures.py"""
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python/tests"))
from blocks import PICTURES, blocks, draw_alike  # noqa: E402


def main() -> None:
    draw_alike()
    warnings.simplefilter("ignore")
    for page, (made, kept) in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            os.chdir(folder)
            names: dict = {"print": lambda *_: None}
            for heading, block in blocks(page):
                exec(compile(block, f"docs/{page}, {heading}", "exec"), names)
            text = re.sub(r"\s*<dc:date>.*?</dc:date>", "", Path(made).read_text(encoding="utf-8"))
            os.chdir(ROOT)
        (ROOT / "docs/pictures" / kept).write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
        print(f"docs/pictures/{kept}")


if __name__ == "__main__":
    main()
