#!/usr/bin/env python3
"""Prints "passed failed skipped" for the JUnit file that ctest or pytest wrote; names what was skipped, and why, on stderr,
parts of programs that passed among it. A missing file counts as one failure, and so does a test that could not be run:
its program or its fixture failed."""
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
    counts = {"run": 0, "fail": 0, "skipped": 0, "disabled": 0}
    for case in cases:
        why = case.find("skipped")
        if case.get("status") is None:  # pytest wrote it
            status = "fail" if case.find("failure") is not None or case.find("error") is not None else "run"
            if status == "run" and why is not None and why.get("type") != "pytest.xfail":
                status = "skipped"
                print(f"skipped: {case.get('classname')}.{case.get('name')}: {why.get('message')}", file=sys.stderr)
            counts[status] += 1
            continue
        skipped = why is not None and why.get("message", "").startswith("SKIP_")  # skipped by SKIP_RETURN_CODE and the like
        status = "skipped" if skipped else case.get("status", "fail")
        counts[status if status in counts else "fail"] += 1
        if status == "notrun":
            print(f"not run: {case.get('name')}: {case.findtext('system-out') or ''}", file=sys.stderr)
        output = case.findtext("system-out") or ""
        for reason in () if skipped else SKIPPED_PART.findall(output):
            print(f"skipped: part of {case.get('name')}: {reason}", file=sys.stderr)
        if skipped:
            reason = SKIP_REASON.search(output)
            text = next((g for g in reason.groups() if g), "") if reason else ""
            print(f"skipped: {case.get('name')}{': ' + text.strip() if text else ''}", file=sys.stderr)
    print(counts["run"], counts["fail"], counts["skipped"] + counts["disabled"])


if __name__ == "__main__":
    main(sys.argv[1])
