"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const known = (value) => typeof value === "number" && Number.isFinite(value);

  // Numbers for people.
  const digits = (value, n = 3) => (value === 0 ? "0" : Math.abs(value) >= 10 ** n ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(n))));
  const scaled = (value, steps) => {
    const [unit, size] = steps.find(([, size]) => Math.abs(value) >= size) || steps[steps.length - 1];
    return digits(value / size) + unit;
  };
  const show = {
    percent: (value) => digits(100 * value) + " %",
    bytes: (value) => scaled(value, [[" TiB", 2 ** 40], [" GiB", 2 ** 30], [" MiB", 2 ** 20], [" KiB", 2 ** 10], [" B", 1]]),
    seconds: (value) => scaled(value, [[" s", 1], [" ms", 1e-3], [" µs", 1e-6], [" ns", 1e-9]]),
    rate: (value) => scaled(value, [[" M/s", 1e6], [" k/s", 1e3], [" /s", 1]]),
    count: (value) => digits(value),
    watts: (value) => digits(value) + " W",
    celsius: (value) => digits(value) + " °C",
    hertz: (value) => scaled(value, [[" GHz", 1e9], [" MHz", 1e6], [" Hz", 1]]),
  };
  const text = (kind, value) => (known(value) ? show[kind](value) : "–");

  const element = (name, attributes = {}, content = "") => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...[content].flat());
    return made;
  };
  const drawn = (name, attributes, content = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = content;
    return made;
  };

  // Charts. A series is named as Prometheus names it: name{label="value",...}.
  const labels = (series) => Object.fromEntries([...series.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((m) => [m[1], m[2]]));
  const family = (series) => series.split("{")[0];
  const deviceOf = (name) => (/^cuda:/.test(name ?? "") ? name.slice(5) : "cpu");
  const charts = [
    { title: "Busy", kind: "percent", top: 1, picks: {
      kolmo_cpu_busy_ratio: (l) => (l.scope === "process" ? "this process" : "processor"),
      kolmo_gpu_busy_ratio: (l) => `GPU ${l.gpu}`,
      kolmo_gpu_sm_active_ratio: (l) => `GPU ${l.gpu} multiprocessors` } },
    { title: "Memory", kind: "bytes", picks: {
      kolmo_cpu_memory_used_bytes: (l) => (l.scope === "process" ? "this process" : null),
      kolmo_gpu_memory_used_bytes: (l) => `GPU ${l.gpu}`,
      kolmo_pool_used_bytes: (l) => `pool ${l.pool}` } },
    { title: "Operators, share of time", kind: "percent", picks: { kolmo_kernel_busy_seconds_total: (l) => `${l.kernel} (${l.device})` } },
    { title: "Launches", kind: "rate", picks: { kolmo_kernel_launches_total: (l) => `${l.kernel} (${l.device})` } },
    { title: "Power", kind: "watts", optional: true, picks: { kolmo_gpu_power_watts: (l) => `GPU ${l.gpu}` } },
  ];
  const of = { 0.05: ", 5 %", 0.5: " forecast", 0.95: ", 95 %" };
  charts.push({ title: "Loss", kind: "count", optional: true, picks: {
    kolmo_training_loss: (l) => l.run,
    kolmo_training_forecast_loss: (l) => l.run + of[l.quantile] } });
  const most = 6;

  // The view is a range of time and a device: "" for all, "cpu", or the number of a GPU. A range has its label, its length and the
  // distance of its marks, both in seconds.
  const ranges = [["1 min", 60, 15], ["5 min", 300, 60], ["15 min", 900, 180], ["1 h", 3600, 900]];
  const view = { range: ranges[1], device: "" };
  const shows = (device) => view.device === "" || view.device === device;
  const ago = (seconds) => (seconds === 0 ? "now" : seconds % 60 ? `−${seconds} s` : `−${seconds / 60} min`);
  let shown;  // the last snapshot
  for (const range of ranges) {
    const button = element("button", { type: "button" }, range[0]);
    button.addEventListener("click", () => { view.range = range; if (shown) update(shown); });
    by("ranges").append(button);
  }
  by("device").addEventListener("change", (event) => { view.device = event.target.value; if (shown) update(shown); });
  const offer = (s) => {
    [...by("ranges").children].forEach((button, i) => button.setAttribute("aria-pressed", ranges[i] === view.range));
    const choices = [["", "all"], ["cpu", "processor"], ...s.gpu.map((g) => [g.gpu, `GPU ${g.gpu}`])];
    if (by("device").length === choices.length) return;
    by("device").replaceChildren(...choices.map(([value, name]) => element("option", { value }, name)));
    by("device").value = view.device;
  };

  // The process keeps five minutes; this page keeps an hour of what it saw.
  const kept = { pid: 0, seconds: [], series: new Map() };
  const keep = (s) => {
    if (kept.pid !== s.pid) Object.assign(kept, { pid: s.pid, seconds: [], series: new Map() });
    const { seconds, series } = s.curves, last = kept.seconds[kept.seconds.length - 1] ?? -Infinity;
    const from = seconds.findIndex((t) => t > last);
    if (from < 0) return;
    const had = kept.seconds.length;
    kept.seconds.push(...seconds.slice(from));
    for (const name of new Set([...kept.series.keys(), ...Object.keys(series)])) {
      if (!kept.series.has(name)) kept.series.set(name, new Array(had).fill(null));
      kept.series.get(name).push(...(series[name]?.slice(from) ?? new Array(seconds.length - from).fill(null)));
    }
    const newest = kept.seconds[kept.seconds.length - 1], old = kept.seconds.findIndex((t) => newest - t <= 3600);
    if (old > 0) for (const values of [kept.seconds, ...kept.series.values()]) values.splice(0, old);
  };
  /** The curves of the range, in at most 600 points of which each is the largest of its neighbours. */
  const recent = () => {
    const times = kept.seconds, last = times[times.length - 1] ?? 0, first = times.findIndex((t) => last - t <= view.range[1]);
    const stride = Math.max(1, Math.ceil((times.length - first) / 600));
    const starts = times.map((_, i) => i).filter((i) => i >= first && (times.length - 1 - i) % stride === 0);
    const thin = (values) => starts.map((i) => {
      const near = values.slice(Math.max(first, i - stride + 1), i + 1).filter(known);
      return near.length ? Math.max(...near) : null;
    });
    return { seconds: starts.map((i) => times[i]), series: Object.fromEntries([...kept.series].map(([name, values]) => [name, thin(values)])) };
  };
  const latest = (values) => values.findLast(known) ?? 0;

  for (const chart of charts) {
    chart.svg = drawn("svg", { role: "img", "aria-label": chart.title });
    chart.legend = element("div", { class: "legend" });
    by("charts").append(element("figure", {}, [element("figcaption", {}, chart.title), chart.legend, chart.svg]));
    chart.svg.addEventListener("pointermove", (event) => hover(chart, event));
    chart.svg.addEventListener("pointerleave", () => { by("tip").hidden = true; chart.svg.querySelector(".cursor")?.remove(); });
  }

  const steps = (high, kind) => {
    const base = kind === "bytes" ? 2 : 10, nice = kind === "bytes" ? [1, 2] : [1, 2, 5, 10];
    const unit = base ** Math.floor(Math.log(high / 3) / Math.log(base));
    return unit * (nice.find((n) => high / (n * unit) <= 4) ?? nice[nice.length - 1]);
  };

  const draw = (chart, curves) => {
    const times = curves.seconds;
    chart.lines = Object.entries(curves.series)
      .map(([series, values]) => ({ name: chart.picks[family(series)]?.(labels(series)), values, on: labels(series) }))
      .filter((line) => line.name && line.values.some(known) && shows(line.on.gpu ?? deviceOf(line.on.device ?? line.on.pool)))
      .sort((a, b) => latest(b.values) - latest(a.values))
      .slice(0, most);
    chart.times = times;
    chart.svg.parentNode.hidden = chart.optional && !chart.lines.length;
    const { width, height } = chart.svg.getBoundingClientRect();
    const frame = { left: 62, right: width - 6, top: 10, bottom: height - 22 };
    const last = times[times.length - 1] ?? 0;
    const high = Math.max(chart.top ?? 0, ...chart.lines.flatMap((line) => line.values.filter(known)), 1e-9);
    const step = steps(high, chart.kind), top = Math.ceil(high / step - 1e-9) * step;
    chart.x = (t) => frame.right - (last - t) / view.range[1] * (frame.right - frame.left);
    const y = (v) => frame.bottom - v / top * (frame.bottom - frame.top);
    const parts = [];
    for (let v = 0; v <= top * 1.0001; v += step)
      parts.push(drawn("path", { class: v ? "grid" : "rule", d: `M${frame.left} ${y(v)}H${frame.right}` }),
        drawn("text", { x: frame.left - 8, y: y(v) + 4, "text-anchor": "end" }, text(chart.kind, v)));
    const [, whole, mark] = view.range;
    for (let at = 0; at <= whole; at += mark)
      parts.push(drawn("text", { x: chart.x(last - at), y: height - 5, "text-anchor": at === 0 ? "end" : at === whole ? "start" : "middle" }, ago(at)));
    chart.lines.forEach((line, i) => {
      let path = "", open = false;
      line.values.forEach((value, at) => {
        if (known(value)) path += `${open ? "L" : "M"}${chart.x(times[at]).toFixed(1)} ${y(value).toFixed(1)}`;
        open = known(value);
      });
      parts.push(drawn("path", { class: "curve", d: path, style: `stroke: var(--c${i})` }));
    });
    chart.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    chart.svg.replaceChildren(...parts);
    chart.legend.replaceChildren(...chart.lines.map((line, i) =>
      element("span", {}, [element("i", { style: `background: var(--c${i})` }), `${line.name} ${text(chart.kind, line.values.findLast(known))}`])));
  };

  const hover = (chart, event) => {
    if (!chart.times?.length || !chart.lines.length) return;
    const box = chart.svg.getBoundingClientRect();
    let at = 0;
    chart.times.forEach((t, i) => {
      if (Math.abs(chart.x(t) - (event.clientX - box.left)) < Math.abs(chart.x(chart.times[at]) - (event.clientX - box.left))) at = i;
    });
    const x = chart.x(chart.times[at]), past = Math.round(chart.times[chart.times.length - 1] - chart.times[at]);
    chart.svg.querySelector(".cursor")?.remove();
    chart.svg.append(drawn("path", { class: "cursor", d: `M${x} 10V${box.height - 22}` }));
    const tip = by("tip");
    tip.textContent = [past ? `${past} s ago` : "now", ...chart.lines.map((line) => `${line.name}: ${text(chart.kind, line.values[at])}`)].join("\n");
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(event.clientX + 14, innerWidth - size.width - 6)) + "px";
    tip.style.top = Math.max(6, event.clientY - size.height - 12) + "px";
  };

  // Tables. A column: title, what a row holds, how it is shown.
  const sum = (object) => Object.values(object ?? {}).reduce((a, b) => a + (known(b) ? b : 0), 0);
  const tables = {
    kernel: {
      keep: (k) => k.launches_total > 0 && shows(deviceOf(k.device)),
      empty: "No operator has run yet.",
      order: (a, b) => (b.busy_seconds_per_second ?? 0) - (a.busy_seconds_per_second ?? 0) || b.launches_total - a.launches_total,
      columns: [["operator", (k) => k.kernel], ["device", (k) => k.device], ["share", (k) => k.busy_seconds_per_second, "share"],
        ["launches", (k) => k.launches_total, "count"], ["rate", (k) => k.launches_per_second, "rate"],
        ["mean", (k) => k.duration_seconds?.["1m"].mean, "seconds"], ["p50", (k) => k.duration_seconds?.["1m"].p50, "seconds"],
        ["p99", (k) => k.duration_seconds?.["1m"].p99, "seconds"], ["of roofline", (k) => k.roofline_ratio, "percent"]],
    },
    gpu: {
      keep: (g) => shows(g.gpu),
      columns: [["GPU", (g) => g.gpu], ["model", (g) => g.model], ["busy", (g) => g.busy_ratio, "share"], ["SM active", (g) => g.sm_active_ratio, "percent"],
        ["memory", (g) => g.memory_used_bytes, "bytes"], ["of", (g) => g.memory_total_bytes, "bytes"], ["power", (g) => g.power_watts, "watts"],
        ["temperature", (g) => g.temperature_celsius, "celsius"], ["SM clock", (g) => g.sm_clock_hertz, "hertz"],
        ["held down by", (g) => Object.entries(g.throttled ?? {}).filter(([, on]) => on).map(([why]) => why.replaceAll("_", " ")).join(", ") || "–"]],
    },
    pool: {
      keep: (p) => (p.peak_bytes > 0 || p.reserved_bytes > 0) && shows(deviceOf(p.pool)),
      columns: [["pool", (p) => p.pool], ["in use", (p) => p.used_bytes, "bytes"], ["reserved", (p) => p.reserved_bytes, "bytes"], ["limit", (p) => p.limit_bytes, "bytes"],
        ["peak", (p) => p.peak_bytes, "bytes"], ["fragmentation", (p) => p.fragmentation_ratio?.external, "percent"], ["live", (p) => p.live_allocations, "count"],
        ["allocations", (p) => sum(p.allocations_per_second), "rate"], ["p99", (p) => p.allocation_seconds?.["1m"].p99, "seconds"]],
    },
    pipeline: {
      keep: (p) => sum(p.items_total) > 0 || p.queue_length > 0 || p.inflight > 0,
      columns: [["pipeline", (p) => p.pipeline], ["items", (p) => sum(p.items_per_second), "rate"], ["p50", (p) => p.latency_seconds?.["1m"].p50, "seconds"],
        ["p99", (p) => p.latency_seconds?.["1m"].p99, "seconds"], ["waiting", (p) => p.queue_length, "count"], ["in flight", (p) => p.inflight, "count"],
        ["overlap", (p) => p.overlap_ratio, "percent"]],
    },
    training: {
      keep: (t) => known(t.step),
      columns: [["training", (t) => t.run], ["step", (t) => t.step, "count"], ["loss", (t) => t.loss, "count"], ["rate", (t) => t.rate, "count"],
        ["forecast for step", (t) => t.forecast_step, "count"], ["loss there", (t) => t.forecast_loss?.["0.5"], "count"],
        ["5 %", (t) => t.forecast_loss?.["0.05"], "count"], ["95 %", (t) => t.forecast_loss?.["0.95"], "count"], ["watch takes", (t) => t.overhead_ratio, "percent"]],
    },
    tuner: {
      keep: (t) => t.kernel && (sum(t.lookups_total) > 0 || known(t.speedup_ratio?.default)),
      columns: [["operator", (t) => t.kernel], ["look-ups", (t) => sum(t.lookups_total), "count"], ["hits", (t) => (t.lookups_total?.hit ?? 0) / sum(t.lookups_total), "percent"],
        ["speed-up over default", (t) => t.speedup_ratio?.default, "count"], ["drift", (t) => t.drift_ratio, "count"]],
    },
  };
  const cell = (kind, value) => {
    if (!kind) return element("td", {}, value || "–");
    const number = text(kind === "share" ? "percent" : kind, value);
    if (kind !== "share") return element("td", { class: "num" }, number);
    const filled = element("i", { style: `width: ${Math.min(100, 100 * (known(value) ? value : 0))}%` });
    return element("td", { class: "share" }, [element("span", { class: "bar" }, filled), element("span", {}, number)]);
  };
  const fill = (name, rows) => {
    const { columns, order, empty } = tables[name], place = by(name);
    rows = rows.filter(tables[name].keep);
    place.parentNode.hidden = !rows.length && !empty;
    if (!rows.length) return place.replaceChildren(element("p", { class: "empty" }, empty ?? ""));
    if (order) rows.sort(order);
    const head = element("tr", {}, columns.map(([title, , kind]) => element("th", kind ? { class: kind === "share" ? "share" : "num" } : {}, title)));
    const body = rows.map((row) => element("tr", {}, columns.map(([, value, kind]) => cell(kind, value(row)))));
    place.replaceChildren(element("table", {}, [element("thead", {}, head), element("tbody", {}, body)]));
  };

  // The alerts of rules.yml. `of` returns a text for each thing for which the alert holds now. An alert fires once it has held for
  // `after` seconds, or at once; it stays for `keep` seconds after it last held.
  const growing = (object) => Object.entries(object ?? {}).filter(([, rate]) => rate > 0).map(([name]) => name);
  const alerts = {
    KolmoPoolNearLimit: { after: 300, of: (s) => s.pool.filter((p) => p.used_bytes / p.limit_bytes > 0.9).map((p) => `Memory pool ${p.pool} is ${text("percent", p.used_bytes / p.limit_bytes)} full`) },
    KolmoOutOfMemory: { keep: 300, of: (s) => s.pool.filter((p) => p.failures_per_second?.final > 0).map((p) => `Memory pool ${p.pool}: an allocation failed for good`) },
    KolmoPoolFragmented: { after: 600, of: (s) => s.pool.filter((p) => p.fragmentation_ratio?.external > 0.3 && p.satisfiability_ratio < 0.95).map((p) => `Memory pool ${p.pool} is fragmented`) },
    KolmoGpuUnderusedWithWorkWaiting: { after: 900, of: (s) => (s.pipeline.some((p) => p.queue_length > 0) ? s.gpu.filter((g) => g.sm_active_ratio < 0.5).map((g) => `GPU ${g.gpu} uses less than half of its multiprocessors while items wait`) : []) },
    KolmoGpuBelowTarget: { after: 1800, of: (s) => s.gpu.filter((g) => g.sm_active_ratio < 0.8).map((g) => `GPU ${g.gpu} uses less than 80 % of its multiprocessors`) },
    KolmoGpuThrottled: { after: 120, of: (s) => s.gpu.flatMap((g) => ["thermal", "power_brake"].filter((why) => g.throttled?.[why] === 1).map((why) => `GPU ${g.gpu}: clocks are held down by ${why.replace("_", " ")}`)) },
    KolmoGpuError: { keep: 600, of: (s) => s.gpu.flatMap((g) => growing(g.xid_errors_per_second).map((xid) => `GPU ${g.gpu} reported XID error ${xid}`)) },
    KolmoTunerMisses: { after: 1800, of: (s) => {
      const rate = (names) => s.tuner.reduce((all, t) => all + sum(Object.fromEntries(Object.entries(t.lookups_per_second ?? {}).filter(([name]) => names.test(name)))), 0);
      return rate(/miss|foreign/) / rate(/./) > 0.05 ? ["The tuner's look-ups find nothing measured on this machine"] : [];
    } },
    KolmoTunerDrift: { after: 600, of: (s) => s.tuner.filter((t) => t.drift_ratio > 1.1).map((t) => `${t.kernel} takes over 1.1 times as long as when it was tuned`) },
    KolmoShadowTuningTakesTooMuch: { after: 600, of: (s) => s.tuner.filter((t) => t.shadow_gpu_seconds_per_second > 0.005).map(() => "Shadow tuning takes over 0.5 % of the GPU") },
    KolmoMonitorStale: { after: 0, of: (s) => (s.time - s.monitor[0]?.last_sample_timestamp_seconds > 15 ? ["Devices were not read for over 15 s"] : []) },
    KolmoMonitorCostsTooMuch: { after: 300, of: (s) => (sum(s.monitor[0]?.overhead_seconds_per_second) > 0.01 ? ["Monitoring takes over 1 % of a thread's time"] : []) },
  };
  const holding = new Map();  // for each text, since when the alert holds and when it last did
  const judge = (s) => {
    for (const [name, rule] of Object.entries(alerts)) {
      for (const what of rule.of(s)) holding.set(what, { name, rule, since: holding.get(what)?.since ?? s.time, seen: s.time });
    }
    for (const [what, { rule, seen }] of holding) if (s.time - seen > (rule.keep ?? 0)) holding.delete(what);
    by("alerts").parentNode.hidden = !holding.size;
    by("alerts").replaceChildren(...[...holding].map(([what, { name, rule, since }]) => {
      const firing = s.time - since >= (rule.after ?? 0);
      return element("li", firing ? { class: "firing" } : {}, `${what} (${name}${firing ? "" : `, for ${Math.round(s.time - since)} of ${rule.after} s`})`);
    }));
  };

  const update = (s) => {
    shown = s;
    keep(s);
    judge(s);
    offer(s);
    by("title").textContent = `Kolmo ${s.kolmo_version}, process ${s.pid}`;
    document.title = `Kolmo monitor, process ${s.pid}`;
    const cpu = s.cpu[0] ?? {}, busy = s.gpu.map((g) => g.busy_ratio).filter((ratio) => ratio !== undefined);
    const tiles = [["processor, this process", text("percent", cpu.busy_ratio?.process)], ["memory, this process", text("bytes", cpu.memory_used_bytes?.process)],
      ["launches", text("rate", s.kernel.reduce((all, k) => all + (k.launches_per_second ?? 0), 0))]];
    if (busy.length) tiles.push(["busiest GPU", text("percent", Math.max(...busy))]);
    if (s.gpu.length) tiles.push(["GPU memory", text("bytes", s.gpu.reduce((all, g) => all + (g.memory_used_bytes ?? 0), 0))]);
    if (s.pipeline[0]) tiles.push(["pipeline p99", text("seconds", s.pipeline[0].latency_seconds?.["1m"].p99)]);
    tiles.push(["monitoring takes", text("percent", sum(s.monitor[0]?.overhead_seconds_per_second))]);
    by("tiles").replaceChildren(...tiles.map(([name, value]) => element("div", {}, [element("dt", {}, name), element("dd", {}, value)])));
    const curves = recent();
    for (const chart of charts) draw(chart, curves);
    for (const name of Object.keys(tables)) fill(name, s[name]);
    const model = [cpu.model, ...s.gpu.map((g) => g.model)].filter(Boolean).join(", ");
    by("state").textContent = `${model}; ${new Date(1000 * s.time).toLocaleTimeString()}`;
    by("state").className = "state";
    document.documentElement.dataset.updates = Number(document.documentElement.dataset.updates ?? 0) + 1;
  };

  const poll = async () => {
    try {
      const answer = await fetch("api/v1/snapshot?curves=1");
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      update(await answer.json());
    } catch (error) {
      by("state").textContent = `No answer from the process (${error.message}); what is shown is old.`;
      by("state").className = "state lost";
    }
    setTimeout(poll, 1000);
  };
  poll();
})();
