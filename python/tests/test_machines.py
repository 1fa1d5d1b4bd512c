"""What a process of Python does around Kolmo: it ends, forks, sets a locale, runs out of file descriptors."""
import os
import shutil
import subprocess
import sys

import pytest


def run(program, *arguments, seconds=120, **environment):
    return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=seconds, check=False,
                          env={**os.environ, **environment})


CALLS = {
    "operator": "kolmo.matmul(x, x)",
    "short operator": "kolmo.softmax(x[:3])",
    "short analysis": "kolmo.mutual_information(x[:50, 0], x[:50, 1])",
    "analysis": "kolmo.mutual_information(x[:, 0], x[:, 1], surrogates=200)",
    "network": "kolmo.TransferEntropyNetwork(max_lag=2, surrogates=500, progress=lambda done, total: None).fit(x[:, :4])",
    "forecast": "kolmo.predict.forecast({'loss': 1 + x[0]}, horizon=20)",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_daemon_thread_in_a_call_does_not_disturb_the_end(call):
    program = f"""
import threading, time, kolmo, numpy as np
x = np.random.default_rng(0).random((700, 700))
begun = threading.Event()
def work():
    while True:
        begun.set()
        {CALLS[call]}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.3)
print("end", flush=True)
"""
    for _ in range(5):
        done = run(program)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", ""), done


def test_the_thread_that_ends_python_may_go_on_calling():
    program = """
import atexit, kolmo, numpy as np
class Last:
    def __del__(self):
        print(kolmo.softmax(np.zeros(2)), flush=True)
last = Last()
atexit.register(lambda: print("bye", kolmo.softmax(np.zeros(2))))
"""
    done = run(program)
    assert done.returncode == 0 and "bye [0.5 0.5]" in done.stdout, done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_does_not_keep_the_port():
    program = """
import os, time, kolmo
server = kolmo.monitor.serve("127.0.0.1:0")
address = server.url[len("http://"):-1]
child = os.fork()
if not child:
    time.sleep(0 if FAST else 5)
    raise SystemExit(7)
server.close()
again = kolmo.monitor.serve(address)
assert again.url == server.url
again.close()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    for fast in (True, False):
        done = run(f"FAST = {fast}" + program)
        assert (done.returncode, done.stdout) == (0, "7\n"), done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_ends_without_the_calls_of_other_threads():
    program = """
import os, threading, time, kolmo, numpy as np
x = np.random.default_rng(0).random((2000, 4))
begun = threading.Event()
threading.Thread(target=lambda: kolmo.TransferEntropyNetwork(
    max_lag=2, surrogates=5000, progress=lambda done, total: begun.set()).fit(x), daemon=True).start()
begun.wait()
child = os.fork()
if not child:
    raise SystemExit(7)
begin = time.monotonic()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - begin)
os._exit(0)
"""
    done = run(program)
    code, seconds = done.stdout.split()
    assert code == "7" and float(seconds) < 0.9, done  # the end waits a second for calls under way


def test_the_server_answers_again_after_file_descriptors_ran_out():
    program = """
import os, resource, socket, sys, time, urllib.request, kolmo
server = kolmo.monitor.serve("127.0.0.1:0")
read = lambda: urllib.request.urlopen(server.url + "metrics", timeout=20).read()
read()
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
port = int(server.url.rsplit(":", 1)[1][:-1])
held = []
idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(int(sys.argv[1]))]
waiting = [socket.socket() for _ in range(3)]
time.sleep(0.2)
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
for s in waiting:
    s.connect(("127.0.0.1", port))
begin, used = time.monotonic(), time.process_time()
time.sleep(2)
busy = (time.process_time() - used) / (time.monotonic() - begin)
for s in waiting + idle:
    s.close()
for fd in held:
    os.close(fd)
assert b"kolmo_build_info" in read()
for _ in range(20):
    read()
print(busy < 0.3)
"""
    for idle in (0, 1, 3):
        done = run(program, idle)
        assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", ""), done


@pytest.mark.skipif(not shutil.which("localedef"), reason="there is no localedef")
def test_the_locale_of_the_process_changes_nothing(tmp_path):
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True, text=True,
                          check=False)
    if made.returncode:
        pytest.skip(f"no locale can be made: {made.stderr}")
    program = """
import json, locale, sys, kolmo, numpy as np
if sys.argv[1] == "german":
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.localeconv()["decimal_point"] == ","
x = np.random.default_rng(0).random((60, 62))
net = kolmo.TransferEntropyNetwork(max_lag=1, surrogates=19, estimator="gaussian", alpha=0.05, random_state=3)
result = net.fit(x)
document = result.to_dict()
document.pop("date", None)
print(json.dumps(document))
result.report(sys.argv[2])
print(kolmo.transfer_entropy(x[:, 0], x[:, 1], noise=0.25, surrogates=19, random_state=1))
help(kolmo.TransferEntropyNetwork)
"""
    seen = []
    for language in ("none", "german"):
        report = tmp_path / "report.html"
        done = run(program, language, report, LOCPATH=str(tmp_path))
        assert done.returncode == 0, done.stderr
        seen.append((done.stdout, report.read_text(encoding="utf-8")))
    assert seen[0] == seen[1]
    assert "0.05" in seen[0][0]
