"""The command that the package installs behaves like the program: output, exit status, signals, closed pipes."""
import os
import shutil
import signal
import subprocess
import sys
import sysconfig

import pytest

import kolmo

COMMAND = [sys.executable, "-m", "kolmo"]


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)


def test_it_runs_and_says_its_version():
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"kolmo {kolmo.__version__} (")


def test_it_prints_what_the_program_prints():
    program = os.environ.get("KOLMO_COMMAND")
    if not program:
        pytest.skip("KOLMO_COMMAND does not name the program")
    for arguments in (["list"], ["info", "softmax"], ["--help"], ["te"], ["list", "--colour"]):
        here = run(*arguments)
        there = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)


def test_errors_have_the_exit_status_of_the_program(tmp_path):
    wrong = run("nonsense")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("kolmo: there is no command 'nonsense'")
    file = tmp_path / "d.csv"
    file.write_text("a,b\n1,2\n")
    few = run("te", str(file), "--source", "0", "--target", "1")
    assert few.returncode == 2
    assert "rows are too few" in few.stderr


def test_arguments_arrive_as_they_are(tmp_path):
    name = str(tmp_path / "naïve file.csv")
    assert name in run("te", name, "--source", "0", "--target", "1", env=os.environ | {"PYTHONUTF8": "1"}).stderr


def test_a_closed_pipe_ends_it_silently():
    with subprocess.Popen([*COMMAND, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait(120) in (-signal.SIGPIPE, 0)  # 0 if all of it went into the pipe before
        assert process.stderr.read() == b""


def test_ctrl_c_ends_it_by_the_signal():
    with subprocess.Popen([*COMMAND, "bench", "vector_add", "--device", "cpu", "--samples", "10000"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()  # the line with the device: it has started
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert "kolmo: interrupted" in errors
    assert "Traceback" not in errors


def test_the_script_is_installed():
    script = shutil.which("kolmo", path=sysconfig.get_path("scripts"))
    if not script:
        pytest.skip("the package is not installed here: it comes from a build tree")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == run("--version").stdout


def test_importing_it_warns_of_nothing():
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", "import kolmo; print(kolmo.__version__)"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
