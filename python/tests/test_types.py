# SPDX-License-Identifier: Apache-2.0
"""The type stubs: they agree with the package, and mypy finds mistakes of a program."""
import importlib.util
import os
import subprocess
import sys

import pytest
from conftest import ROOT

if importlib.util.find_spec("mypy") is None:
    pytest.skip("no mypy (Debian: python3-mypy)", allow_module_level=True)

PROGRAM = """
import numpy as np
import tengine

session = tengine.Session("net.onnx", devices=["TPU", ("CPU", {"kernels": "fast"})], threads=2)
result = session(np.zeros((1, 3), np.float32), mask=[1, 2])
report: tengine.Report = session.report()
names: list[str] = [node.name for node in report.nodes]

@tengine.custom_op("com.example", "Atan", shapes=lambda infos, attributes: [((2, 3), np.float32)])
def atan(inputs, attributes):  # type: ignore[no-untyped-def]
    return [np.arctan(inputs[0])]

class Own(tengine.Device):
    name = "OWN"
    def run(self, part: tengine.DevicePart, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [np.maximum(x, 0) for x in inputs.values()]

Own().register()
"""
MISTAKES = {
    'tengine.Session("net.onnx", thread=2)': "Unexpected keyword argument",
    'tengine.Session("net.onnx", threads="2")': "incompatible type",
    'tengine.Session("net.onnx").no_report()': 'has no attribute "no_report"',
    'tengine.set_log_level(3)': "incompatible type",
    'tengine.options()["x"].key': "has no attribute",
}


def check(folder, text):
    """The output of mypy for a program."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(folder / "cache"),
                           str(path)], capture_output=True, text=True, check=False,
                          env={**os.environ, "MYPYPATH": str(ROOT / "python")})
    return done.stdout


def test_programs(tmp_path):
    """A right program has no error, and each mistake one."""
    assert "no issues found" in check(tmp_path, PROGRAM)
    text = "import tengine\n" + "".join(f"{line}\n" for line in MISTAKES)
    lines = check(tmp_path, text).splitlines()
    for number, message in enumerate(MISTAKES.values(), 2):
        assert any(f":{number}: error" in line and message in line for line in lines), lines


def test_stubs_agree_with_the_package(tmp_path):
    """Names, arguments and defaults."""
    allowed = tmp_path / "allowed"
    # A package that may be absent, and a loop of the module.
    allowed.write_text("tengine\\._types\\.(ml_dtypes|_bits)\n", encoding="utf-8")
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-missing-stub",
         "--ignore-unused-allowlist", "--allowlist", str(allowed),
         "--mypy-config-file", str(settings), "tengine"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "python")})
    assert done.returncode == 0, done.stdout + done.stderr
