// Shows the matrix by a chosen measure. For a large network it is drawn on a canvas, with a search, a threshold and a list of pairs.
(() => {
  const { data, n, measures } = page;
  const controls = document.getElementById("matrix-controls");
  const svg = document.querySelector("svg.matrix"), canvas = document.querySelector("canvas.matrix-canvas");
  if (!svg || n < 2) return;
  const kinds = Object.keys(measures), colours = 32;
  const measure = make("select", {}, ...kinds.map((kind) => make("option", { value: kind }, measures[kind].name)));
  controls.append(make("label", {}, "Colour: ", measure));
  controls.hidden = false;

  const cells = [];
  for (let cell = 0; cell < n * n; ++cell) if (page.exists(cell)) cells.push(cell);
  const largestOf = (kind) => {
    let largest = 0;
    for (const cell of cells) { const x = measures[kind].of(cell); if (x > largest) largest = x; }
    return largest;
  };
  const colourOf = (x, largest) => (x > 0 && largest > 0 ? Math.min(colours - 1, Math.round(((colours - 1) * x) / largest)) : 0);
  const relabel = (kind, largest) => {
    svg.querySelector(".scale .half").textContent = largest > 0 ? page.number(largest / 2) : "";
    svg.querySelector(".scale .full").textContent = largest > 0 ? `${page.number(largest)} ${measures[kind].units}`.trim() : "";
  };

  if (!canvas) {
    measure.addEventListener("change", () => {
      const kind = measure.value, largest = largestOf(kind);
      const decimals = largest > 0 ? Math.min(4, Math.max(kind === "z" ? 0 : 2, 1 - Math.floor(Math.log10(largest)))) : 2;
      for (const part of svg.querySelectorAll(".cell")) {
        const [source, target] = part.dataset.link.split("-").map(Number);
        const x = measures[kind].of(source * n + target), colour = colourOf(x, largest);
        part.classList.toggle("high", colour * 2 >= colours - 2);
        part.classList.toggle("low", colour * 2 < colours - 2);
        part.querySelector("rect").setAttribute("class", "q" + colour);
        const text = part.querySelector("text");
        if (text) text.textContent = Number.isFinite(x) ? x.toFixed(decimals).replace(/^-(0\.?0*)$/, "$1").replace("-", "\u2212") : "\u2013";
      }
      relabel(kind, largest);
    });
    return;
  }

  const search = make("input", { type: "search", placeholder: "part of a name", size: 14 });
  const threshold = make("input", { type: "range", min: 0, max: 1, step: 0.005, value: 0 });
  const bound = make("output");
  const only = make("input", { type: "checkbox" });
  controls.append(make("label", {}, "Variable: ", search), make("label", {}, "At least: ", threshold, " ", bound));
  if (data.tested) controls.append(make("label", {}, only, " significant only"));

  const list = document.getElementById("pairs");
  const size = Math.max(2, Math.floor(1000 / n)), side = size * n;
  canvas.width = canvas.height = side;
  canvas.style.width = side + "px";
  canvas.style.minWidth = 3 * n + "px";
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  let hovered = -1;
  const rgb = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const parse = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));

  const passes = (cell, least, names) =>
    (!only.checked || page.significant(cell)) && measures[measure.value].of(cell) >= least &&
    (!names || names[Math.floor(cell / n)] || names[cell % n]);
  const state = () => {
    const kind = measure.value, largest = largestOf(kind), text = search.value.trim().toLowerCase();
    const least = Number(threshold.value) > 0 ? Number(threshold.value) * largest : -Infinity;
    return { kind, largest, least, names: text ? data.variables.map((name) => name.toLowerCase().includes(text)) : null };
  };
  const paint = ({ kind, largest, least, names }) => {
    const paper = parse(rgb("--paper")), scale = Array.from({ length: colours }, (_, i) => parse(rgb("--q" + i)));
    const image = pen.createImageData(side, side);
    const bytes = new Uint32Array(image.data.buffer);
    const word = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    bytes.fill(word(paper));
    for (const cell of cells) {
      if (!passes(cell, least, names)) continue;
      const share = data.tested && !page.significant(cell) ? 0.35 : 1;
      const tone = scale[colourOf(measures[kind].of(cell), largest)].map((c, i) => Math.round(share * c + (1 - share) * paper[i]));
      const row = Math.floor(cell / n) * size, column = (cell % n) * size;
      for (let y = 0; y < size; ++y) bytes.fill(word(tone), (row + y) * side + column, (row + y) * side + column + size);
    }
    pen.putImageData(image, 0, 0);
    if (data.groups) {
      pen.strokeStyle = rgb("--ink");
      for (let i = 1; i < n; ++i)
        if (data.groups.of[i] !== data.groups.of[i - 1]) {
          pen.beginPath();
          pen.moveTo(0, i * size); pen.lineTo(side, i * size); pen.moveTo(i * size, 0); pen.lineTo(i * size, side);
          pen.stroke();
        }
    }
    if (hovered >= 0) {
      pen.strokeStyle = rgb("--accent");
      pen.strokeRect(0.5, Math.floor(hovered / n) * size - 0.5, side - 1, size + 1);
      pen.strokeRect((hovered % n) * size - 0.5, 0.5, size + 1, side - 1);
    }
  };

  const most = 200;
  const units = ` (${data.units})`;
  const heads = ["Source", "Target", "Lag", "TE" + units,
    ...(data.compared ? ["Bias-corrected" + units, "z", "Null 95\u202f%" + units] : []), "p", "Adjusted p"];
  const rowsOf = (found) => found.map((cell) => {
    const l = page.link(cell);
    return { cell, cells: [[page.name(l.source)], [page.name(l.target)], [page.lagText(l.lag), l.lag], [page.number(l.value), l.value],
      ...(data.compared ? [l.bias, l.z, l.q95].map((x) => [page.number(x), x]) : []), [l.pText, l.p], [page.number(l.adjusted), l.adjusted]] };
  });
  const write = ({ kind, least, names }) => {
    const found = cells.filter((cell) => passes(cell, least, names));
    const key = new Map(found.map((cell) => [cell, measures[kind].of(cell)]));
    const order = (x) => (Number.isFinite(x) ? x : -Infinity);
    found.sort((a, b) => order(key.get(b)) - order(key.get(a)));
    const table = make("table", {}, make("caption", {}, found.length > most
      ? `The ${most} strongest of ${found.length} pairs that pass; the CSV has all of them` : `${found.length} pairs pass`));
    const head = make("tr");
    heads.forEach((text, i) => head.append(make("th", { scope: "col", class: i < 2 ? "" : "num" }, text)));
    const body = make("tbody");
    for (const { cell, cells: row } of rowsOf(found.slice(0, most))) {
      const line = make("tr", { "data-link": `${Math.floor(cell / n)}-${cell % n}`, class: page.significant(cell) ? "significant" : "" });
      row.forEach(([text, exact], i) => line.append(make("td", i < 2 ? {} : { class: "num", "data-key": Number.isFinite(exact) ? exact : "" }, text)));
      body.append(line);
    }
    table.append(make("thead", {}, head), body);
    const holder = make("div", { class: "table", "data-file": "pairs" }, make("div", { class: "scroll", tabindex: 0 }, table));
    holder.rows = () => [heads, ...rowsOf(found).map(({ cells: row }) => row.map(([text, exact]) => (exact === undefined ? text : Number.isFinite(exact) ? exact : "")))];
    list.replaceChildren(holder);
    if (window.save) save.addTo(holder);
  };

  let waiting = 0;
  const update = () => {
    const now = state();
    bound.textContent = now.least > -Infinity ? page.number(now.least) : "any value";
    relabel(now.kind, now.largest);
    paint(now);
    clearTimeout(waiting);
    waiting = setTimeout(() => write(now), 120);
  };
  for (const control of [measure, search, threshold, only]) control.addEventListener("input", update);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * n), row = Math.floor(((event.clientY - box.top) / box.height) * n);
    const cell = row * n + column;
    return row >= 0 && row < n && column >= 0 && column < n && page.exists(cell) ? cell : -1;
  };
  canvas.textAt = (event) => { const cell = cellAt(event); return cell < 0 ? "" : page.describe(cell); };
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    if (cell !== hovered) { hovered = cell; paint(state()); }
  });
  canvas.addEventListener("pointerleave", () => { hovered = -1; paint(state()); });
  canvas.addEventListener("click", (event) => { const cell = cellAt(event); if (cell >= 0) profile.choose(cell); });
  canvas.repaint = () => paint(state());
  const first = state();
  relabel(first.kind, first.largest);
  bound.textContent = "any value";
  paint(first);
  write(first);
  canvas.dataset.cells = cells.length;
})();
