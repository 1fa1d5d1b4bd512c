"""Pages of the site that stand outside docs/: CONTRIBUTING.md, the Python package, the C++ examples and the notebooks, and
the links to them."""
import json
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import site_api  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
NO_SEARCH = "---\nsearch:\n  exclude: true\n---\n"


def program(path: Path) -> str:
    return f"{NO_SEARCH}# {path.name}\n\n```cpp\n{path.read_text(encoding='utf-8')}```\n"


def notebook(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    return "\n\n".join(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text
                       for cell, text in zip(cells, texts, strict=True)) + "\n"


def index(paths) -> str:
    rows = "".join(f"- [{path.name}]({path.stem}.md)\n" for path in paths)
    return f"{NO_SEARCH}# Examples\n\nNotebooks and C++ programs, which the tests run.\n\n{rows}"


def on_files(files, config):
    programs = sorted((ROOT / "examples").glob("*.cpp"))
    notebooks = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
    pages = {"contributing.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python.md": site_api.page(),
             "examples/README.md": index(notebooks + programs)}
    pages |= {f"examples/{path.stem}.md": program(path) for path in programs}
    pages |= {f"examples/{path.stem}.md": notebook(path) for path in notebooks}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, **_):
    up = "../" * page.file.src_uri.count("/")
    if page.file.src_uri == "contributing.md":  # its links start at the root of the tree
        markdown = markdown.replace("](docs/", "](")
    markdown = re.sub(r"\]\((?:\.\./)+CONTRIBUTING\.md", f"]({up}contributing.md", markdown)
    markdown = re.sub(r"\]\((?:\.\./)+examples/(?:notebooks/)?(\w+)\.(?:cpp|ipynb)\)", rf"]({up}examples/\1.md)", markdown)
    return re.sub(r"\]\((?:\.\./)+examples(?:/notebooks)?/?\)", f"]({up}examples/README.md)", markdown)
