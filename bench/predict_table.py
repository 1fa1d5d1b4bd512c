"""The tables of docs/training.md, from the records of bench/predict_ladder.py, bench/predict_overhead.py and examples/byte_gpt.py, and those of
docs/forecasting.md, from the record of bench/predict_curves.py."""

TASKS = {"xor": "XOR", "mlp": "digits, MLP", "cnn": "digits, CNN"}
GPU_TASKS = {"cnn": "CNN on labelled pictures", "gpt": "GPT on bytes"}
CONTROL = "kolmo.predict, control=True"


def ratio(of: float | None, to: float | None) -> str:
    return "" if of is None or to is None else f"{of / to:.2f}"


def ladder(record: dict) -> str:
    """The bars in one table, and then all rows. In a record of a GPU the number of weights is told."""
    gpu, lines = "gpu" in record["machine"], []
    names = {name: f"{GPU_TASKS[name]}, {task['weights'] / 1e6:.1f} million weights" if gpu else TASKS[name] for name, task in record["tasks"].items()}
    lines += ["| `control=True` | time, times that of constant + average | times that of constant + average, evaluated | speed, times that of the best cosine "
              "without average | times that of the constant rate |", "|---|---|---|---|---|"]
    for name, task in record["tasks"].items():
        for label, found in task["tables"].items():
            seconds = {r["method"]: r["seconds"] for r in found["rows"]}
            cosines = [s for method, s in seconds.items() if method.startswith("cosine") and "average" not in method and s is not None]
            own = seconds[CONTROL]
            lines.append(f"| {names[name]}, target {label} | {ratio(own, seconds['constant + average'])} | {ratio(own, seconds.get('constant + average, evaluated'))} | "
                         f"{ratio(min(cosines, default=None), own)} | {ratio(seconds['constant'], own)} |")
    lines.append("")
    for name, task in record["tasks"].items():
        for label, found in task["tables"].items():
            lines += [f"**{names[name]}, target {label}: a validation loss of {found['target']:.4f}** ({record['seeds']} seeds, {task['steps']} steps at most)", "",
                      "| method | steps (95 %) | seconds | times the constant rate | reached |", "|---|---|---|---|---|"]
            for r in found["rows"]:
                low, high = ("never" if v is None else f"{v:.0f}" for v in r["steps_interval"])
                steps = "never" if r["steps"] is None else f"{r['steps']:.0f} ({low} to {high})"
                seconds = "" if r["seconds"] is None else f"{r['seconds']:.2f}"
                times = "" if r["times_constant"] is None else f"{r['times_constant']:.2f}"
                lines.append(f"| {r['method']} | {steps} | {seconds} | {times} | {r['reached']} of {r['seeds']} |")
            lines.append("")
    return "\n".join(lines)


def overhead(record: dict) -> str:
    lines = ["| weights | averages | a step of the watch | share of a step of 3 ms |", "|---|---|---|---|"]
    lines += [f"| {r['weights']} | {r['averages']} | {1e6 * r['seconds']:.1f} us | {100 * r['share_of_3_ms']:.2f} % |" for r in record["watch"]]
    lines += ["", "| a forecast of 200 steps after | takes |", "|---|---|"]
    lines += [f"| {r['steps']} steps | {1e3 * r['seconds']:.1f} ms |" for r in record["forecasts"]]
    ways = [key for key in record["averages"][0] if key not in ("weights", "averages")]
    lines += ["", f"| weights | averages | {' | '.join(ways)} |", "|---|---|" + "---|" * len(ways)]
    lines += [f"| {r['weights']} | {r['averages']} | " + " | ".join(f"{1e6 * r[w]:.0f} us" for w in ways) + " |" for r in record["averages"]]
    return "\n".join(lines) + "\n"


def gpt(record: dict) -> str:
    r = record["found"]
    after = r["steps"] + r["decay"]
    rows = [("training loss, 50 steps", r["training_before"], r["training_after"]), ("validation", r["before"], r["after"]),
            ("validation of the average", r["average"], r["average_after"])]
    lines = [f"| | after {r['steps']} steps | after {after} steps, {r['decay']} of them decay |", "|---|---|---|"]
    lines += [f"| {name} | {a:.3f} | {b:.3f} |" for name, a, b in rows]
    lines += [f"| forecast of the training loss, made after {r['steps']} steps, by `{r['driver']}` | | {r['forecast']:.3f} ({r['low']:.3f} to {r['high']:.3f}) |",
              f"| the same without a decay | | {r['forecast_without_decay']:.3f} |"]
    return "\n".join(lines) + "\n"


