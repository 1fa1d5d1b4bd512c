"""The tables of docs/forecasting.md on what one change does to the world model, from the record of bench/ablation_score.py."""

SHOWN = {"as_built": "as it is built", "gaussian": "Gaussian latent, sampled and fed back", "gaussian_48": "the same with all 48 units",
         "categorical": "categorical latent, sampled and fed back", "features_added": "features of the state added", "features_instead": "features of the state instead",
         "relative_level": "loss relative to its first blocks, peak rate left out", "moved_level": "level and peak rate moved at random in training",
         "ahead_20": "20 blocks of closed loop in training", "ahead_both": "five networks with 10 blocks of it and five with 20", "ten_members": "ten networks as built",
         "learned_mixture": "mixture with a simple forecaster, learned"}
ATTEMPTS = ("as_built", "relative_level", "moved_level", "ahead_20", "ahead_both", "ten_members", "learned_mixture")


def crps(row: dict) -> str:
    return ", ".join(f"{1e3 * v:.1f}" for v in row["crps"])


def less(row: dict, i: int) -> str:
    if "interval" not in row:
        return ""
    low, high = row["interval"][i]
    return f"{1e3 * row['less_as_built'][i]:+.1f} ({1e3 * low:+.1f} to {1e3 * high:+.1f})"


def ablation(record: dict) -> str:
    lines = []
    for fold, found in record["results"].items():
        if fold.startswith("inner"):
            continue
        held = "every third run of a sweep and one seed" if fold == "runs" else f"all runs of {fold.replace('_', ' ')}"
        lines += [f"**Held out: {held}** ({found['runs']} runs)", "", "| world model | parameters of a network | CRPS x1000 at 10, 50, 100 steps | coverage | more at 50 steps | more at 100 steps |",
                  "|---|---|---|---|---|---|"]
        for name, shown in SHOWN.items():
            if row := found["rows"].get(name):
                lines.append(f"| {shown} | {record['variants'].get(name, {}).get('parameters', '')} | {crps(row)} | {', '.join(f'{v:.2f}' for v in row['coverage'])} | {less(row, 1)} | {less(row, 2)} |")
        lines.append("")
    inner = {fold: found for fold, found in record["results"].items() if fold.startswith("inner")}
    if inner:
        lines += ["| CRPS x1000 at 100 steps, held out | " + " | ".join(f.removeprefix("inner ").replace("_", " ") for f in inner) + " |", "|---|" + "---|" * len(inner)]
        lines += [f"| {SHOWN[name]} | " + " | ".join(f"{1e3 * found['rows'][name]['crps'][2]:.1f}" for found in inner.values()) + " |"
                  for name in ATTEMPTS if all(name in found["rows"] for found in inner.values())]
        best = [min((v["crps"][2], k) for k, v in found["rows"].items() if k not in SHOWN) for found in inner.values()]
        lines.append("| the best simple forecaster | " + " | ".join(f"{1e3 * v:.1f} (`{k}`)" for v, k in best) + " |")
    return "\n".join(lines) + "\n"
