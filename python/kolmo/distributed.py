"""Networks of transfer entropy on a cluster of Dask: each target is a task, and each worker its cores or its GPUs.

``main`` is how ``kolmo network --scheduler ADDRESS`` computes: it reads the data from standard input, and writes a line of JSON
for each target that is finished.
"""
from __future__ import annotations

import json
import os
import sys
import threading
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo._devices import devices
from kolmo.flow.rows import Rows
from kolmo.flow.problem import NetworkProblem, Records

_one_at_a_time = threading.Lock()  # tasks of a worker: each has all of the worker's cores, or its GPUs


def network_records(problem: NetworkProblem, client: Any, targets: list[int], finished: Records) -> Iterator[tuple[int, Records]]:
    """Each target with its finished work, as it comes: once for the first part of its surrogates, and once for each further part
    that the network needs. `finished` is what was there before.

    `client` is a distributed.Client. A worker computes one target at a time, with as many threads as Dask gave it, on all
    GPUs that its CUDA_VISIBLE_DEVICES shows if it has any. A task whose worker dies is computed by another one; `problem`
    is kept by the scheduler. Raises Error if four workers die at the same target (distributed.scheduler.allowed-failures),
    or have another version of Kolmo, and what the computation raises.
    """
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    run, known = uuid.uuid4().hex, dict(finished)
    with warnings.catch_warnings():  # the data are as large as they are
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        data = client.submit(_same, problem, key=f"kolmo-data-{run}")
    tasks: list[Any] = []
    try:
        for step in count():
            tasks = [client.submit(_target_records, data, target, _version(), _of_target(known, target),
                                   key=f"kolmo-target-{target}-{step}-{run}") for target in targets]
            target_of = dict(zip(tasks, targets, strict=True))
            for task, records in as_completed(tasks, with_results=True):
                known |= records
                yield target_of[task], records
            if not (targets := problem.plan(finished=known)[0]):
                break
    except KilledWorker as e:
        raise _kolmo.Error(f"client: {e}") from None
    finally:
        client.cancel([*tasks, data], force=True)


def _of_target(records: Records, target: int) -> Records:
    return {key: text for key, text in records.items() if key[0] == target}


def _same(problem: NetworkProblem) -> NetworkProblem:
    return problem


def _version() -> str:
    return f"{_kolmo.version()} ({_kolmo.commit()})"


def _target_records(problem: NetworkProblem, target: int, version: str, finished: Records | None = None) -> Records:
    from distributed import get_worker

    if version != _version():
        raise _kolmo.Error(f"client: has kolmo {version}, and worker {get_worker().address} {_version()}")
    if not problem.options.get("threads"):
        problem = replace(problem, options={**problem.options, "threads": get_worker().state.nthreads})
    if problem.options.get("device", "auto") == "auto" and sum(d["device"].startswith("cuda") for d in devices()) > 1:
        problem = replace(problem, options={**problem.options, "device": "cuda:all"})
    with _one_at_a_time:
        return problem.records([target], finished=finished)


def _read() -> tuple[NetworkProblem, list[int], Records, str]:
    """What the command wrote: cli/scheduler.cpp."""
    stream = sys.stdin.buffer
    head = json.loads(stream.readline())
    rows, columns = head["rows"], head["columns"]
    values = np.frombuffer(stream.read(8 * rows * columns), np.float64).reshape(rows, columns)
    known = Rows()
    if head["trials"]:
        known.trials = np.frombuffer(stream.read(4 * rows), np.int32)
    if head["times"]:
        known.times, known.time_name = np.frombuffer(stream.read(8 * rows), np.float64), "time"
    if head["where"]:
        known.where = np.frombuffer(stream.read(rows), np.uint8)
    finished = {(target, number): bytes.fromhex(text) for target, number, text in head["finished"]}
    return NetworkProblem(head["options"], values, head["names"], known, head["name"]), head["targets"], finished, head["version"]


def _serve(address: str) -> dict[str, Any]:
    try:
        from distributed import Client
    except ImportError as e:
        return {"error": f"{e}: pip install 'kolmo[dask]' for {sys.executable}"}
    problem, targets, finished, version = _read()
    if version != _kolmo.version():
        return {"error": f"the command is kolmo {version}, and the Python package {_kolmo.version()}"}
    try:
        client = Client(address, timeout=os.environ.get("KOLMO_SCHEDULER_TIMEOUT", "30s"))
    except (OSError, ValueError) as e:
        return {"error": f"cannot reach a Dask scheduler at {address}: {e}"}
    with client:
        for _, records in network_records(problem, client, targets, finished):
            _say({"records": [[*key, text.hex()] for key, text in records.items()]})
    return {"end": True}


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    try:
        _say(_serve(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the command is gone
        os._exit(1)
    except Exception as e:  # whatever it is, the command says it
        _say({"error": str(e) or repr(e)})