def gpt2(record: dict) -> str:
    r = record["found"]
    steps = r["steps"]
    lines = ["| | |", "|---|---|", f"| weights | {r['weights']:,} |", f"| a step | {1e3 * r['step_seconds']:.1f} ms |",
             f"| share of the wall time that the watch took, forecasts included | {100 * r['overhead']:.2f} % |",
             "| time with the watch over time without, pairs of 20 steps | " + ", ".join(f"{v:.4f}" for v in r["watched_over_bare"]) + " |",
             f"| memory of weights, AdamW and one average, estimated | {r['state_bytes_estimated'] / 1e9:.2f} GB |",
             f"| the same and the text, measured | {r['state_bytes'] / 1e9:.2f} GB |", f"| most memory in a step, measured | {r['most_bytes'] / 1e9:.1f} GB |",
             f"| a forecast | {1e3 * r['forecast_seconds']:.0f} ms |"]
    lines += [f"| {h} steps ahead: inside the 90 % interval, median error | {round(c['covered'] * c['forecasts'])} of {c['forecasts']}, {100 * c['median_error']:.1f} % |"
              for h, c in r["coverage"].items()]
    lines += [f"| decision at step {steps} with a budget of {steps + 2 * r['decay']} | {r['decision']['action']}: {r['decision']['reason']} |",
              f"| loss before, 50 steps | {r['before']:.3f} |",
              f"| forecast of the end of a decay over {r['decay']} steps, by `{r['driver']}` | {r['forecast']:.3f} ({r['low']:.3f} to {r['high']:.3f}) |",
              f"| its last 10 steps | {r['after']:.3f} |", f"| error, and that of a forecast that does not know of the decay | {r['error']:.3f}, {r['blind_error']:.3f} |"]
    return "\n".join(lines) + "\n"


H200 = {"const": "constant", "const+ema": "constant + average", "cosine(T)": "cosine, tuned", "cosine(T)+ema": "cosine, tuned + average",
        "decay oracle": "best decay known afterwards", "schedule-free": "schedule-free", "plateau-triggered decay": "plateau",
        "forecast: EMA or decay, margin": "a forecast chooses average or decay", "ema+gated jumps": "constant + average + jumps behind a gate"}


def h200(record: dict) -> str:
    """Times the speed of the tuned constant rate, to what that reaches at best."""
    tasks = record["tasks"]
    lines = ["| method | " + " | ".join(f"{name.upper()}, {task['weights'] / 1e6:.1f} million weights" for name, task in tasks.items()) + " |",
             "|---|" + "---|" * len(tasks)]
    for name, shown in H200.items():
        cells = []
        for task in tasks.values():
            rows = {r["method"]: r["seconds"] for r in task["tables"]["A"]["rows"]}
            cells.append("never" if rows[name] is None else f"{rows['const'] / rows[name]:.2f}")
        lines.append(f"| {shown} | {' | '.join(cells)} |")
    lines.append("| jumps tried, accepted | " + " | ".join(f"{t['jumps_tried']}, {t['jumps_accepted']}" for t in tasks.values()) + " |")
    return "\n".join(lines) + "\n"


def curves(record: dict) -> str:
    """Of trainings that were held out: CRPS of log loss, 90 % coverage, and the rank correlation with the final loss after 20 % of each; and
    the errors of the ends of decays."""
    lines = []
    for found in record["results"]:
        test = found["backtest"]
        held = "every third run of a sweep and one seed" if found["held_out"] == "runs" else f"all runs of {found['held_out'].replace('_', ' ')}"
        ranks = {r["forecaster"]: r["spearman"] for r in test["ranks"]}
        rows: dict[str, list] = {}
        for r in test["rows"]:
            rows.setdefault(r["forecaster"], []).append(r)
        lines += [f"**Held out: {held}** ({found['tested_on']} runs, {test['origins']} forecasts; {found['trained_on']} runs in the store, which took "
                  f"{found['train_store_cpu_seconds']:.0f} s of a core)", "",
                  "| forecaster | CRPS x1000 at 10, 50, 100 steps | coverage | rank correlation |", "|---|---|---|---|"]
        for name, r in rows.items():
            rank = f"{ranks[name]:.2f}" if name in ranks else ""
            crps, coverage = ", ".join(f"{1000 * x['crps']:.1f}" for x in r), ", ".join(f"{x['coverage']:.2f}" for x in r)
            shown = "the one that drove" if name == "driver" else f"`{name}`"
            lines.append(f"| {shown} | {crps} | {coverage} | {rank} |")
        lines += [f"| {shown} | | | {ranks[name]:.2f} |" for name, shown in (("current_average", "the average of the last 10 blocks"),
                                                                              ("current_loss", "the loss of the last block"))]
        lines.append("")
    decays = [row for found in record["results"] if found["held_out"] == "runs" for row in found["decays"]]
    lines += ["| mean error of the loss at the end of a decay, forecast when it begins | by one that does not know of it | without a store | with a store | noise of the 30 losses at the end, alone |",
              "|---|---|---|---|---|"]
    lines += [f"| {r['task'].upper()}, {r['decays']} decays | {r['blind']:.3f} | {r['no_store']:.3f} | {r['store']:.3f} | {r['noise']:.3f} |" for r in decays]
    return "\n".join(lines) + "\n"
