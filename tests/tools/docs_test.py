#!/usr/bin/env python3
"""Every C++ block of the documentation stands, apart from white space, in one of the examples, which are built and run.
The tables of CONTRIBUTING.md name every header of the rooms that authors of operators use, and no other."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def words(text: str) -> str:
    return " ".join(text.split())


def index_faults(room: str):
    """`| `kolmo/base` | |`, then rows of names up to an empty line."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split(f"| `kolmo/{room}` | |\n|---|---|\n")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines()))
    there = {path.stem for path in (ROOT / "kolmo" / room).iterdir() if path.suffix in (".hpp", ".cuh")}
    for name in sorted(there ^ set(named)):
        yield f"CONTRIBUTING.md: kolmo/{room} " + (f"has {name}, which is not listed" if name in there else f"has no {name}")


def main() -> int:
    examples = [words(path.read_text(encoding="utf-8")) for path in (ROOT / "examples").glob("*.cpp")]
    missing = blocks = 0
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```cpp\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            blocks += 1
            if not any(words(block) in text for text in examples):
                missing += 1
                print(f"{page.relative_to(ROOT)}: this block is in no example:\n{block}")
    faults = [fault for room in ("base", "device", "skeleton") for fault in index_faults(room)]
    print("\n".join([*faults, f"{blocks} blocks, {missing} not in examples"]))
    return 1 if missing or faults or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
