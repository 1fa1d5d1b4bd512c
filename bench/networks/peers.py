"""What tigramite finds: peers.py METHOD MAX_LAG FILE.csv... prints for each file {"links": [[source, target, lag], ...], "cpu_s": seconds}.
The seconds are those of the inference, without the start of Python. Links are those to other variables from lag 1 on, each with its
strongest lag.

tigramite is under the GPL; it is run here as a peer, in an environment of its own (tools/study.sh)."""
import json
import sys
import time

import numpy as np
from tigramite import data_processing
from tigramite.independence_tests.cmiknn import CMIknn
from tigramite.independence_tests.parcorr import ParCorr
from tigramite.pcmci import PCMCI

ALPHA = 0.05


def pcmci(data, max_lag: int, test) -> tuple[np.ndarray, np.ndarray]:
    """PCMCI, its p-values adjusted by Benjamini and Hochberg."""
    search = PCMCI(dataframe=data, cond_ind_test=test, verbosity=0)
    found = search.run_pcmci(tau_min=1, tau_max=max_lag, pc_alpha=0.2)
    q = search.get_corrected_pvalues(p_matrix=found["p_matrix"], tau_min=1, tau_max=max_lag, fdr_method="fdr_bh")
    return q <= ALPHA, found["val_matrix"]


def pcmci_plus(data, max_lag: int, test) -> tuple[np.ndarray, np.ndarray]:
    """PCMCI+ at its default level of .01: the lagged links of its graph."""
    found = PCMCI(dataframe=data, cond_ind_test=test, verbosity=0).run_pcmciplus(tau_min=0, tau_max=max_lag, pc_alpha=0.01)
    return found["graph"] == "-->", found["val_matrix"]


METHODS = {"PCMCI": (pcmci, lambda: ParCorr(significance="analytic")),
           "PCMCI+": (pcmci_plus, lambda: ParCorr(significance="analytic")),
           "PCMCI, CMIknn": (pcmci, lambda: CMIknn(significance="shuffle_test", seed=1, workers=1))}  # 500 shuffles, its default


def found(method: str, max_lag: int, file: str) -> dict:
    data = data_processing.DataFrame(np.loadtxt(file, delimiter=",", skiprows=1))
    run, test = METHODS[method]
    start = time.process_time()
    significant, values = run(data, max_lag, test())
    seconds = time.process_time() - start
    links = []
    for source, target in np.argwhere(significant[:, :, 1:].any(axis=2)):
        if source != target:
            strength = np.where(significant[source, target, 1:], np.abs(values[source, target, 1:]), -1)
            links.append([int(source), int(target), 1 + int(strength.argmax())])
    return {"links": links, "cpu_s": seconds}


if __name__ == "__main__":
    print(json.dumps([found(sys.argv[1], int(sys.argv[2]), file) for file in sys.argv[3:]]))
