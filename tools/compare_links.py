#!/usr/bin/env python3
"""Says which known links a network found, which it missed, and which it added.

compare_links.py NETWORK.json TRUTH    TRUTH is the truth file of `kolmo simulate`, or links SOURCE:TARGET with commas between"""
import json
import sys
from pathlib import Path

Links = dict[tuple[str, str], "int | None"]


def known(truth: str) -> Links:
    """The known links by source and target, with their lags where these are known. The variables of a simulation are x0, x1, ..."""
    if truth.endswith(".json"):
        links = json.loads(Path(truth).read_text(encoding="utf-8"))["links"]
        return {(f"x{link['source']}", f"x{link['target']}"): link["lag"] for link in links}
    return {(source, target): None for source, target in (word.split(":") for word in truth.split(","))}


def claimed(document: dict) -> Links:
    """The lag of each significant link."""
    return {(link["source"], link["target"]): link["lag"] for link in document["links"] if link["significant"]}


def listed(links: Links, lags: Links) -> str:
    """Links as text; a lag that is not the known one is added."""
    texts = []
    for (source, target), lag in sorted(links.items()):
        other = lags.get((source, target), lag)
        texts.append(f"{source} -> {target}" + (f" (lag {other}, known: {lag})" if lag is not None and other != lag else ""))
    return ", ".join(texts) or "none"


def comparison(document: dict, truth: Links) -> str:
    found = claimed(document)
    right = {pair: lag for pair, lag in truth.items() if pair in found}
    missed = {pair: lag for pair, lag in truth.items() if pair not in found}
    added = {pair: lag for pair, lag in found.items() if pair not in truth}
    none = len(document["links"]) - len(truth)
    return (f"known links found: {len(right)} of {len(truth)}: {listed(right, found)}\n"
            f"missed: {listed(missed, {})}\n"
            f"added, of {none} pairs without a link: {listed(added, {})}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(comparison(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), known(sys.argv[2])))
