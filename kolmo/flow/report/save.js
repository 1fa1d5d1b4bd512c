// Saves figures as SVG and PNG files and tables as CSV, and copies texts to the clipboard.
const save = (() => {
  const title = (document.title.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "") || "network").slice(0, 60);
  const give = (blob, name) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  // Saved figures have the colours of the light page, whatever the screen shows.
  const onPaper = (f) => {
    document.documentElement.classList.add("on-paper");
    try { return f(); } finally { document.documentElement.classList.remove("on-paper"); }
  };
  const styles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-family", "font-size",
    "font-weight", "text-anchor", "paint-order"];
  const paper = () => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
  const svgText = (svg) => onPaper(() => {
    const copy = svg.cloneNode(true);
    const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
    from.forEach((part, i) => {
      const shown = getComputedStyle(part);
      if (part !== svg) for (const name of styles) to[i].setAttribute(name, shown.getPropertyValue(name));
      for (const name of ["class", "style", "tabindex"]) to[i].removeAttribute(name);
    });
    for (const part of copy.querySelectorAll('[stroke="rgba(0, 0, 0, 0)"]')) part.remove();
    const { x, y, width, height } = svg.viewBox.baseVal;
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.setAttribute("font-size", getComputedStyle(svg).fontSize);
    copy.prepend(draw("rect", { x, y, width, height, fill: paper() }));
    return new XMLSerializer().serializeToString(copy);
  });
  const canvasSvg = (canvas) => {
    const svg = draw("svg", { viewBox: `0 0 ${canvas.width} ${canvas.height}`, width: canvas.width, height: canvas.height });
    onPaper(canvas.repaint);
    svg.append(draw("image", { width: canvas.width, height: canvas.height, href: canvas.toDataURL("image/png") }));
    canvas.repaint();
    return new XMLSerializer().serializeToString(svg);
  };
  const textOf = (figure) => {
    const canvas = figure.querySelector("canvas");
    return canvas ? canvasSvg(canvas) : svgText(figure.querySelector("svg"));
  };
  const pngOf = async (figure) => {
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(textOf(figure));
    await image.decode();
    const factor = figure.querySelector("canvas") ? 1 : 2;
    const canvas = make("canvas", { width: Math.ceil(image.width * factor), height: Math.ceil(image.height * factor) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  };
  const rowsOf = (holder) => (holder.rows ? holder.rows() : Array.from(holder.querySelectorAll("tr"), (row) =>
    Array.from(row.cells, (cell) => cell.dataset.key ?? cell.textContent)));
  const cellOf = (text) => { // as csv_cell of kolmo/io: a spreadsheet runs no name
    const formula = /^[=+\-@\t\r\n]./s.test(text) && Number.isNaN(Number(text));
    return formula || /[",;\t\r\n]|^[#% ]| $/.test(text) ? `"${formula ? "'" : ""}${String(text).replaceAll('"', '""')}"` : text;
  };
  const csvOf = (holder) => rowsOf(holder).map((row) => row.map(cellOf).join(",")).join("\r\n") + "\r\n";

  const button = (text, name, act) => {
    const b = make("button", { type: "button", "aria-label": `Save ${name} as ${text}` }, text);
    b.addEventListener("click", act);
    return b;
  };
  const addTo = (holder) => {
    const heads = Array.from(holder.querySelectorAll("th"), (head) => head.textContent);
    for (const row of holder.querySelectorAll("tbody tr"))
      heads.forEach((head, i) => { if (row.cells[i]) row.cells[i].dataset.label = head; });  // narrow pages show it above the cell
    const name = holder.dataset.file, file = `${title}_${name}`, bar = make("div", { class: "save" }, "Save ");
    if (holder.tagName === "FIGURE")
      bar.append(button("SVG", name, () => give(new Blob([textOf(holder)], { type: "image/svg+xml" }), file + ".svg")),
        button("PNG", name, async () => give(await pngOf(holder), file + ".png")));
    else bar.append(button("CSV", name, () => give(new Blob([csvOf(holder)], { type: "text/csv" }), file + ".csv")));
    holder.append(bar);
  };
  for (const holder of document.querySelectorAll("[data-file]")) addTo(holder);

  for (const source of document.querySelectorAll("[data-copy]")) {
    const text = source.querySelector("pre, p"), name = source.dataset.copy;
    const bar = make("div", { class: "save" });
    if (navigator.clipboard) {
      const copy = button("Copy", name, async () => {
        await navigator.clipboard.writeText(text.textContent);
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      });
      copy.setAttribute("aria-label", `Copy ${name}`);
      bar.append(copy);
    }
    bar.append(button(source.dataset.type.toUpperCase(), name, () => give(new Blob([text.textContent], { type: "text/plain" }), `${title}_${name}.${source.dataset.type}`)));
    source.append(bar);
  }
  return { addTo, textOf, pngOf, csvOf };
})();
window.save = save;
