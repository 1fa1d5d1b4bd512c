"""Opens the live page in headless Chromium while a load runs: wide, dark and narrow, without a console message.

With KOLMO_SCREENSHOTS=FOLDER it also leaves pictures there, to be looked at."""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from serving import Serving, fetch

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")

PROBE = r"""
<script>
const look = setInterval(() => {
  const root = document.documentElement;
  if (!(Number(root.dataset.updates) >= 2)) return;
  clearInterval(look);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const seen = { problems: [], rows: all("#kernel tbody tr").map((row) => row.cells[0].textContent),
    curves: all(".charts figure:not([hidden])").map((figure) => all("path.curve", figure).length), tiles: all("#tiles dd").map((tile) => tile.textContent),
    headings: all("section:not([hidden]) h2").map((h) => h.textContent) };
  const problem = (text) => seen.problems.push(text);
  if (root.scrollWidth > innerWidth) problem(`page is ${root.scrollWidth} px wide in a window of ${innerWidth} px`);
  for (const svg of all("figure:not([hidden]) svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width < 200) problem(`a chart of ${frame.width} px`);
    for (const part of all("text, .curve", svg)) {
      const box = part.getBoundingClientRect();
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
        problem(`${svg.getAttribute("aria-label")}: ${part.tagName} "${part.textContent}" is clipped`);
    }
  }
  if (/NaN|undefined|Infinity|null|\[object/.test(document.querySelector("main").innerHTML)) problem("the page holds NaN, undefined, Infinity or null");
  const svg = document.querySelector("svg"), box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.right - 8, clientY: box.top + 50 }));
  if (document.getElementById("tip").hidden || !/this process: /.test(document.getElementById("tip").textContent)) problem("no tip over a chart");
  svg.dispatchEvent(new PointerEvent("pointerleave"));
  if (!document.getElementById("tip").hidden) problem("the tip stays");
  const choose = (device) => { const select = document.getElementById("device"); select.value = device; select.dispatchEvent(new Event("change")); };
  choose("cpu");
  seen.cpu = all("#gpu tbody tr").length;
  choose("1");
  seen.gpu = all("#gpu tbody tr").map((row) => row.cells[0].textContent).concat(all("#kernel tbody tr").length);
  choose("");
  for (const button of all("#ranges button")) {
    button.click();
    if (!all("svg text").some((t) => t.textContent.startsWith("−"))) problem(`no axis at ${button.textContent}`);
  }
  seen.alerts = all("#alerts li").map((li) => li.textContent);
  root.dataset.probe = JSON.stringify(seen);
}, 50);
</script>
"""


class Probed:
    """The pages of a kolmo process with a probe script in the first; `change` may spoil it; `before` sees each path."""

    def __init__(self, url, change=lambda page: page, before=lambda path: None):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                before(self.path)
                try:
                    body, headers = fetch(url.rstrip("/") + self.path)
                except OSError:  # the process has ended: the browser sees a closed connection, as without this proxy
                    self.close_connection = True
                    return
                if self.path == "/":
                    body = change(body).replace("</body>", PROBE + "</body>")
                self.send_response(200)
                for name in ("Content-Type", "Content-Security-Policy"):
                    self.send_header(name, headers[name])
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def browse(url, size="1240,1300", dark=False, screenshot=None):
    """Opens a page: returns what the probe saw, and the console's messages."""
    with tempfile.TemporaryDirectory() as profile:
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   f"--user-data-dir={profile}", "--enable-logging=stderr", "--v=0", "--hide-scrollbars",
                   "--virtual-time-budget=8000",
                   f"--window-size={size}", f"--screenshot={screenshot}" if screenshot else "--dump-dom", url]
        if dark:
            command.insert(1, "--blink-settings=preferredColorScheme=0")
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    console = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
    found = re.search(r'<html[^>]* data-probe="([^"]*)"', done.stdout.decode("utf-8", "replace"))
    return json.loads(html.unescape(found[1])) if found else None, console


