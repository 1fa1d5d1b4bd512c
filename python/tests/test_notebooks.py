"""The notebooks of examples/notebooks run, and are kept without outputs."""
import json
import os

import pytest
from blocks import ROOT

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
IDS = [path.stem for path in NOTEBOOKS]


def test_there_are_some():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_kept_without_outputs(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of Jupyter
@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_runs(path):
    """With $KOLMO_NOTEBOOKS=DIR the executed notebooks are written there."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    for name in ("ipykernel", "matplotlib", "pandas"):
        pytest.importorskip(name)
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    if out := os.environ.get("KOLMO_NOTEBOOKS"):
        nbformat.write(notebook, os.path.join(out, path.name))
