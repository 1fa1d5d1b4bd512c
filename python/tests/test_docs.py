"""The Python blocks of the documentation run, and print what they say."""
import pytest
from blocks import ROOT, blocks, expected

PAGES = ["../README.md", "index.md", "guide.md", "choosing.md", "reading_results.md", "gpu.md", "operators.md"]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_what_they_say(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    names, printed = {}, []
    names["print"] = lambda *values: printed.append(" ".join(map(str, values)))
    found = blocks(page)
    assert found
    for heading, block in found:
        printed.clear()
        exec(compile(block, f"docs/{page}, {heading}", "exec"), names)
        assert printed == expected(block)
