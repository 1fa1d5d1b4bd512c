"""Facts about the machine for the results of bench/predict_*.py."""
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import numpy
import torch
from kolmo import _kolmo
from machine import cpu_model


def checkout() -> str:
    """The commit of the checkout, whose Python sources a build folder has links to; otherwise that of the extension."""
    told = subprocess.run(["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"], cwd=Path(__file__).parent, capture_output=True, text=True)
    return told.stdout.strip() or _kolmo.commit()


def facts() -> dict:
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": checkout(), "extension_commit": _kolmo.commit(),
            "machine": {"cpu": cpu_model(), "cores": os.cpu_count(), "system": platform.platform(),
                        "load_average_at_start": list(os.getloadavg())},
            "versions": {"kolmo": kolmo.__version__, "python": platform.python_version(), "torch": torch.__version__, "numpy": numpy.__version__}}
