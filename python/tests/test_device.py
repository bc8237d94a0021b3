# SPDX-License-Identifier: Apache-2.0
"""Devices that are classes in Python."""
import subprocess
import sys

import numpy as np
import pytest
from conftest import DIGITS, make_pictures
from onnx_bytes import FLOAT, model, node, tensor, value
from test_suite import FOLDERS, run_folder

import tengine

FUNCTIONS = {
    "Abs": np.abs, "Add": np.add, "Exp": np.exp, "Mul": np.multiply, "Neg": np.negative,
    "Relu": lambda x: np.maximum(x, 0), "Sub": np.subtract, "Transpose": None,
}
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)


class Interpreter(tengine.Device):
    """Computes a part node by node."""

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
        """The nodes as functions."""
        return [(node.op, node.attribute("perm"), [(i.name, i.value) for i in node.inputs],
                 node.outputs[0].name) for node in part.nodes]

    def run(self, part, inputs):
        """All values by name."""
        values = dict(inputs)
        for op, order, operands, result in part.state:
            arrays = [values[name] if constant is None else constant
                      for name, constant in operands]
            function = FUNCTIONS[op] or (lambda x, order=order: x.transpose(order))
            values[result] = np.asarray(function(*arrays))
        return {name: np.ascontiguousarray(values[name]) for name in part.outputs}


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


def test_a_scalar_of_numpy_is_a_result(device):
    """Functions of numpy return one for arrays without dimensions."""
    source = model([node("Relu", ["x"], ["y"], "relu")], [value("x", FLOAT, [])],
                   [value("y", FLOAT, [])])
    device.run = lambda part, inputs: [np.maximum(inputs["x"], np.float32(0))]
    with tengine.Session(source, devices=["PYTHON"],
                         options={"split.fail_on_fallback": 1}) as session:
        assert session(np.array(3, np.float32)) == 3
        assert session(np.array(-3, np.float32)) == 0


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
    with pytest.raises(tengine.Error):
        first.unregister()
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
