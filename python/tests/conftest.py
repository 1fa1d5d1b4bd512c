"""Examples of hypothesis are the same in every run; with --hypothesis-profile=few (under sanitizers) there are few of them.
--record FILE keeps which tests passed, with the device, the versions and the hashes of the CUDA sources."""
import importlib.metadata
import json
import platform
import signal
from datetime import datetime, timezone
from pathlib import Path

import hypothesis

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("default"), max_examples=5)
hypothesis.settings.load_profile("default")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so it is in the background of a shell; the processes of tests would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def pytest_addoption(parser):
    parser.addoption("--record", metavar="FILE", help="write which tests passed on which device to FILE, as JSON")


def pytest_terminal_summary(terminalreporter, config):
    file = config.getoption("--record")
    if not file:
        return
    import kolmo
    from kolmo import _kolmo
    outcomes = {kind: sorted(r.nodeid.removeprefix("python/tests/") for r in terminalreporter.stats.get(kind, []))
                for kind in ("passed", "failed", "error", "skipped")}
    packages = {name: found for name in ("numpy", "torch", "cupy-cuda13x", "jax") if (found := version(name))}
    device = kolmo.devices()[-1]
    record = {"kolmo_version": kolmo.__version__, "commit": _kolmo.commit(),
              "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "kind": "python", "device": device,
              "driver": device["driver"], "python": platform.python_version(), "packages": packages,
              "counts": {kind: len(tests) for kind, tests in outcomes.items()}, **outcomes,
              "cuda_sources": {name: json.loads(_kolmo.Operator(name).describe())["cuda_sources"] for name in kolmo.ops.__all__}}
    Path(file).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
