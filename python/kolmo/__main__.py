"""The command kolmo: ``python -m kolmo`` and the script that the package installs."""
import os
import signal
import sys

from kolmo._kolmo import command


def main() -> None:
    """Runs the command with the arguments of this process and exits with its status, as the program kolmo does."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it by default
    os.environ.setdefault("KOLMO_PYTHON", sys.executable)  # the interpreter for what the command runs in Python
    sys.exit(command(sys.argv[1:]))


if __name__ == "__main__":
    main()
