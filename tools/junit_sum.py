#!/usr/bin/env python3
"""Prints "passed failed skipped" for the JUnit file that ctest wrote; names what was skipped, and why, on stderr,
parts of programs that passed among it. A missing file counts as one failure."""
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIP_REASON = re.compile(r"Skipped\n(.*)|: (.*)\n\[  SKIPPED \]|^(?:SKIP|skipped)[:,]? *(.*)$", re.M)
SKIPPED_PART = re.compile(r"^skipped: (.*)$", re.M)


def main(path: str) -> None:
    try:
        cases = ElementTree.parse(path).getroot().iter("testcase")
    except (OSError, ElementTree.ParseError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        print("0 1 0")
        return
    counts = {"run": 0, "fail": 0, "notrun": 0, "disabled": 0}
    for case in cases:
        status = case.get("status", "fail")
        skipped = case.find("skipped") is not None
        counts["notrun" if skipped else status if status in counts else "fail"] += 1
        output = case.findtext("system-out") or ""
        for reason in () if skipped else SKIPPED_PART.findall(output):
            print(f"skipped: part of {case.get('name')}: {reason}", file=sys.stderr)
        if skipped:
            reason = SKIP_REASON.search(output)
            text = next((g for g in reason.groups() if g), "") if reason else ""
            print(f"skipped: {case.get('name')}{': ' + text.strip() if text else ''}", file=sys.stderr)
    print(counts["run"], counts["fail"], counts["notrun"] + counts["disabled"])


if __name__ == "__main__":
    main(sys.argv[1])
