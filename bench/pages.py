"""Pages of docs that hold tables made from the result of a study."""
import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path


def between(page: str, text: str, start: str, end: str) -> str:
    """Replaces the generated part of a page."""
    before, after = page.index(start) + len(start), page.index(end)
    return page[:before] + "\n" + text + "\n" + page[after:]


def main_of_one_page(description: str, text_of: Callable[[dict], str], start: str, end: str,
                     pictures_of: Callable[[dict], dict[str, str]] = lambda result: {}) -> int:
    """The command `page.py RESULT.json PAGE.md [--check]`, which writes the text of a result into a page and its pictures beside it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    result = json.loads(options.result.read_text(encoding="utf-8"))
    wanted = {options.page: between(options.page.read_text(encoding="utf-8"), text_of(result), start, end)}
    wanted |= {options.page.parent / "pictures" / name: picture for name, picture in pictures_of(result).items()}
    if options.check:
        wrong = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
        for path in wrong:
            print(f"{path} is not what {options.result} gives; see make study", file=sys.stderr)
        return 1 if wrong else 0
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0
