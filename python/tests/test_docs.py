"""The Python blocks of the documentation run, print what they say, and draw the pictures beside them."""
from pathlib import Path
import re
import pytest
from blocks import PICTURES, ROOT, blocks, draw_alike, expected, words_of

PAGES = ["../README.md", "index.md", "guide.md", "choosing.md", "reading_results.md", "gpu.md", "operators.md", "training.md", "topology.md"]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_what_they_say(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    if page == "training.md":
        pytest.importorskip("torch")
    draw_alike()
    names, printed = {}, []
    names["print"] = lambda *values: printed.append(" ".join(map(str, values)))
    found = blocks(page)
    assert found
    for heading, block in found:
        printed.clear()
        exec(compile(block, f"docs/{page}, {heading}", "exec"), names)
        assert printed == expected(block)
    if page in PICTURES:
        made, kept = PICTURES[page]
        assert words_of(tmp_path / made) == words_of(ROOT / "docs/pictures" / kept), "run tools/pictures.py"


def test_every_warning_has_a_documented_way_out():
    root = Path(__file__).resolve().parents[2]
    named = set()
    for source in [*root.glob("kolmo/flow/**/*.cpp"), *root.glob("kolmo/io/*.cpp")]:
        text = source.read_text()
        if "Warning" in text or "Remark" in text or "remark" in text:
            named |= set(re.findall(r'(?:Warning|push_back\(|warn\(\{)\s*\{\s*"([a-z_0-9]+)",', text))
        named |= set(re.findall(r'\.(?:tell|add)\(\s*"([a-z_0-9]+)",', text)) if "SharedWarnings" in text else set()
    assert {"irregular_time", "unit_root", "infinite", "too_few_surrogates", "transposed", "ksg2_biased"} <= named
    table = (root / "docs/network_inference.md").read_text().split("| warning | when | way out |")[1].split("\n\n")[0]
    rows = [row.strip("|").split(" | ") for row in table.splitlines()[2:]]
    assert all(len(row) == 3 and row[2].strip() for row in rows)
    assert named <= set(re.findall(r"`([a-z_0-9]+)`", " ".join(row[0] for row in rows)))
