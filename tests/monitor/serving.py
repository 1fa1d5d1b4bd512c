"""Runs `kolmo serve` for the tests of this folder: python3 xxx_test.py KOLMO FOLDER_OF_FAKE_NVML."""
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request

FAKE_NVML = sys.argv.pop()
KOLMO = sys.argv.pop()


def fetch(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode(), answer.headers


class Serving:
    """A kolmo process that serves its metrics at `self.url` until the with-block ends."""

    def __init__(self, *arguments, command="serve", fake_gpus=False, environment=()):
        environment = {**os.environ, **dict(environment)}
        if fake_gpus:
            environment["LD_LIBRARY_PATH"] = FAKE_NVML + ":" + environment.get("LD_LIBRARY_PATH", "")
        self.process = subprocess.Popen([KOLMO, command, *arguments, "--metrics", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        for line in self.process.stderr:
            if found := re.search(r"metrics at (http://\S+)", line):
                self.url = found[1]
                break
        else:
            raise RuntimeError(f"kolmo {command} ended with status {self.process.wait()}")
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()

    def snapshot(self, condition=lambda s: True, seconds=60):
        """Waits for the first snapshot that fulfils the condition."""
        end = time.monotonic() + seconds
        while True:
            snapshot = json.loads(fetch(self.url + "api/v1/snapshot?curves=1")[0])
            if condition(snapshot):
                return snapshot
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {json.dumps(snapshot)[:2000]}")
            time.sleep(0.2)
