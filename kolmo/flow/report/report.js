// Shows details of what the pointer is on, lights up what belongs together, sorts tables and moves the cursor in the series.
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const tip = document.getElementById("tip");

  // Hover details: the <title> of a mark becomes its label and the text of the tip.
  const label = new Map();
  for (const title of all("svg title")) {
    const mark = title.parentNode;
    label.set(mark, title.textContent);
    mark.setAttribute("aria-label", title.textContent.replaceAll("\n", ", "));
    title.remove();
  }
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 10) : y + 18) + "px";
  };

  // One link lights up in every figure and table; a variable lights up with its links and neighbours.
  const graph = document.querySelector(".graph");
  const linked = new Map();
  for (const part of all("[data-link]")) {
    const key = part.dataset.link;
    if (!linked.has(key)) linked.set(key, []);
    linked.get(key).push(part);
  }
  const node = (index) => document.querySelector(`.node[data-node="${index}"]`);
  let lit = [];
  const light = (parts) => {
    for (const part of lit) part.classList.remove("on");
    lit = parts.filter(Boolean);
    for (const part of lit) part.classList.add("on");
    graph?.classList.toggle("focus", lit.some((part) => part.closest(".graph")));
  };
  const lightLink = (key) => {
    const [source, target] = key.split("-");
    const parts = [...(linked.get(key) ?? [])];
    if (parts.some((part) => part.classList.contains("link"))) parts.push(node(source), node(target));
    parts.push(document.querySelector(`[data-row="${source}"]`), document.querySelector(`[data-column="${target}"]`));
    light(parts);
  };
  const lightNode = (index) => {
    const parts = [node(index)];
    for (const link of all(".link")) {
      const ends = link.dataset.link.split("-");
      if (ends.includes(index)) parts.push(link, node(ends[0]), node(ends[1]));
    }
    light(parts);
  };
  const markOf = (target) => {
    for (let at = target; at && at !== document; at = at.parentNode) if (label.has(at)) return at;
    return null;
  };
  const react = (target, x, y) => {
    const mark = markOf(target);
    if (mark) showTip(label.get(mark), x, y);
    else if (target.dataset && target.dataset.tip) showTip(target.dataset.tip, x, y);
    else tip.hidden = true;
    const link = target.closest && target.closest("[data-link]");
    const variable = target.closest && target.closest("[data-node]");
    if (link) lightLink(link.dataset.link);
    else if (variable) lightNode(variable.dataset.node);
    else light([]);
  };
  let last = null;
  document.addEventListener("pointermove", (event) => {
    if (event.target.closest && event.target.closest(".series")) return;
    if (event.target.textAt) {
      const text = event.target.textAt(event);
      if (text) showTip(text, event.clientX, event.clientY);
      else tip.hidden = true;
      last = event.target;
      return;
    }
    if (event.target !== last || markOf(event.target)) react(event.target, event.clientX, event.clientY);
    last = event.target;
  });
  document.addEventListener("focusin", (event) => {
    if (!event.target.matches(":focus-visible")) return;
    const box = event.target.getBoundingClientRect();
    react(event.target, box.left + box.width / 2, box.top + box.height / 2);
  });
  const clear = () => { tip.hidden = true; light([]); last = null; };
  document.addEventListener("focusout", clear);
  document.addEventListener("pointerleave", clear);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") clear(); });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // A click on a heading sorts the table.
  const sortKey = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.key ?? cell.textContent;
    return cell.classList.contains("num") ? (text === "" ? NaN : Number(text)) : text;
  };
  const compare = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a - b;
  };
  for (const table of all("table.sortable")) {
    const heads = all("th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const rows = all("tbody tr", table).map((row) => ({ row, key: sortKey(row, column) }));
        rows.sort((a, b) => (rising ? compare(a.key, b.key) : compare(b.key, a.key)));
        table.tBodies[0].append(...rows.map((item) => item.row));
      });
    });
  }

  // A vertical line through all series with the values under it, read back from the drawn points.
  const plot = document.querySelector(".series");
  if (plot) {
    const left = Number(plot.dataset.left), right = Number(plot.dataset.right), end = Number(plot.dataset.last);
    const cursor = plot.querySelector(".cursor");
    const lines = all("g[data-name]", plot).map((group) => {
      const path = group.querySelector(".line");
      const points = path ? Array.from(path.getAttribute("d").matchAll(/[ML]([\d.]+) ([\d.]+)/g), (m) => [+m[1], +m[2]]) : [];
      return { group, points };
    });
    plot.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
      const box = plot.viewBox.baseVal;
      if (at.x < left - 4 || at.x > right + 4) { tip.hidden = true; return; }
      const x = Math.max(left, Math.min(right, at.x));
      cursor.setAttribute("d", `M${x} 6V${box.height - 40}`);
      const row = Math.round(((x - left) / (right - left)) * end);
      const over = lines.find(({ group }) => at.y >= group.dataset.upper - 6 && at.y <= +group.dataset.lower + 6);
      let text = `row ${row}`;
      if (over && over.points.length) {
        const near = over.points.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));
        const { low, high, upper, lower, name } = over.group.dataset;
        const share = (lower - near[1]) / (lower - upper);
        const value = +low + share * (high - low);
        if (Math.abs(near[0] - x) < 4 + (right - left) / Math.max(end, 1) / 2) text += `\n${name} \u2248 ${value.toPrecision(3)}`;
      }
      showTip(text, event.clientX, event.clientY);
    });
    plot.addEventListener("pointerleave", () => { cursor.setAttribute("d", "M0 0"); tip.hidden = true; });
  }

  const copy = document.getElementById("copy");
  if (navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById("command").textContent);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    });
  }
  // On paper, the table beside the matrix is not needed, and every profile should be shown.
  addEventListener("beforeprint", () => { for (const part of all("#profiles ~ details")) part.open = true; });

  const canvas = document.querySelector(".matrix-canvas");
  const cells = canvas ? canvas.dataset.cells : all(".matrix .cell").length;
  document.documentElement.dataset.rendered = `${page.n} ${all(".graph .link").length} ${cells}`;
})();
