# SPDX-License-Identifier: Apache-2.0
"""Where programs and networks are, and how they are run."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
NETWORKS = os.environ["NETWORKS"]
PROGRAMS = pathlib.Path(os.environ["TENGINE_PROGRAMS"])
SANITIZED = "TENGINE_SANITIZED" in os.environ

only_unsanitized = pytest.mark.skipif(SANITIZED, reason="it takes long with a sanitizer")
needs_package = pytest.mark.skipif("TENGINE_LIBRARY" not in os.environ,
                                   reason="the Python package is not built")


def run(program, *arguments, **options):
    """The output of a program that succeeds."""
    done = subprocess.run([str(PROGRAMS / program), *map(str, arguments)], capture_output=True,
                          **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def run_python(program, *arguments, **options):
    """The output of the example in Python, which succeeds."""
    path = ROOT / "examples" / "python" / f"{program}.py"
    done = subprocess.run([sys.executable, str(path), *map(str, arguments)], capture_output=True,
                          **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def refuses(program, *arguments, **options):
    """The last line that a program that fails prints, on standard error only."""
    done = subprocess.run([str(PROGRAMS / program), *map(str, arguments)], capture_output=True,
                          **options)
    assert done.returncode == 1, done
    assert done.stdout == b""
    return done.stderr.decode().splitlines()[-1]


def run_page(page, folder):
    """Runs the commands of a page in a folder; the programs and python3 are on the path."""
    interpreter = folder / "bin" / "python3"
    interpreter.parent.mkdir()
    interpreter.symlink_to(sys.executable)
    (folder / "examples").symlink_to(ROOT / "examples")
    path = f"{interpreter.parent}:{PROGRAMS}:{os.environ['PATH']}"
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        subprocess.run(["sh", "-euc", block], cwd=folder, check=True,
                       env={**os.environ, "PATH": path})
