# SPDX-License-Identifier: Apache-2.0
"""Devices that are classes in Python."""
import ctypes
import os
import re
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
from conftest import DIGITS, ROOT, make_pictures
from onnx_bytes import FLOAT, model, node, tensor, value
from test_suite import FOLDERS, run_folder

import tengine

FUNCTIONS = {
    "Abs": np.abs, "Add": np.add, "Exp": np.exp, "Mul": np.multiply, "Neg": np.negative,
    "Relu": lambda x, out: np.maximum(x, x.dtype.type(0), out), "Sub": np.subtract,
    "Transpose": None,
}
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)


class Interpreter(tengine.Device):
    """Computes a part node by node, in memory of its own."""

    name = "PYTHON"
    operators = list(FUNCTIONS)
    types = ("fp32", "fp64", "int32", "int64")
    seen = ()

    def inspect(self, node):
        """Refuses one form of Transpose."""
        self.seen = (*self.seen, node.op)
        if node.op == "Transpose" and node.attribute("perm") == [0, 1]:
            return tengine.Refuse("it moves nothing", attribute="perm", value="[0,1]")
        return None

    def compile(self, part):
        """The nodes as functions, their constants, and memory for the results."""
        steps = []
        for step in part.nodes:
            order = step.attribute("perm")
            function = FUNCTIONS[step.op] or (
                lambda x, out, order=order: np.copyto(out, x.transpose(order)))
            result = step.outputs[0]
            steps.append((function, [(i.name, i.value) for i in step.inputs], result.name,
                          np.empty(result.shape, result.dtype)))
        return steps

    def run(self, part, inputs):
        """All values by name."""
        values = dict(inputs)
        for function, operands, name, result in part.state:
            function(*[values[operand] if constant is None else constant
                       for operand, constant in operands], result)
            values[name] = result
        return {name: values[name] for name in part.outputs}


@pytest.fixture
def device():
    """The device, registered for one test."""
    made = Interpreter()
    made.register()
    yield made
    made.unregister()
    assert "PYTHON" not in tengine.devices()


SOURCE = model([node("Add", ["x", "k"], ["a"], "add"), node("Relu", ["a"], ["b"], "relu"),
                node("Transpose", ["b"], ["c"], "turn", perm=[1, 0]),
                node("Softmax", ["c"], ["d"], "softmax"),
                node("Transpose", ["d"], ["y"], "stay", perm=[0, 1])],
               [value("x", FLOAT, ["n", 3])], [value("y", FLOAT, None)],
               [tensor("k", np.array([1, 2, 3], np.float32))])


def test_placement_and_results(device):
    """The split gives it its nodes, and the results are those of the CPU."""
    with tengine.Session(SOURCE) as session:
        expected = [session(np.resize(X, (number, 3))) for number in (2, 5, 2)]
    with tengine.Session(SOURCE, devices=["PYTHON"]) as session:
        for number, result in zip((2, 5, 2), expected):
            np.testing.assert_allclose(session(np.resize(X, (number, 3))), result, rtol=1e-6)
        report = session.report()
    devices = {entry.name: entry.device for entry in report.nodes}
    assert devices["add"] == devices["relu"] == devices["turn"] == "PYTHON"
    assert devices["softmax"] == "CPU"
    assert "Add" in device.seen and "Softmax" not in device.seen


def test_refusals_are_in_the_report(device):
    """The message, the attribute and its value."""
    source = model([node("Transpose", ["x"], ["r"], "stay", perm=[0, 1]),
                    node("Transpose", ["r"], ["y"], "turn", perm=[1, 0])],
                   [value("x", FLOAT, [2, 3])], [value("y", FLOAT, None), value("r", FLOAT, None)])
    with tengine.Session(source, devices=["PYTHON"]) as session:
        y, _ = session(X)
        np.testing.assert_array_equal(y, X.T)
        refused = [refusal for entry in session.report().nodes for refusal in entry.refused]
    for refusal in refused:
        assert (refusal.device, refusal.code, refusal.attribute, refusal.value,
                refusal.message) == ("PYTHON", "attribute", "perm", "[0,1]", "it moves nothing")


@pytest.mark.parametrize("fault", [
    lambda part, inputs: 1 / 0, lambda part, inputs: [], lambda part, inputs: None,
    lambda part, inputs: [np.zeros((2, 2), np.float32)], lambda part, inputs: ["text"],
    lambda part, inputs: [np.zeros((2, 3))],
    lambda part, inputs: vars(part).update(kept=dict(inputs)) or list(inputs.values()),
    lambda part, inputs: next(iter(inputs.values())).__setitem__(0, 0),
])
def test_a_run_that_fails_is_done_by_the_cpu(device, fault):
    """As of any device; and an error where that is forbidden."""
    source = model([node("Relu", ["x"], ["y"], "relu")], [value("x", FLOAT, [2, 3])],
                   [value("y", FLOAT, [2, 3])])
    device.run = fault
    with tengine.Session(source, devices=["PYTHON"]) as session:
        np.testing.assert_array_equal(session(X), np.maximum(X, 0))
        assert session.report().parts[0].redone == 1
    with tengine.Session(source, devices=["PYTHON"],
                         options={"split.fail_on_fallback": 1}) as session:
        with pytest.raises(tengine.Error):
            session(X)


