"""Facts about the machine, without which a result is worth nothing."""
import importlib.metadata
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return found[1].strip() if found else platform.machine()


def kolmo_version(command: str) -> tuple[str, str]:
    """("0.1.0", commit) from `kolmo --version`."""
    text = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.fullmatch(r"kolmo (\S+) \((\S+)\)\s*", text)
    if not found:
        raise SystemExit(f"{command} --version printed {text!r}")
    return found[1], found[2]


def facts(command: str) -> dict:
    version, commit = kolmo_version(command)
    libraries = {name: importlib.metadata.version(name) for name in ("scikit-learn", "infomeasure", "numpy", "scipy")}
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit,
        "machine": {"cpu": cpu_model(), "cores": os.cpu_count(), "system": platform.platform(),
                    "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
                    "load_average_at_start": list(os.getloadavg())},
        "versions": {"kolmo": version, "python": platform.python_version(), **libraries},
    }


def file_name(result: dict) -> str:
    cpu = re.sub(r"[^a-z0-9]+", "-", result["machine"]["cpu"].lower()).strip("-")
    return f"{result['date'][:10]}-{cpu}-{result['commit']}.json"
