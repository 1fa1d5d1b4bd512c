"""The Python blocks of the documentation, in order, what they print, and the pictures that they draw: of each page the file that a
block writes, and its copy in docs/pictures, which tools/pictures.py makes."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = {"../README.md": ("furnace.svg", "readme_furnace.svg"), "guide.md": ("macro.svg", "guide_network.svg")}
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


def draw_alike() -> None:
    """Makes matplotlib write the same SVG each time, with text as text."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kolmo", "font.family": "sans-serif"})


def words_of(picture: Path) -> list[str]:
    """The text in an SVG, in order."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture.read_text(encoding="utf-8"))
