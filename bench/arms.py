"""The arms of the benchmark. Each call returns (seconds of the call, value of the observed estimate, seconds that Kolmo says
its estimate took itself, or None)."""
import json
import subprocess
import time
import warnings

import infomeasure
import kolmo.flow
import numpy as np
from data import driven_pair, simultaneous
from results import YARDSTICK
from sklearn.feature_selection import mutual_info_regression

PLAIN = {"standardize": "none", "noise": 0}  # with these, Kolmo computes what the peers do


def lengths(case: str) -> int:
    """Past values of source and target: te22 -> 2."""
    return int(case[-1])


def columns(case: str, pair):
    """x and y of an estimate, each in memory by itself."""
    return np.ascontiguousarray((pair if case.startswith("te") else simultaneous(pair)).T)


def timed(call):
    """Seconds and result of a call. A call that waited for the processor over a tenth of its time, as others used it, is
    rejected and repeated, at most four times."""
    for _ in range(5):
        used, begin = time.process_time(), time.perf_counter()
        value = call()
        seconds, used = time.perf_counter() - begin, time.process_time() - used
        if used > 0.9 * seconds or seconds > 3:
            break
    return seconds, value


class Kolmo:
    """The functions of the Python package with their default arguments, but for the past values, the surrogates and the
    estimator that a case is about."""
    name = "kolmo"
    lanes = 8

    def supports(self, case):
        return True

    def call(self, case, pair, surrogates, **options):
        x, y = columns(case, pair)
        if surrogates:
            options["surrogates"] = surrogates
        if case == "gauss":
            options["estimator"] = "gaussian"
        if not case.startswith("te"):
            return timed(lambda: kolmo.flow.mutual_information(x, y, **options))
        if (k := lengths(case)) > 1:
            options.update(target_history=k, source_history=k)
        return timed(lambda: kolmo.flow.transfer_entropy(x, y, **options))

    def estimate(self, case, pair, surrogates):
        seconds, found = self.call(case, pair, surrogates)
        if found.document["threads"] != 1:
            raise RuntimeError(f"Kolmo took {found.document['threads']} threads")
        return seconds, float(found), found.document["seconds"]

    def like(self, peer, case, pair):
        """The value by the settings of a peer."""
        return float(self.call(case, pair, 0, k=peer.neighbors, **PLAIN)[1])

    def network(self, data, surrogates):
        seconds, found = timed(lambda: kolmo.TransferEntropyNetwork(surrogates=surrogates, exceedances=0, progress=False).fit(data))
        return seconds, len(found.to_dict()["links"]), None


class Sklearn:
    """mutual_info_regression with its default arguments. All surrogates are columns of one call, which is faster than one call for
    each."""
    name = "sklearn"
    lanes = 1
    neighbors = 3

    def supports(self, case):
        return case == "mi11"

    def estimate(self, case, pair, surrogates):
        x, y = columns(case, pair)
        generator = np.random.default_rng(0)

        def measure():
            shuffled = x[:, None]
            if surrogates:
                shuffled = generator.permuted(np.repeat(shuffled, surrogates, axis=1), axis=0)
            return mutual_info_regression(shuffled, y, random_state=0)[0]

        seconds, value = timed(measure)
        return seconds, None if surrogates else value, None


class Infomeasure:
    """The metric (KSG1) estimators with their default arguments, but for the noise, which would cost them a loop in Python. A
    permutation test is timed without the observed estimate before it."""
    name = "infomeasure"
    lanes = 1
    neighbors = 4

    def supports(self, case):
        return case != "gauss" and not case.startswith("network")

    def estimate(self, case, pair, surrogates):
        common = {"approach": "metric", "noise_level": 0}
        x, y = columns(case, pair)
        call, measure = infomeasure.mutual_information, "mi"
        if case.startswith("te"):
            call, measure = infomeasure.transfer_entropy, "te"
            common |= {"src_hist_len": lengths(case), "dest_hist_len": lengths(case)}
        if not surrogates:
            seconds, value = timed(lambda: call(x, y, **common))
            return seconds, float(value), None
        estimator = infomeasure.estimator(x, y, measure=measure, **common)
        estimator.global_val()
        seconds, _ = timed(lambda: estimator.statistical_test(surrogates, "permutation_test").p_value)
        return seconds, None, None


class PlainLanes:
    """The yardstick of surrogates, bench/plain_lanes.cpp: the seconds of the surrogates without their neighbour lists."""
    name = YARDSTICK

    def __init__(self, command, folder):
        self.command, self.file = command, folder / "series.npy"

    def surrogates(self, pair, count):
        np.save(self.file, pair)
        done = subprocess.run([self.command, self.file, str(count)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["seconds"], None, None


def warm_up(arms, cases):
    """First calls import, compile and choose; those are not measured."""
    warnings.simplefilter("ignore")
    pair = driven_pair(300)
    for arm in arms:
        for case in cases:
            if arm.supports(case) and not case.startswith("network"):
                arm.estimate(case, pair, 0)
                arm.estimate(case, pair, 2)
