#!/usr/bin/env python3
"""Every C++ block of the documentation stands, apart from white space, in one of the examples, which are built and run."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def words(text: str) -> str:
    return " ".join(text.split())


def main() -> int:
    examples = [words(path.read_text(encoding="utf-8")) for path in (ROOT / "examples").glob("*.cpp")]
    missing = blocks = 0
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```cpp\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            blocks += 1
            if not any(words(block) in text for text in examples):
                missing += 1
                print(f"{page.relative_to(ROOT)}: this block is in no example:\n{block}")
    print(f"{blocks} blocks, {missing} not in examples")
    return 1 if missing or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
