"""The error of nearest-neighbour mutual information over the number of neighbours, rows and dimensions, where the truth is known.

study.py OUT.json [--quick]

Each cell has root mean square error, bias and standard deviation, in nats, for each number of neighbours, over the same data. The
dimension is that of the joint space: x has one column and y the others. Needs the Python package."""
import argparse
import json
import sys
import warnings
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import numpy as np
from kolmo import _kolmo

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine  # noqa: E402

NEIGHBORS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, "auto")
ROWS = (100, 300, 1000, 3000, 10000)
DIMENSIONS = (2, 3, 4, 5, 6)


def gaussian(rows, columns, random):
    """x = a sum of y and as much noise: I = log(2) / 2, however many columns y has."""
    y = random.normal(size=(rows, columns))
    return np.sqrt(0.5 / columns) * y.sum(1) + np.sqrt(0.5) * random.normal(size=rows), y


def lognormal(rows, columns, random):
    """The same in heavy tails: monotonic functions of single columns change no mutual information."""
    x, y = gaussian(rows, columns, random)
    return np.exp(x), np.exp(y)


def weak(rows, columns, random):
    """The first with a correlation of .15, where the question is whether there is any dependence."""
    y = random.normal(size=(rows, columns))
    return 0.15 / np.sqrt(columns) * y.sum(1) + np.sqrt(1 - 0.15**2) * random.normal(size=rows), y


def uniform(rows, columns, random):
    """y_1 = x + w u, of uniform x and u, w = 1/2: I = w / 2 - log(w). The other columns are independent."""
    x, y = random.uniform(size=rows), random.uniform(size=(rows, columns))
    y[:, 0] = x + 0.5 * y[:, 0]
    return x, y


def independent(rows, columns, random):
    return random.normal(size=rows), random.normal(size=(rows, columns))


SYSTEMS = {"gaussian": (gaussian, np.log(2) / 2), "lognormal": (lognormal, np.log(2) / 2), "uniform": (uniform, 0.25 + np.log(2)),
           "weak": (weak, -np.log(1 - 0.15**2) / 2), "independent": (independent, 0.0)}


def cell(system: str, rows: int, dimension: int, runs: int) -> dict:
    make, truth = SYSTEMS[system]
    errors = np.empty((runs, len(NEIGHBORS)))
    for run in range(runs):
        x, y = make(rows, dimension - 1, np.random.default_rng([run, rows, dimension]))
        for i, k in enumerate(NEIGHBORS):
            errors[run, i] = kolmo.mutual_information(x, y, neighbors=k).value - truth
    rounded = {name: [round(float(v), 5) for v in values] for name, values in (
        ("rmse", np.sqrt((errors**2).mean(0))), ("bias", errors.mean(0)), ("deviation", errors.std(0)))}
    return {"system": system, "rows": rows, "dimension": dimension, "runs": runs, **rounded}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true", help="few runs of few rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore", kolmo.DataWarning)  # few rows in many dimensions
    cells = []
    for rows in ROWS[:2] if options.quick else ROWS:
        for dimension in DIMENSIONS:
            for system in SYSTEMS:
                cells.append(cell(system, rows, dimension, 3 if options.quick else max(20, min(100, 50000 // rows))))
                print(f"{rows} rows, dimension {dimension}, {system}", flush=True)
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": _kolmo.commit(), "machine": machine.cpu_model(),
              "neighbors": NEIGHBORS, "cells": cells}
    lines = ",\n".join(json.dumps(c) for c in record.pop("cells"))
    options.out.write_text(json.dumps(record)[:-1] + ', "cells": [\n' + lines + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
