"""The page of the Python package: signatures and docstrings, read from the sources."""
import ast
import inspect
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "python/kolmo"
SECTIONS = [  # heading, prefix, files; the public functions and classes of each
    ("Information flow", "kolmo", ["flow/estimate.py", "flow/network.py"]),
    ("Devices and benchmarks", "kolmo", ["_devices.py"]),
    ("Weights of other layouts", "kolmo", ["_weights.py"]),
    ("Trainings", "kolmo.predict", ["predict/watch.py", "predict/averages.py", "predict/decide.py", "predict/jumps.py", "predict/forecasting.py"]),
    ("Trainings with Lightning", "kolmo.predict.lightning", ["predict/lightning.py"]),
    ("Trainings with transformers", "kolmo.predict.transformers", ["predict/transformers.py"]),
    ("Trials of Optuna", "kolmo.predict.optuna", ["predict/optuna.py"]),
    ("Topology", "kolmo.topology", ["topology.py"]),
    ("Tuning", "kolmo.tuner", ["tuner.py"]),
    ("Monitoring", "kolmo.monitor", ["monitor.py"]),
]
PUBLIC = {"predict/averages.py": {"Averages"}, "predict/decide.py": {"Decision"}, "predict/forecasting.py": {"Forecast", "forecast"},
          "flow/estimate.py": {"Estimate"}, "flow/network.py": {"MultivariateNetwork", "TransferEntropyNetwork"}, "_devices.py": {"devices", "bench", "contiguous"},
          "_weights.py": {"gru_weights"}}
RENAMED = {"kolmo.tuner.tune_function": "kolmo.tune"}


def arguments(function: ast.FunctionDef) -> str:
    """The parameters without self and annotations."""
    a = function.args
    for parameter in [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]:
        parameter.annotation = None
    a.args = [p for p in a.args if p.arg not in ("self", "cls")]
    return f"({ast.unparse(a)})"


def entry(name: str, node: ast.AST) -> str:
    name = RENAMED.get(name, name)
    text = f"### {name}\n\n"
    methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)} if isinstance(node, ast.ClassDef) else {}
    signed = node if isinstance(node, ast.FunctionDef) else methods.get("__init__")
    shown = f"{name}{arguments(signed)}\n\n" if signed else ""
    text += f"```text\n{shown}{inspect.cleandoc(ast.get_docstring(node) or '')}\n```\n\n"
    for method in methods.values():
        if method.name[0] != "_" and ast.get_docstring(method):
            shown = arguments(method) if not method.decorator_list else ""
            summary = ast.get_docstring(method).split("\n\n")[0].replace("\n", " ")
            text += f"- `{method.name}{shown}`: {summary}\n"
    return text + "\n"


def page() -> str:
    text = ("# The Python package\n\nMade from the docstrings. The functions of analyses, `kolmo.mutual_information` and the others, and the "
            "options of a network are in [Analyses](reference/analyses.md). [Operators](reference/README.md) are functions of `kolmo.ops`, and of `kolmo` "
            "unless the name is taken: `kolmo.mutual_information` is the estimate, `kolmo.ops.mutual_information` that of a table of counts.\n\n")
    for heading, prefix, files in SECTIONS:
        text += f"## {heading}\n\n"
        for file in files:
            tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
            for node in tree.body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_" and node.name in PUBLIC.get(file, {node.name}):
                    text += entry(f"{prefix}.{node.name}", node)
    return text
