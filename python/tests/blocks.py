"""The Python blocks of the documentation, in order, and what they print."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks(page: str) -> list[tuple[str, str]]:
    """Each block of docs/`page`, with the heading above it."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [((re.findall(r"^## (.+)$", text[:match.start()], re.M) or [""])[-1], match[1]) for match in FENCE.finditer(text)]


def expected(block: str) -> list[str]:
    """What a block says that it prints: the comment behind a `print`, and comments of whole lines below it."""
    lines, printed = [], False
    for line in block.splitlines():
        if found := re.search(r"\bprint\(.*\) {2,}# (.+)$", line):
            lines.append(found[1])
        elif printed and line.startswith("# "):
            lines.append(line[2:])
        printed = printed or "print(" in line
    return lines
