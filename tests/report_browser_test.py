#!/usr/bin/env python3
"""Opens reports of `kolmo network` in headless Chromium and fails on console errors, empty or clipped figures.

usage: report_browser_test.py TEST_BINARY        reports written by the gtest ReportFile.WrittenForTheBrowser
       report_browser_test.py REPORT.html ...    reports that exist already

A probe script, appended to a copy of each page, uses the page as a reader would (sorts a table, hovers an edge, walks
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
addEventListener("load", () => {
  const root = document.documentElement, seen = { problems: [] };
  const problem = (text) => seen.problems.push(text);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  try {
    seen.rendered = root.dataset.rendered || "";
    const data = JSON.parse(document.getElementById("kolmo-data").textContent);
    seen.expected = [data.variables.length, data.links.filter((l) => l.significant).length, data.links.length].join(" ");
    for (const details of all("details")) details.open = true;
    if (root.scrollWidth > innerWidth) problem(`page is ${root.scrollWidth} px wide in a window of ${innerWidth} px`);
    for (const svg of all("svg")) {
      const frame = svg.getBoundingClientRect();
      if (frame.width < 50 || frame.height < 40) problem(`${svg.getAttribute("class")}: ${frame.width} x ${frame.height} px`);
      for (const part of all("text, circle, rect, .line", svg)) {
        const box = part.getBoundingClientRect();
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
          problem(`${svg.getAttribute("class")}: ${part.tagName} "${part.textContent}" is clipped`);
      }
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
      if (column >= 2 && !rising.every((value, i) => i === 0 || Number(rising[i - 1]) <= Number(value)))
        problem(`column ${column} is not sorted: ${rising}`);
      if (rising.join("|") !== falling.reverse().join("|") && new Set(rising).size === rising.length)
        problem(`column ${column} does not turn round`);
    }
    const move = (target, x, y) => target.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
    const tip = document.getElementById("tip");
    const edge = document.querySelector(".graph .edge");
    if (edge) {
      move(edge.querySelector(".reach"), 50, 50);
      if (tip.hidden || !tip.textContent.includes("→")) problem("no tip over an edge");
      if (all(`[data-link="${edge.dataset.link}"].on`).length < 4) problem("an edge does not light its cell, rows and panel");
      if (all(".graph .node.on").length !== 2) problem("an edge does not light its two nodes");
    }
    move(document.querySelector(".graph .node circle"), 50, 50);
    if (!tip.textContent.includes("receives")) problem("no tip over a node");
    const series = document.querySelector(".series");
    series.scrollIntoView();
    const line = series.querySelector(".line").getBoundingClientRect();
    move(series, line.left + line.width / 2, line.top + line.height / 2);
    if (tip.hidden || !/sample \d+\n.* ≈ /.test(tip.textContent)) problem(`no tip over the series: "${tip.textContent}"`);
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
        problems.append(f'drawn (variables, edges, cells): "{seen.get("rendered")}", in the data: "{seen.get("expected")}"')
    return problems


def check_the_check(chromium: str, page: Path, folder: Path) -> list[str]:
    """Broken copies of a good page: each fault must be noticed."""
    text = page.read_text(encoding="utf-8")
    faults = {
        "a script that throws": ("</body>", '<script>throw new Error("deliberate")</script></body>'),
        "a script from the network": ("</body>", '<script src="http://127.0.0.1:9/x.js"></script></body>'),
        "no drawn edges": ('<g class="edge"', '<g class="gone"'),
        "a label outside the figure": ('<text text-anchor="middle" x="', '<text text-anchor="middle" x="-9999'),
        "a page too wide": ("<main>", '<main style="min-width:3000px">'),
        "a table that cannot be sorted": ('class="sortable"', 'class="fixed"'),
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
