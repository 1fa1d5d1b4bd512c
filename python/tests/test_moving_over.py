"""docs/moving_over.md: the values of other packages, with the parameters that it names."""
import re

import kolmo
import numpy as np
import pytest
from blocks import ROOT, blocks

PAGE = "moving_over.md"
(_, DATA), *SECTIONS = blocks(PAGE)
NEEDS = {"infomeasure": ["infomeasure"], "scikit-learn": ["sklearn"], "NPEET": ["npeet_plus"], "tigramite": ["tigramite"], "PyTorch": ["torch"]}
GOLDEN = ROOT / "tests/flow/data"


def numbers(values):
    return [v.numpy() if hasattr(v, "numpy") else np.float64(v) for v in values]


@pytest.mark.filterwarnings("ignore")  # those of the packages
@pytest.mark.parametrize(("section", "block"), [pytest.param(*s, id=s[0], marks=[pytest.mark.slow] if s[0] in NEEDS else []) for s in SECTIONS])
def test_ours_are_theirs(section, block, monkeypatch):
    for package in NEEDS.get(section, []):
        pytest.importorskip(package, reason=f"{package} is not installed: tests/peers/requirements.txt")
    monkeypatch.chdir(ROOT)
    names = {}
    exec(compile(DATA, PAGE, "exec"), names)
    exec(compile(block, f"{PAGE}, {section}", "exec"), names)
    ours, theirs = numbers(names["ours"]), numbers(names["theirs"])
    assert len(ours) == len(theirs) > 0
    # noise of 1e-10 that a package always adds reaches entropies; float32 of PyTorch has 24 bits, and sums in other orders
    absolute = 1e-5 if section == "PyTorch" else 1e-9
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=absolute)


def test_every_section_has_a_block():
    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / PAGE).read_text(encoding="utf-8"), re.M)
    assert [section for section, _ in SECTIONS] == headings


def golden():
    for line in (GOLDEN / "open_golden.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            measure, algorithm, _, spec, k, theiler, norm, value = line.split("\t")
            options = dict(word.split("=") for word in (*spec.split(), k.replace("k=", "neighbors=", 1), theiler, norm))
            yield measure, algorithm.lower(), options, float(value)


@pytest.mark.filterwarnings("ignore:ksg2_biased")
def test_jidt():
    """All golden values of JIDT, by the parameters of the page. They hold at least 12 digits; KSG sums 500 terms."""
    series = np.loadtxt(GOLDEN / "open_series.csv", delimiter=",", skiprows=1)
    worst, count = 0.0, 0
    for measure, algorithm, o, want in golden():
        def columns(name, o=o):
            return series[:, [int(i) for i in o[name].split(",")]] if name in o else None
        common = dict(k=int(o["neighbors"]), theiler=int(o["theiler"]), theiler_count="all", algorithm=algorithm, noise=0,
                      standardize="columns" if o["norm"] == "true" else "none")
        if measure in ("MI", "CMI"):
            got = kolmo.mutual_information(columns("x"), columns("y"), given=columns("z"), **common)
        elif measure == "AIS":
            got = kolmo.active_information_storage(columns("x")[:, 0], history=int(o["k_hist"]), tau=int(o["tau"]), **common)
        else:
            got = kolmo.transfer_entropy(columns("src")[:, 0], columns("dst")[:, 0], lag=int(o["u"]), history=int(o["k_hist"]),
                                         tau=int(o["k_tau"]), source_history=int(o["l_hist"]), source_tau=int(o["l_tau"]), **common)
        worst, count = max(worst, abs(float(got) - want)), count + 1
    assert count > 250
    assert worst < 1e-12
