#!/usr/bin/env python3
"""The time to a fixed validation loss of kolmo.predict with control=True beside its rivals: on XOR and on scikit-learn's digits with one
thread of a CPU, and on a GPU with a CNN on pictures that a network labelled and a GPT on the bytes of Python sources.

  bench/predict_ladder.py [--tasks xor,mlp,cnn] [--seeds 5] [--json FILE]     needs PyTorch, scikit-learn and, for its row, schedulefree
  bench/predict_ladder.py --device cuda [--tasks cnn,gpt] [--seeds 3] [--seconds 200,420] [--json FILE]

Rivals, each with the rate that was best for it on a seed of its own: AdamW at a constant rate, with a cosine over all steps and over the
best of three horizons, with warm-up, stable and decay (a fifth of the steps), a scheduler that reacts to plateaus, all with and without the
power average of weights, the best single decay known afterwards (of four), and schedule-free AdamW. A target is a validation loss: A is the worst
of what the constant rate reaches at best in each seed, B the same of the cosine that ends at 0.8 of the steps. A row has the steps to the target, by
linear interpolation between validations, and seconds: of CPU time on one thread, which other work on the machine changes less than the
wall time, or of wall time with a GPU. They are steps times the median time of a bare step of the row (with the watch where averages are
carried). Validations are in no row, except those by which a row itself notices the target: of control=True the whole run is timed, with
evaluations, forecasts, snapshots and all steps that were rolled back, and of "constant + average, evaluated" the whole run with an evaluation
of the average as often as control=True may evaluate. On a GPU the number of steps follows from --seconds for each task, and rates are
chosen by trainings of 0.4 of the steps."""
import argparse
import functools
import json
import math
import statistics
import time

import torch
from predict_facts import facts
from predict_gpu_tasks import Bytes, Labelled
from predict_tasks import Digits, Xor, constant, cosine, decay_at, stable_decay

from kolmo.predict import Watch

STARTS, LENGTHS, HORIZONS = (0.35, 0.65), (0.12, 0.35), (0.5, 0.8, 1.0)
SETTINGS = {"xor": (300, [3e-3, 1e-2, 3e-2]), "mlp": (800, [3e-3, 9e-3, 2.7e-2]), "cnn": (400, [1e-3, 3e-3, 9e-3])}
GPU_SETTINGS = {"cnn": (4000, [5e-4, 1e-3, 2e-3]), "gpt": (2400, [5e-4, 1e-3, 2e-3])}  # steps at most
TRAININGS, PILOT = 56, 0.4  # how many times the steps all trainings of 3 seeds have together, about; and the share of a pilot
WARMUP = 60  # steps before the first evaluation of a row that evaluates


def optimizer_of(model, rate, free=False, warm=0):
    if free:
        import schedulefree
        return schedulefree.AdamWScheduleFree(model.parameters(), rate, weight_decay=0.05, warmup_steps=warm)
    fused = True if next(model.parameters()).is_cuda else None
    return torch.optim.AdamW(model.parameters(), rate, betas=(0.9, 0.95), weight_decay=0.05, fused=fused)


