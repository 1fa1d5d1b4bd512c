"""Data, and the command's results, for the tests of kolmo.flow."""
import json
import os
import re
import subprocess
from pathlib import Path

import kolmo
import numpy as np

BUILT = Path(kolmo._kolmo.__file__).resolve().parents[2] / "kolmo"
KOLMO = os.environ.get("KOLMO_COMMAND", str(BUILT))
FAST = {"max_lag": 2, "surrogates": 19, "progress": False}


def coupled(rows=200, columns=3, seed=1):
    """Makes noise in which each column drives the next one."""
    r = np.random.default_rng(seed)
    x = r.normal(size=(rows, columns))
    for t in range(1, rows):
        x[t, 1:] += 0.8 * x[t - 1, :-1]
    return x


def run(*arguments):
    done = subprocess.run([KOLMO, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(*arguments):
    """Runs the command, and returns the object that --json prints."""
    return json.loads(run(*arguments, "--json"))


def comparable(document):
    """Leaves out of a document what depends on the file, the date and the command line."""
    d = json.loads(json.dumps(document))
    for key in ("command", "seconds", "threads"):
        d.pop(key, None)
    d["options"] = {k: v for k, v in d.get("options", {}).items() if k not in ("file", "trials")}
    for key in ("file", "x", "y", "given", "trials"):
        d.pop(key, None)
    for link in d.get("links", []):
        link.pop("command", None)
    if "methods" in d:
        del d["methods"]["data"]
        d["methods"]["text"] = re.sub(r"SHA-256 of the [a-z ]+: [0-9a-f]{64}", "", d["methods"]["text"])
    return d
