"""The table of docs/benchmarks.md of operators beside PyTorch's on a CPU (bench/cpu_pytorch.py), slowest first."""
from statistics import median, quantiles

from beside_pytorch import shown


def table(record: dict) -> str:
    lines = ["| case | Kolmo | PyTorch | PyTorch / Kolmo |", "|---|---|---|---|"]
    for r in sorted(record["results"], key=lambda r: r["ratio"]):
        low, _, high = quantiles((t / k for k, t in zip(r["kolmo_us"], r["pytorch_us"], strict=True)), n=4)
        lines.append(f"| {r['case']} | {shown(median(r['kolmo_us']))} | {shown(median(r['pytorch_us']))} "
                     f"| {r['ratio']:.2f} ({low:.2f} to {high:.2f}) |")
    return "\n".join([*lines, f"| median of {len(record['results'])} cases | | | {record['median_ratio']:.2f} |"]) + "\n"
