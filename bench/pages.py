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


def main_of_one_page(description: str, text_of: Callable[[dict], str], start: str, end: str) -> int:
    """The command `page.py RESULT.json PAGE.md [--check]`, which writes the text of a result into a page."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = options.page.read_text(encoding="utf-8")
    wanted = between(page, text_of(json.loads(options.result.read_text(encoding="utf-8"))), start, end)
    if options.check:
        if wanted != page:
            print(f"{options.page} is not what {options.result} gives; see make study", file=sys.stderr)
        return int(wanted != page)
    options.page.write_text(wanted, encoding="utf-8")
    return 0
