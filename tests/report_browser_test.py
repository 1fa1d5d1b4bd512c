#!/usr/bin/env python3
"""Opens reports of `kolmo network` in headless Chromium and fails on console errors, empty or clipped figures.

usage: report_browser_test.py TEST_BINARY        reports written by the gtests ReportFile.*
       report_browser_test.py REPORT.html ...    reports that exist already

A probe script, appended to a copy of each page, uses the page as a reader would (sorts a table, hovers a link, walks
the series) and leaves what it saw on <html>; --dump-dom brings it back. Console messages come from Chromium's log.
Exit code 77: no Chromium here (ctest: SKIP_RETURN_CODE 77).
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROBE = r"""
<script>
addEventListener("load", async () => {
  const root = document.documentElement, seen = { problems: [] };
  const problem = (text) => seen.problems.push(text);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  try {
    seen.rendered = root.dataset.rendered || "";
    const data = JSON.parse(document.getElementById("kolmo-data").textContent);
    const large = data.variables.length > 60;
    seen.expected = [data.variables.length, Math.min(data.significant, large ? 600 : 1000), data.pairs].join(" ");
    for (const details of all("details")) details.open = true;
    if (root.scrollWidth > innerWidth) problem(`page is ${root.scrollWidth} px wide in a window of ${innerWidth} px`);
    for (const svg of all("svg")) {
      const frame = svg.getBoundingClientRect();
      if (frame.width < 50 || frame.height < (document.querySelector(".matrix-canvas + svg") === svg ? 20 : 40)) problem(`${svg.getAttribute("class")}: ${frame.width} x ${frame.height} px`);
      for (const part of all("text, circle, rect, .line", svg)) {
        const box = part.getBoundingClientRect();
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
          problem(`${svg.getAttribute("class")}: ${part.tagName} "${part.textContent}" is clipped`);
      }
    }
    // A word may only be broken if it is too long for a line.
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let left = 2500;  // texts: a table of thousands of pairs need not be read to its end
    for (let node = walker.nextNode(); node && left > 0; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (parent.closest("svg, pre, script, style, option, [hidden]")) continue;
      if (!node.data.trim()) continue;
      --left;
      for (const word of node.data.matchAll(/[\p{L}\p{N}_']+/gu)) {
        if (word[0].length > 24) continue;
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top))).size > 1) problem(`broken word "${word[0]}"`);
      }
    }
    for (const part of all("p, h1, h2, dd, dt, figcaption, button, label, select")) {
      const box = part.getBoundingClientRect();
      if (!part.closest(".scroll") && box.width && (box.right > innerWidth + 1 || box.left < -1))
        problem(`${part.tagName} "${part.textContent.slice(0, 30)}" reaches outside the window`);
    }
    const labels = all(".graph .node text").map((text) => ({ text, box: text.getBBox(), matrix: text.getCTM() }));
    if (labels.length <= 16)
      for (const a of labels)
        for (const b of labels)
          if (a !== b && a.box.x < b.box.x + b.box.width && b.box.x < a.box.x + a.box.width &&
              a.box.y < b.box.y + b.box.height && b.box.y < a.box.y + a.box.height)
            problem(`labels overlap: ${a.text.textContent}, ${b.text.textContent}`);
    if (/\b(NaN|undefined|Infinity|null)\b/.test(all("path, rect, circle, text").map((e) => e.outerHTML.replace(/class="[^"]*"/g, "")).join(" ")))
      problem("a figure holds NaN, undefined, Infinity or null");

    const table = document.querySelector("table.sortable");
    for (const [column, button] of all("th button", table).entries()) {
      const values = () => all("tbody tr", table).map((row) => row.cells[column].dataset.key ?? row.cells[column].textContent);
      button.click();
      const rising = values();
      button.click();
      const falling = values();
      if (button.closest("th").getAttribute("aria-sort") !== "descending") problem("aria-sort is not set");
      if (button.closest("th").classList.contains("num") && !rising.every((value, i) => i === 0 || Number(rising[i - 1]) <= Number(value)))
        problem(`column ${column} is not sorted: ${rising}`);
      if (rising.join("|") !== falling.reverse().join("|") && new Set(rising).size === rising.length)
        problem(`column ${column} does not turn round`);
    }
    const cells = save.csvOf({ rows: () => [["=1+1", "-2+3", "@a", "+b", "-1.5", "-", "plain"]] }).trim();
    if (cells !== `"'=1+1","'-2+3","'@a","'+b",-1.5,-,plain`) problem(`a spreadsheet would run ${cells}`);
    for (const holder of all("[data-file]")) {
      if (holder.tagName !== "FIGURE") {
        const rows = save.csvOf(holder).trim().split("\r\n");
        if (rows.length !== all("tr", holder).length && !holder.rows) problem(`${holder.dataset.file}: ${rows.length} rows of CSV`);
        continue;
      }
      const text = save.textOf(holder), parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      if (parsed.querySelector("parsererror") || parsed.documentElement.tagName !== "svg") problem(`${holder.dataset.file}: the SVG does not parse`);
      if (/class=|var\(|<script|javascript:/.test(text)) problem(`${holder.dataset.file}: the SVG depends on the page`);
    }
    if (typeof page !== "undefined" && page.n > 1 && page.data.pairs) {
      if (!document.querySelector("#chosen .profile .bar")) problem("no profile of a chosen pair");
      const switched = document.querySelector("#matrix-controls select");
      switched.value = data.compared ? "z" : "value";
      switched.dispatchEvent(new Event("input"));
      switched.dispatchEvent(new Event("change"));
      const full = document.querySelector(".scale .full").textContent;
      if (data.compared && full.includes(data.units)) problem(`the scale of z has units: ${full}`);
    }
    const canvas = document.querySelector(".matrix-canvas");
    if (canvas) {
      const picture = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const tones = new Set();
      for (let i = 0; i < picture.length; i += 4) tones.add(picture[i] << 16 | picture[i + 1] << 8 | picture[i + 2]);
      if (tones.size < 8) problem(`the canvas has ${tones.size} colours`);
      const search = document.querySelector("#matrix-controls input[type=search]");
      search.value = data.variables[5];
      search.dispatchEvent(new Event("input"));
      await new Promise((done) => setTimeout(done, 300));
      const names = all("#pairs tbody tr").map((row) => row.cells[0].textContent + row.cells[1].textContent);
      if (!names.length || !names.every((name) => name.includes(data.variables[5]))) problem("the search lists other pairs");
    }
    if (page.n === 12 || page.n === 80) {
      const png = await Promise.race([save.pngOf(document.querySelector("[data-file=matrix]")), new Promise((done) => setTimeout(done, 2500, null))]);
      if (!png || png.size < 2000 || png.type !== "image/png") problem("no PNG of the matrix");
    }
    const move = (target, x, y) => target.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
    const tip = document.getElementById("tip");
    const link = all(".graph .link").pop();
    if (link) {
      move(link.querySelector(".reach"), 50, 50);
      if (tip.hidden || !tip.textContent.includes("→")) problem("no tip over a link");
      if (all(`[data-link="${link.dataset.link}"].on`).length < (large ? 2 : 4)) problem("a link does not light its cell, rows and panel");
      if (all(".graph .node.on").length !== 2) problem("a link does not light its two nodes");
    }
    const node = document.querySelector(".graph .node circle");
    if (node) move(node, 50, 50);
    if (node && !tip.textContent.includes("receives")) problem("no tip over a node");
    for (const details of all("details")) details.open = true;
    const series = document.querySelector(".series");
    series.scrollIntoView();
    const line = series.querySelector(".line").getBoundingClientRect();
    move(series, line.left + line.width / 2, line.top + line.height / 2);
    if (tip.hidden || !/row \d+\n.* ≈ /.test(tip.textContent)) problem(`no tip over the series: "${tip.textContent}"`);
    if (series.querySelector(".cursor").getAttribute("d") === "M0 0") problem("no cursor over the series");
    move(document.querySelector("h1"), 5, 5);
    if (!tip.hidden) problem("the tip stays");
  } catch (error) { problem(String(error.stack || error)); }
  seen.problems = [...new Set(seen.problems)].slice(0, 12);
  root.dataset.probe = JSON.stringify(seen);
});
</script>
"""


def browse(chromium: str, page: Path, size: str, dark: bool, profile: Path) -> tuple[str, list[str]]:
    """The DOM after scripts have run, and the console messages."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               f"--user-data-dir={profile}", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=4000",
               f"--window-size={size}", "--dump-dom", page.as_uri()]
    if dark:
        command.insert(1, "--blink-settings=preferredColorScheme=0")
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    log = done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace"), [line for line in log.splitlines() if "CONSOLE" in line]


def problems_of(chromium: str, page: Path, size: str, dark: bool, folder: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    probed = folder / "probed.html"
    probed.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    dom, console = browse(chromium, probed, size, dark, folder / "profile")
    found = re.search(r'<html[^>]* data-probe="([^"]*)"', dom)
    if not found:
        return ["the page did not load: no probe in the DOM"] + console
    seen = json.loads(html.unescape(found.group(1)))
    problems = console + seen["problems"]
    if seen.get("rendered") != seen.get("expected") or not seen.get("rendered"):
        problems.append(f'drawn (variables, links, cells): "{seen.get("rendered")}", in the data: "{seen.get("expected")}"')
    return problems


def check_the_check(chromium: str, page: Path, folder: Path) -> list[str]:
    """Broken copies of a good page: each fault must be noticed."""
    text = page.read_text(encoding="utf-8")
    faults = {
        "a script that throws": ("</body>", '<script>throw new Error("deliberate")</script></body>'),
        "a script from the network": ("</body>", '<script src="http://127.0.0.1:9/x.js"></script></body>'),
        "no drawn links": ('<g class="link"', '<g class="gone"'),
        "a label outside the figure": ('<text text-anchor="middle" x="', '<text text-anchor="middle" x="-9999'),
        "a page too wide": ("<main>", '<main style="min-width:3000px">'),
        "a table that cannot be sorted": ('class="sortable"', 'class="fixed"'),
        "a broken word": ("<h2 id=\"links\">Links", '<h2 id="links" style="width:1px;overflow-wrap:anywhere">Links'),
    }
    missed = []
    for name, (old, new) in faults.items():
        broken = folder / "broken.html"
        assert old in text, f"{page.name} has no {old}"
        broken.write_text(text.replace(old, new), encoding="utf-8")
        if not problems_of(chromium, broken, "1240,1000", False, folder):
            missed.append(f"the check does not notice {name}")
    return missed


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    if not chromium:
        print("SKIPPED: no Chromium on this machine, the report was not opened in a browser")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if sys.argv[1].endswith(".html"):
            pages = [Path(argument).resolve() for argument in sys.argv[1:]]
        else:
            subprocess.run([sys.argv[1], "--gtest_filter=ReportFile.*"], env=os.environ | {"KOLMO_REPORT_DIR": name},
                           check=True, stdout=subprocess.DEVNULL)
            pages = sorted(folder.glob("*.html"))
        if not pages:
            print("no report was written", file=sys.stderr)
            return 1
        failed = 0
        for page in pages:
            for size, dark in (("1240,1000", False), ("1240,1000", True), ("390,900", False)):
                problems = problems_of(chromium, page, size, dark, folder)
                print(f"{'FAIL' if problems else 'ok  '} {page.name} {size} {'dark' if dark else 'light'}")
                for problem in problems:
                    print("     " + problem)
                failed += bool(problems)
        three = [page for page in pages if page.name == "three.html"]
        for problem in check_the_check(chromium, three[0], folder) if three else []:
            print("FAIL " + problem)
            failed += 1
    print(f"{len(pages)} reports, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
