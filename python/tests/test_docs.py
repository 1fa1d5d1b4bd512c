"""The Python blocks of the documentation run, print what they say, and draw the pictures beside them."""
import pytest
from blocks import PICTURES, ROOT, blocks, draw_alike, expected, words_of

PAGES = ["../README.md", "index.md", "guide.md", "choosing.md", "reading_results.md", "gpu.md", "operators.md"]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_what_they_say(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
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
