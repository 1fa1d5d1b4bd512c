// Shows the lag profile of any pair, which is chosen from two lists, in the matrix or in a table of links.
const profile = (() => {
  const place = document.getElementById("chosen");
  const { data, n } = page;
  if (n < 2 || !place) return { choose() {} };

  const figure = (cell) => {
    const link = page.link(cell), values = page.profile(cell);
    if (!values) return null;
    const [width, height, left, right, top, bottom] = [460, 190, 10, 450, 48, 160];
    const finite = values.filter(Number.isFinite);
    let high = Math.max(0, Number.isFinite(link.q95) ? link.q95 : 0, ...finite);
    const low = Math.min(0, ...finite);
    if (high <= low) high = low + 1;
    const slot = (right - left) / values.length, bar = Math.min(0.62 * slot, 40);
    const x = (lag) => left + slot * (lag - 0.5);
    const y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
    const svg = draw("svg", { class: "profile", viewBox: `0 0 ${width} ${height}`, role: "img", style: `max-width:${width * 1.2}px`,
      "aria-label": `Transfer entropy against lag, ${page.name(link.source)} to ${page.name(link.target)}` });
    const short = (name) => (name.length > 28 ? name.slice(0, 27) + "\u2026" : name);
    svg.append(draw("text", { class: "tick", x: left, y: 16 }, `${short(page.name(link.source))} \u2192 ${short(page.name(link.target))}, ${data.units} against lag`));
    const every = Math.max(1, Math.ceil(values.length / 20));
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      const lag = i + 1, best = lag === link.lag ? " best" : "";
      svg.append(draw("rect", { class: "bar" + best, x: x(lag) - bar / 2, width: bar, rx: 1,
        y: Math.min(y(value), y(0)), height: Math.max(Math.abs(y(value) - y(0)), 0.6),
        "data-tip": `lag ${page.lagText(lag)}\n${page.number(value)} ${data.units}` }));
      if (best) svg.append(draw("text", { class: "value", "text-anchor": "middle", x: Math.min(Math.max(x(lag), left + 22), right - 22), y: Math.min(y(value), y(0)) - 6 }, page.number(value)));
      if (best || (i % every === 0 && Math.abs(lag - link.lag) >= every))
        svg.append(draw("text", { class: "tick" + best, "text-anchor": "middle", x: x(lag), y: height - 12 }, String(lag)));
    });
    svg.append(draw("path", { class: "rule", d: `M${left} ${y(0)}H${right}` }));
    if (Number.isFinite(link.q95)) svg.append(draw("path", { class: "null", d: `M${left} ${y(link.q95)}H${right}` }));
    return make("figure", { class: "chosen", "data-file": "lag_profile" }, svg);
  };

  const options = () => page.data.variables.map((name, i) => make("option", { value: i }, name));
  const source = make("select", { "aria-label": "Source" }, ...options());
  const target = make("select", { "aria-label": "Target" }, ...options());
  const shown = make("div", { class: "shown" });
  place.append(
    make("div", { class: "controls" }, make("label", {}, "Any pair: ", source), make("label", {}, "\u2192 ", target)), shown);
  place.hidden = false;

  const show = () => {
    const cell = Number(source.value) * n + Number(target.value);
    if (!page.exists(cell)) { shown.replaceChildren(make("p", { class: "note" }, "Choose two different variables.")); return; }
    const drawn = figure(cell);
    shown.replaceChildren(
      drawn ?? make("p", { class: "note" }, "The profile of this pair is not in this page; it is in the JSON result."),
      make("p", { class: "note facts" }, page.describe(cell)));
    if (drawn && window.save) save.addTo(drawn);
  };
  source.addEventListener("change", show);
  target.addEventListener("change", show);
  const choose = (cell, move = true) => {
    source.value = Math.floor(cell / n);
    target.value = cell % n;
    show();
    if (move) place.scrollIntoView({ block: "center" });
  };
  let strongest = -1;
  for (let cell = 0; cell < n * n; ++cell)
    if (page.exists(cell) && (strongest < 0 || page.link(cell).value > page.link(strongest).value)) strongest = cell;
  if (strongest >= 0) choose(strongest, false);

  document.addEventListener("click", (event) => {
    const part = event.target.closest("[data-link]");
    if (!part || getSelection().toString()) return;
    const [from, to] = part.dataset.link.split("-").map(Number);
    choose(from * n + to, !part.closest("#pairs, .panel"));
  });
  return { choose };
})();
