"""python -m peers [--third K | --only NAME] [--record FILE.json]: every operator with a peer, 50 random problems each. --third: every
third of them, from the K-th. Ends with status 1 if one disagrees."""
from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import numpy as np

from peers import PEERS

MODULES = ("neural", "sequences", "random_numbers", "science", "images_and_neurons", "topology")
PACKAGES = {"sklearn": "scikit-learn", "skimage": "scikit-image"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--third", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    for module in MODULES:
        importlib.import_module(f"peers.{module}")
    chosen = [p for i, p in enumerate(PEERS) if (options.third is None or i % 3 == options.third % 3) and options.only in p.operator]
    results, faults = [], 0
    for p in chosen:
        begin, worst, failed = time.monotonic(), 0.0, []
        for problem in range(p.problems):
            rng = np.random.default_rng([problem, *p.operator.encode()])
            try:
                excess = max(pair.excess() for pair in p.problem(rng))
            except Exception as error:  # counts as a disagreement; the others go on
                print(f"{p.operator}, problem {problem}: {type(error).__name__}: {error}", file=sys.stderr)
                excess = np.inf
            worst = max(worst, excess)
            if excess > 1:
                failed.append(problem)
        faults += bool(failed)
        results.append({"operator": p.operator, "peer": p.library, "problems": p.problems, "worst_share_of_tolerance": worst, "failed": failed})
        print(f"{p.operator:36} {p.library:12} {p.problems:3} problems, worst {worst:8.2g} of the tolerance, {time.monotonic() - begin:5.1f} s"
              + (f"  FAILED: {failed[:8]}" if failed else ""), flush=True)
    without = sorted({d["name"] for d in map(json.loads, (getattr(kolmo.ops, n).describe() for n in kolmo.ops.__all__)) if d["alias_of"] is None}
                     - {p.operator for p in PEERS})
    libraries = sorted({p.library for p in PEERS})
    if options.record:
        record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": kolmo._kolmo.commit(),
                  "versions": {name: importlib.metadata.version(PACKAGES.get(name, name)) for name in libraries}, "without_a_peer": without, "results": results}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{len(results) - faults} operators agree with their peers, {faults} do not; without a peer: {', '.join(without)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