@pytest.mark.parametrize("entry", ["inspect", "compile"])
def test_other_failures_leave_the_nodes_to_the_cpu(device, entry):
    """An exception in inspect or compile."""
    def fail(*unused):
        raise ValueError("not today")

    setattr(device, entry, fail)
    with tengine.Session(SOURCE, devices=["PYTHON"]) as session:
        session(X)
        assert {node.device for node in session.report().nodes} == {"CPU"}
        messages = [refusal.message for node in session.report().nodes for refusal in node.refused]
    assert any("not today" in message for message in messages)


def test_the_suite_on_the_device(device):
    """Tests of the ONNX project whose node the device takes."""
    if not FOLDERS[0].exists():
        pytest.skip(f"{FOLDERS[0]} does not exist")
    names = ("abs", "add", "exp", "mul", "neg", "relu", "sub", "transpose")
    folders = [path.parent for name in names
               for path in sorted(FOLDERS[0].glob(f"test_{name}*/model.onnx"))]
    assert len(folders) > 15
    taken = 0
    for folder in folders:
        report = run_folder(folder, devices=["PYTHON"], options={"split.prune": 0})
        taken += any(node.device == "PYTHON" for node in report.nodes)
    assert taken >= 15


def test_registration():
    """Names, types and order."""
    class Nameless(tengine.Device):
        """No name."""

    for wrong in (Nameless(), type("Taken", (tengine.Device,), {"name": "CPU"})()):
        with pytest.raises(tengine.Error):
            wrong.register()
        with pytest.raises(tengine.Error, match="not registered"):
            wrong.unregister()
    first = Interpreter()
    first.register()
    with pytest.raises(tengine.Error):
        Interpreter().register()
    session = tengine.Session(DIGITS, devices=["PYTHON"])
    session(make_pictures(1))
    with pytest.raises(tengine.Error) as refusal:
        first.unregister()
    assert refusal.value.name == "TENGINE_ESTATE"
    assert str(refusal.value).startswith("device 'PYTHON' is in use: a graph uses it")
    session(make_pictures(1))
    session.close()
    first.unregister()


def test_exit_with_a_device():
    """The interpreter ends with a device registered, in use or not."""
    program = """
import numpy as np, tengine
class Own(tengine.Device):
    name = "OWN"
    operators = ["Relu"]
    def run(self, part, inputs):
        return [np.maximum(x, 0) for x in inputs.values()]
Own().register()
session = tengine.Session(%r, devices=["OWN"])
session(np.zeros((1, 1, 8, 8), np.float32))
graph = tengine.Graph.open(%r, devices=["OWN"])
assert any(node.device == "OWN" for node in session.report().nodes)
""" % (str(DIGITS), str(DIGITS))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def verify(tool, tmp_path):
    """Writes a module that registers a device, and runs the commands of docs/python.md that verify
    it; their output."""
    python = sysconfig.get_config_var("INSTSONAME")
    try:
        ctypes.CDLL(python)
    except OSError:
        pytest.skip(f"no {python} (Debian: libpython3-dev)")

    def run(module, device):
        page = (ROOT / "docs" / "python.md").read_text()
        commands = re.search("```sh\n([^`]*device_plugin.c[^`]*)```", page)[1]
        (tmp_path / "rectifier.py").write_text(module)
        paths = [ROOT / "python", os.path.dirname(__file__)]
        environment = {**os.environ, "TENGINE": str(ROOT), "CFLAGS": "-Wall -Wextra -Werror",
                       "PATH": os.pathsep.join(map(os.path.dirname, (tool, sys.executable))) +
                       os.pathsep + os.environ["PATH"],
                       "PYTHONPATH": os.pathsep.join(map(str, paths))}
        done = subprocess.run(["sh", "-eu", "-c", commands.replace("RECTIFIER", device)],
                              cwd=tmp_path, env=environment, timeout=200, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    return run


def count_checks(output):
    """The last lines of the program: passed, failed and skipped by check."""
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +(\d+)$", output, re.MULTILINE)
    return {name: tuple(map(int, counts)) for name, *counts in rows}


def test_verify(verify):
    """A device in Python passes the program that verifies devices."""
    counts = count_checks(verify("import test_device; test_device.Interpreter().register()",
                                 "PYTHON"))
    assert counts["values"][0] >= 400
    assert all(failed == 0 for _, failed, _ in counts.values())
    for check in ("allocation", "async", "determinism", "memory", "misuse", "races", "reshape",
                  "threads"):
        assert counts[check][0] >= 30, check


def test_verify_the_device_of_the_page(verify):
    """So does that of docs/python.md."""
    page = (ROOT / "docs" / "python.md").read_text()
    source = re.search("^class Rectifier.*?(?=^with)", page, re.DOTALL | re.MULTILINE)[0]
    counts = count_checks(verify(f"import numpy as np, tengine\n{source}", "RECTIFIER"))
    assert counts["allocation"] == (1, 0, 0)
    assert all(failed == 0 for _, failed, _ in counts.values())
