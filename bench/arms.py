"""The arms of the benchmark. Each call returns (seconds, value of the observed estimate), the seconds of one call."""
import json
import subprocess
import time
import warnings

import infomeasure
import numpy as np
from data import driven_pair, simultaneous
from results import YARDSTICK
from sklearn.feature_selection import mutual_info_regression

NEIGHBORS = 4


def lengths(case: str) -> int:
    """The number of past values of source and target: te22 -> 2."""
    return int(case[-1])


def timed(call):
    begin = time.perf_counter()
    value = call()
    return time.perf_counter() - begin, value if value is None else float(value)


class Kolmo:
    """The command, a fresh process each time; its own `seconds`: from the series in memory to the estimates."""
    name = "kolmo"
    lanes = 8

    def __init__(self, command, folder, limit):
        self.command, self.folder, self.limit = command, folder, limit
        self.files = {}

    def supports(self, case):
        return True

    def file(self, name, make):
        """The NPY file of some data, of which the last of each kind is kept."""
        kind = name.split("-")[0]
        if self.files.get(kind, (None,))[0] != name:
            path = self.folder / f"{kind}.npy"
            np.save(path, make())
            self.files[kind] = name, path
        return self.files[kind][1]

    def run(self, *arguments):
        command = [self.command, *map(str, arguments), "--standardize", "none", "--noise", "0", "--neighbors",
                   str(NEIGHBORS), "--device", "cpu", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1.5 * self.limit, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def estimate(self, case, pair, surrogates):
        if case == "mi11":
            path = self.file(f"mi-{len(pair)}", lambda: simultaneous(pair))
            arguments = ["mi", path, "--x", 0, "--y", 1]
        else:
            path, k = self.file(f"te-{len(pair)}", lambda: pair), lengths(case)
            arguments = ["te", path, "--source", 0, "--target", 1, "--target-history", k, "--source-history", k]
        found = self.run(*arguments, "--surrogates", surrogates, "--surrogate-type", "permute", "--threads", 1)
        return found["seconds"], found["value"]

    def network(self, data, chosen, surrogates, threads):
        path = self.file(f"network-{data.shape[1]}", lambda: data)
        rule = ["--embedding", "ais"] if chosen else ["--embedding", "given", "--history", 1]
        found = self.run("network", path, *rule, "--max-lag", 1, "--surrogates", surrogates, "--surrogate-type", "permute",
                         "--threads", threads)
        return found["seconds"], len(found["links"])


class Sklearn:
    """mutual_info_regression. All surrogates are columns of one call, which is faster than one call for each."""
    name = "sklearn"
    lanes = 1

    def supports(self, case):
        return case == "mi11"

    def estimate(self, case, pair, surrogates):
        x, y = np.ascontiguousarray(simultaneous(pair).T)
        generator = np.random.default_rng(0)

        def measure():
            columns = x[:, None]
            if surrogates:
                columns = generator.permuted(np.repeat(columns, surrogates, axis=1), axis=0)
            return mutual_info_regression(columns, y, n_neighbors=NEIGHBORS, random_state=0)[0]

        seconds, value = timed(measure)
        return seconds, None if surrogates else value


class Infomeasure:
    """The metric (KSG1) estimators, without noise, which would cost them a loop in Python. A permutation test is timed
    without the observed estimate before it."""
    name = "infomeasure"
    lanes = 1

    def supports(self, case):
        return not case.startswith("network")

    def estimate(self, case, pair, surrogates):
        common = {"approach": "metric", "k": NEIGHBORS, "ksg_id": 1, "noise_level": 0}
        if case == "mi11":
            x, y = np.ascontiguousarray(simultaneous(pair).T)
            call, measure = infomeasure.mutual_information, "mi"
        else:
            x, y = np.ascontiguousarray(pair.T)
            call, measure = infomeasure.transfer_entropy, "te"
            common |= {"src_hist_len": lengths(case), "dest_hist_len": lengths(case)}
        if not surrogates:
            return timed(lambda: call(x, y, **common))
        estimator = infomeasure.estimator(x, y, measure=measure, **common)
        estimator.global_val()
        seconds, _ = timed(lambda: estimator.statistical_test(surrogates, "permutation_test").p_value)
        return seconds, None


class PlainLanes:
    """The yardstick of surrogates, bench/plain_lanes.cpp: the seconds of the surrogates without their neighbour lists."""
    name = YARDSTICK

    def __init__(self, command, kolmo):
        self.command, self.kolmo = command, kolmo

    def surrogates(self, pair, count):
        command = [self.command, self.kolmo.file(f"te-{len(pair)}", lambda: pair), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1.5 * self.kolmo.limit, check=True)
        return json.loads(done.stdout)["seconds"], None


def warm_up(arms, cases):
    """The peers' first calls import and compile; those are not measured."""
    warnings.simplefilter("ignore")
    pair = driven_pair(300)
    for arm in arms:
        for case in cases:
            if arm.supports(case) and not case.startswith("network"):
                arm.estimate(case, pair, 0)
                arm.estimate(case, pair, 2)
