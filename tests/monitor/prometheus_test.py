"""A real Prometheus scrapes a running load with the committed rules and configuration, and is asked about it."""
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
from pathlib import Path

from serving import Serving, fetch

DOCS = Path(__file__).resolve().parents[2] / "docs" / "monitoring"


def promtool(*arguments, stdin=None):
    done = subprocess.run(["promtool", *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


class Files(unittest.TestCase):
    def test_rules_fire_when_they_should(self):
        status, said = promtool("test", "rules", DOCS / "rules_test.yml")
        self.assertEqual(status, 0, said)

    def test_every_rule_is_tested(self):
        alerts = [line.split()[-1] for line in (DOCS / "rules.yml").read_text().splitlines() if "alert:" in line]
        tested = (DOCS / "rules_test.yml").read_text()
        self.assertGreater(len(alerts), 10)
        self.assertEqual([a for a in alerts if f"alertname: {a}" not in tested], [])

    def test_configuration(self):
        status, said = promtool("check", "config", DOCS / "prometheus.yml")
        self.assertEqual(status, 0, said)

    def test_dashboard_stands_alone(self):
        dashboard = json.loads((DOCS / "dashboard.json").read_text())
        kinds = {panel["type"] for panel in dashboard["panels"]}
        self.assertLessEqual(kinds, {"timeseries", "stat", "table", "heatmap"})
        for panel in dashboard["panels"]:
            self.assertEqual(panel["datasource"]["uid"], "${datasource}")
            self.assertTrue(panel["title"] and panel["targets"])
        self.assertEqual(len({p["id"] for p in dashboard["panels"]}), len(dashboard["panels"]))

    def test_documented_metrics_are_those_in_use(self):
        """Rules and dashboard ask for no metric that the reference does not list."""
        listed = set(re.findall(r"`(kolmo_\w+)", (DOCS / "README.md").read_text()))
        for name in ("rules.yml", "dashboard.json"):
            asked = set(re.findall(r"kolmo_\w+", (DOCS / name).read_text()))
            asked = {re.sub(r"_(bucket|count|sum)$", "", metric) for metric in asked}
            self.assertEqual(asked - listed, set(), name)


class Prometheus(unittest.TestCase):
    def query(self, expression):
        answer = json.loads(fetch(self.server + "api/v1/query?" + urllib.parse.urlencode({"query": expression}))[0])
        return [(r["metric"], float(r["value"][1])) for r in answer["data"]["result"]]

    def wait_for(self, expression, condition=lambda values: values, seconds=90):
        end = time.monotonic() + seconds
        while True:
            values = self.query(expression)
            if condition(values):
                return values
            self.assertLess(time.monotonic(), end, f"{expression} is {values} after {seconds} s")
            time.sleep(0.5)

    def wait_until_ready(self, process, seconds=60):
        end = time.monotonic() + seconds
        while True:
            self.assertIsNone(process.poll(), "prometheus ended")
            try:
                fetch(self.server + "-/ready")
                return
            except OSError:
                self.assertLess(time.monotonic(), end, "prometheus is not ready")
                time.sleep(0.2)

    def test_a_running_load(self):
        with tempfile.TemporaryDirectory() as folder, Serving("histogram_2d", "--device", "cpu") as served:
            served.snapshot(lambda s: s["kernel"])
            status, said = promtool("check", "metrics", stdin=fetch(served.url + "metrics")[0])
            self.assertEqual((status, said), (0, ""))

            config = (DOCS / "prometheus.yml").read_text().replace("127.0.0.1:9750", served.url[7:-1])
            config = config.replace("scrape_interval: 5s", "scrape_interval: 1s").replace("interval: 15s", "interval: 1s")
            (Path(folder) / "prometheus.yml").write_text(config)
            shutil.copy(DOCS / "rules.yml", folder)
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                address = f"127.0.0.1:{free.getsockname()[1]}"
            self.server = f"http://{address}/"
            process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml",
                                        f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"],
                                       stderr=subprocess.DEVNULL)
            try:
                self.wait_until_ready(process)
                p99 = self.wait_for(
                    'histogram_quantile(0.99, sum by (le, kernel) (rate(kolmo_kernel_duration_seconds_bucket[30s])))',
                    lambda values: values and values[0][1] == values[0][1])
                self.assertEqual(p99[0][0], {"kernel": "histogram_2d"})
                own = served.snapshot()["kernel"][0]["duration_seconds"]["1m"]
                self.assertGreater(p99[0][1], own["p50"] / 10)
                busy = self.wait_for('rate(kolmo_kernel_busy_seconds_total{kernel="histogram_2d"}[30s])')
                self.assertTrue(0 < busy[0][1] < 1.1, busy)
                for scope in ("process", "machine"):
                    ratio = self.wait_for(f'kolmo_cpu_busy_ratio{{scope="{scope}"}}')
                    self.assertTrue(0 < ratio[0][1] <= 1, ratio)
                self.assertEqual(self.wait_for('up{job="kolmo"}')[0][1], 1)
                rules = json.loads(fetch(self.server + "api/v1/rules")[0])["data"]["groups"][0]["rules"]
                self.assertIn("KolmoPoolNearLimit", {rule["name"] for rule in rules})
                self.wait_for_health(rules)
            finally:
                process.kill()
                process.wait()

    def wait_for_health(self, rules):
        """Every rule, the alert on memory among them, can be evaluated on what a process exports."""
        end = time.monotonic() + 60
        while any(rule["health"] != "ok" for rule in rules):
            self.assertLess(time.monotonic(), end, [r for r in rules if r["health"] != "ok"])
            time.sleep(0.5)
            rules = json.loads(fetch(self.server + "api/v1/rules")[0])["data"]["groups"][0]["rules"]
        self.assertEqual({r["health"] for r in rules}, {"ok"})


if __name__ == "__main__":
    if not (shutil.which("prometheus") and shutil.which("promtool")):
        print("SKIPPED: no Prometheus on this machine (Debian package prometheus); nothing was scraped")
        sys.exit(77)
    unittest.main()