def every_chart_has_a_curve(snapshot):
    """Rates need two readings of an operator, and an operator may come late on a busy machine."""
    rates = [values for series, values in snapshot["curves"]["series"].items() if series.startswith("kolmo_kernel_launches_total")]
    return len(rates) == 2 and all(sum(value is not None for value in values) >= 2 for values in rates)


# Alerts that look at more history than a page has.
ONLY_PROMETHEUS = {"KolmoLatencyObjectiveBurnsFast", "KolmoLatencyObjectiveBurns", "KolmoPoolWillBeFull", "KolmoTunerFlaps", "KolmoGone"}


class Page(unittest.TestCase):
    def test_it_judges_the_alerts_of_the_rules(self):
        sources = Path(__file__).resolve().parents[2]
        rules = {name: text for name, text in re.findall(r"- alert: (\w+)\n(.*?)(?=- alert:|\Z)",
                                                         (sources / "docs/monitoring/rules.yml").read_text(), re.S)}
        script = (sources / "kolmo/monitor/page/monitor.js").read_text()
        page = dict(re.findall(r"^    (Kolmo\w+): \{ (?:after|keep): (\d+)", script, re.M))
        self.assertEqual(set(page) | ONLY_PROMETHEUS, set(rules))
        for name, seconds in page.items():
            if wait := re.search(r"for: (\d+)m", rules[name]):
                self.assertEqual(int(seconds), 60 * int(wait[1]), name)

    def test_under_load(self):
        with Serving("vector_add", "histogram_2d", "--device", "cpu", fake_gpus=True) as served:
            served.snapshot(every_chart_has_a_curve)
            for name, size, dark in (("light", "1240,1700", False), ("dark", "1240,1700", True), ("narrow", "520,2600", False)):
                with self.subTest(name), Probed(served.url) as url:
                    seen, console = browse(url, size, dark)
                    self.assertEqual(console, [])
                    self.assertIsNotNone(seen, "the page did not update twice")
                    self.assertEqual(seen["problems"], [])
                    self.assertEqual(sorted(seen["rows"]), ["histogram_2d", "vector_add"])
                    self.assertTrue(all(seen["curves"]), seen["curves"])
                    self.assertNotIn("–", "".join(seen["tiles"]))
                    self.assertIn("GPUs", seen["headings"])
                    self.assertEqual((seen["cpu"], seen["gpu"]), (0, ["1", 0]), "one device at a time")
                    self.assertTrue(any("held down by thermal" in alert for alert in seen["alerts"]), seen["alerts"])
                if folder := os.environ.get("KOLMO_SCREENSHOTS"):
                    browse(served.url, size, dark, os.path.join(folder, f"{name}.png"))
            # Checks the check: faults must be noticed.
            faults = {"a script that throws": lambda page: page.replace("</body>", "<script>throw new Error('deliberate')</script></body>"),
                      "a script from elsewhere": lambda page: page.replace("</body>", "<script src='http://127.0.0.1:9/x.js'></script></body>"),
                      "an update that fails": lambda page: page.replace('by("tiles").replace', 'by("nowhere").replace')}
            for name, change in faults.items():
                with self.subTest(name), Probed(served.url, change) as url:
                    seen, console = browse(url)
                    self.assertTrue(console or not seen or seen["problems"], f"{name} is not noticed")

    def test_a_process_that_ended_is_said_to_be_gone(self):
        asked = []
        with Serving("--seconds", "600") as served:

            def end_at_the_third_reading(path):
                asked.append(path)
                if len([p for p in asked if p.startswith("/api/")]) == 3:
                    served.process.terminate()
                    served.process.wait()

            with Probed(served.url, before=end_at_the_third_reading) as url, tempfile.TemporaryDirectory() as profile:
                done = subprocess.run(
                    [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     f"--user-data-dir={profile}", "--virtual-time-budget=12000", "--dump-dom", url],
                    capture_output=True, timeout=120, check=False)
        self.assertGreater(len(asked), 3)
        self.assertIn("No answer from the process", done.stdout.decode())


if __name__ == "__main__":
    if not CHROMIUM:
        print("SKIPPED: no Chromium on this machine, the page was not opened in a browser")
        sys.exit(77)
    unittest.main()