def interval_of_evaluations(steps):
    return max(20, steps // 60)


class Run:
    """A training of `steps` steps: validations (step, loss, loss of the average) every `every` steps."""

    def __init__(self, task, seed, rate, steps, factor, *, average=True, plateau=False, free=False, total=None):
        model = task.model(seed)
        warm, every = max(5, steps // 40), max(2, steps // 100)
        optimizer = optimizer_of(model, rate, free, warm)
        watch = Watch(optimizer, warmup=10 ** 9) if average else None
        reacting = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=10, threshold=0.005) if plateau else None
        gradients = task.gradients(model, seed)
        self.rows = []
        for step in range(steps):
            if not free and not plateau:
                optimizer.param_groups[0]["lr"] = rate * factor(step, total or steps, warm)
            if free:
                optimizer.train()
            loss = gradients(step)
            optimizer.step()
            if watch is not None:
                watch.step(loss)
            if (step + 1) % every == 0 or step + 1 == steps:
                if free:
                    optimizer.eval()
                here = there = task.validation(model)
                if watch is not None:
                    with watch.averaged():
                        there = task.validation(model)
                self.rows.append((step + 1, here, there))
                if reacting is not None:
                    reacting.step(here)

    def best(self, column=1):
        return min(row[column] for row in self.rows)

    def reaches(self, target, column=1):
        before = None
        for row in self.rows:
            if row[column] <= target:
                if before is None:
                    return float(row[0])
                return before[0] + (row[0] - before[0]) * (before[column] - target) / max(before[column] - row[column], 1e-12)
            before = row
        return math.inf


def seconds_a_step(task, rate, kinds, count=100, rounds=7):
    """Medians of bare steps, kinds taking turns."""
    times = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            model = task.model(0)
            optimizer = optimizer_of(model, rate, kind == "schedule-free")
            if kind == "schedule-free":
                optimizer.train()
            watch, gradients = Watch(optimizer, warmup=10 ** 9) if kind == "average" else None, task.gradients(model, 0)
            for step in range(-10, count):  # the first ten are not timed
                if step == 0:
                    task.wait()
                    started = task.clock()
                loss = gradients(max(0, step))
                optimizer.step()
                if watch is not None:
                    watch.step(loss)
            task.wait()
            times[kind].append((task.clock() - started) / count)
    return {kind: statistics.median(t) for kind, t in times.items()}


def evaluated(task, seed, rate, steps, target):
    """Steps and seconds until an evaluation of the average finds the target reached, infinite otherwise."""
    model = task.model(seed)
    optimizer = optimizer_of(model, rate)
    warm, every, gradients = max(5, steps // 40), interval_of_evaluations(steps), task.gradients(model, seed)
    watch = Watch(optimizer, warmup=10 ** 9)
    task.wait()
    started = task.clock()
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * constant(step, steps, warm)
        loss = gradients(step)
        optimizer.step()
        watch.step(loss)
        if step + 1 >= WARMUP and (step + 1) % every == 0:
            with watch.averaged():
                reached = task.validation(model) <= target
            if reached:
                return step + 1, task.clock() - started
    return math.inf, math.inf


def controlled(task, seed, rate, steps, target, overhead):
    """Steps and seconds until the watch is done with the target reached, infinite otherwise; and what it decided."""
    model = task.model(seed)
    optimizer = optimizer_of(model, rate)
    warm, place, evaluated_at, gradients = max(5, steps // 40), Place(), [], task.gradients(model, seed)

    def evaluate():
        evaluated_at.append(watch.steps)
        return task.validation(model)

    watch = Watch(optimizer, target=target, budget=steps, control=True, evaluate=evaluate, every=interval_of_evaluations(steps), warmup=WARMUP,
                  data=place, overhead=overhead)
    task.wait()
    started = task.clock()
    while not watch.done and watch.charged < steps:
        optimizer.param_groups[0]["lr"] = rate * constant(watch.steps, steps, warm)
        loss = gradients(place.step)
        place.step += 1
        optimizer.step()
        watch.step(loss)
    task.wait()
    seconds = task.clock() - started
    reached = any(d.reason == "the target is reached" for d in watch.decisions)
    decays = [{"step": d.step, "length": d.length, "forecast": d.forecast, "measured": d.outcome.get("measured"),
               "rolled_back": d.outcome.get("rolled_back")} for d in watch.decisions if d.action == "start decay"]
    return {"steps": watch.charged if reached else math.inf, "seconds": seconds if reached else math.inf, "decays": decays,
            "final": watch.decisions[-1].action if watch.decisions else None, "validation": task.validation(model), "charges": watch.seconds,
            "evaluated_at": sorted(set(evaluated_at))}


class Place:
    step = 0

    def state_dict(self):
        return {"step": self.step}

    def load_state_dict(self, state):
        self.step = state["step"]


def interval(values, draws=2000):
    """The 95 % bootstrap interval of the median."""
    g = torch.Generator().manual_seed(0)
    v = torch.tensor(values, dtype=torch.float64)
    medians = v[torch.randint(len(v), (draws, len(v)), generator=g)].sort(1).values[:, (len(v) - 1) // 2].sort().values
    return [float(medians[int(0.025 * draws)]), float(medians[int(0.975 * draws)])]


def row(method, steps, seconds, **more):
    return {"method": method, "steps": statistics.median(steps), "seconds": statistics.median(seconds), "steps_interval": interval(steps),
            "seconds_interval": interval(seconds), "reached": sum(map(math.isfinite, steps)), "seeds": len(steps), "all_steps": list(steps), **more}


def task_of(name, given):
    """The task, its steps, the rates to choose from, and the steps of the trainings that choose them."""
    if given.device == "cpu":
        steps, rates = SETTINGS[name]
        return Xor() if name == "xor" else Digits(name), given.steps or steps, rates, given.steps or steps
    most, rates = GPU_SETTINGS[name]
    task = {"cnn": Labelled, "gpt": Bytes}[name]("cpu" if given.small else "cuda", most, given.small)
    seconds = dict(zip(given.tasks.split(","), map(float, given.seconds.split(",")), strict=True))[name]
    each = seconds_a_step(task, rates[0], ["average"], 30, 2)["average"]
    steps = given.steps or max(200, min(most, int(seconds / (TRAININGS * 1.1 * each)) // 20 * 20))
    print(f"{name}: {weights_of(task):,} weights, {1e3 * each:.2f} ms a step, {steps} steps", flush=True)
    return task, steps, rates, int(PILOT * steps)


def weights_of(task):
    return sum(p.numel() for p in task.model(0).parameters())


def ladder(name, seeds, given, keep):
    began = time.perf_counter()
    task, steps, rates, short = task_of(name, given)
    pilot = {rate: {"constant": (run := Run(task, 100, rate, short, constant)).best(), "constant + average": run.best(2),
                    "cosine": Run(task, 100, rate, short, cosine).best(), "decay": Run(task, 100, rate, short, stable_decay(0.2)).best()} for rate in rates}
    rate = {kind: min(rates, key=lambda r, kind=kind: pilot[r][kind]) for kind in next(iter(pilot.values()))}
    kinds, free_rate = ["plain", "average"], None
    try:
        free_rate = min((2 * r for r in rates), key=lambda r: Run(task, 100, r, short, constant, free=True, average=False).best())
        kinds.append("schedule-free")
    except ImportError:
        print("schedulefree is not installed: its row is left out")
    each = seconds_a_step(task, rate["constant"], kinds)
    print(f"{name}: best rates {rate}, schedule-free {free_rate}; seconds a step {each}", flush=True)
    runs = []
    for seed in range(seeds):
        by_rate = {r: Run(task, seed, r, steps, constant) for r in {rate["constant"], rate["constant + average"]}}
        r = {"constant": by_rate[rate["constant"]], "free average": by_rate[rate["constant + average"]],
             "cosine": {h: Run(task, seed, rate["cosine"], int(h * steps), cosine) for h in HORIZONS},
             "wsd": Run(task, seed, rate["decay"], steps, stable_decay(0.2)),
             "plateau": Run(task, seed, rate["constant"], steps, constant, plateau=True),
             "branches": {(s, f): Run(task, seed, rate["decay"], int(s * steps * (1 + f)), decay_at(int(s * steps), int(s * f * steps)), total=steps)
                          for s in STARTS for f in LENGTHS},
             "free": Run(task, seed, free_rate, steps, constant, free=True, average=False) if free_rate else None}
        runs.append(r)
        print(f"{time.perf_counter() - began:.0f} s, {name}, seed {seed}: constant {r['constant'].best():.4f}, average {r['free average'].best(2):.4f}, cosine "
              f"{r['cosine'][1.0].best():.4f}, decay {r['wsd'].best():.4f}", flush=True)
    targets = {"A": max(r["constant"].best() for r in runs), "B": max(r["cosine"][0.8].best() for r in runs)}
    tables = {}
    found = {"steps": steps, "interval_of_evaluations": interval_of_evaluations(steps), "weights": weights_of(task), "rates": rate,
             "schedule_free_rate": free_rate, "seconds_a_step": each, "pilot": {str(k): v for k, v in pilot.items()}, "tables": tables}
    controlled(task, 0, rate["constant"], 2 * WARMUP, 0.0, None)  # what only a first call takes is in no row
    for label, target in targets.items():
        rows = []

        def add(method, found, kind, **more):
            rows.append(row(method, found, [s * each[kind] for s in found], **more))

        add("constant", [r["constant"].reaches(target) for r in runs], "plain")
        add("constant + average", [r["free average"].reaches(target, 2) for r in runs], "average")
        for column, mark, kind in ((1, "", "plain"), (2, " + average", "average")):
            add("cosine over all steps" + mark, [r["cosine"][1.0].reaches(target, column) for r in runs], kind)
            horizon = min(HORIZONS, key=lambda h, column=column: statistics.median(r["cosine"][h].reaches(target, column) for r in runs))
            add("cosine, horizon chosen afterwards" + mark, [r["cosine"][horizon].reaches(target, column) for r in runs], kind, horizon=horizon)
            add("warm-up, stable, decay" + mark, [r["wsd"].reaches(target, column) for r in runs], kind)
            add("plateau" + mark, [r["plateau"].reaches(target, column) for r in runs], kind)
            add("best decay known afterwards" + mark, [min(b.reaches(target, column) for b in r["branches"].values()) for r in runs], kind)
        if free_rate:
            add("schedule-free", [r["free"].reaches(target) for r in runs], "schedule-free")
        noticed = [evaluated(task, seed, rate["constant + average"], steps, target) for seed in range(seeds)]
        rows.append(row("constant + average, evaluated", [n for n, _ in noticed], [s for _, s in noticed]))
        for method, overhead in (("kolmo.predict, control=True", 0.005), ("kolmo.predict, control=True, overhead=None", None)):
            watched = [controlled(task, seed, rate["constant + average"], steps, target, overhead) for seed in range(seeds)]
            rows.append(row(method, [w["steps"] for w in watched], [w["seconds"] for w in watched], runs=watched))
        rows.sort(key=lambda r: (-r["reached"], r["seconds"]))
        print(f"{time.perf_counter() - began:.0f} s", flush=True)
        base = next(r for r in rows if r["method"] == "constant")["seconds"]
        for r in rows:
            r["times_constant"] = base / r["seconds"] if math.isfinite(r["seconds"]) and math.isfinite(base) else None
            print(f"  {label} {target:.4f}  {r['method']:<46}{r['steps']:8.0f} steps {r['seconds']:8.3f} s  x {r['times_constant'] or 0:.2f}  {r['reached']}/{r['seeds']}")
        tables[label] = {"target": target, "rows": rows}
        keep(found)


def plain(value):
    """Infinities as null, which JSON has."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--tasks", help="by default xor,mlp,cnn, and with a GPU cnn,gpt")
    parser.add_argument("--seeds", type=int, help="by default 5, and with a GPU 3")
    parser.add_argument("--seconds", default="200,420", help="with a GPU, for each task")
    parser.add_argument("--small", action="store_true", help="the tasks of a GPU made small and on the CPU, to try them")
    parser.add_argument("--steps", type=int, help="fewer steps, to try it")
    parser.add_argument("--json")
    given = parser.parse_args()
    gpu = given.device == "cuda"
    given.tasks, given.seeds = given.tasks or ("cnn,gpt" if gpu else "xor,mlp,cnn"), given.seeds or (3 if gpu else 5)
    torch.set_num_threads(1)
    result = {"kind": "predict-ladder", **facts(), "threads": 1, "seeds": given.seeds, "tasks": {}}
    if gpu and not given.small:
        result["machine"]["gpu"] = torch.cuda.get_device_name()

    def keep(name, found):
        result["tasks"][name] = found
        if given.json:
            with open(given.json, "w", encoding="utf-8") as out:
                out.write(json.dumps(plain(result), indent=1) + "\n")

    for name in given.tasks.split(","):
        ladder(name, given.seeds, given, functools.partial(keep, name))


if __name__ == "__main__":
    main()
