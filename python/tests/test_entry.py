# SPDX-License-Identifier: Apache-2.0
"""Entries of a model: sessions that share a state."""
import numpy as np
import pytest
from onnx_bytes import FLOAT, field, model, node, value

import tengine


def make_step(op):
    """now = before op x, y = -now; `before` and `now` are a state."""
    bytes_ = model([node(op, ["before", "x"], ["now"]), node("Neg", ["now"], ["y"])],
                   [value("x", FLOAT, (2,)), value("before", FLOAT, (2,))],
                   [value("y", FLOAT, (2,)), value("now", FLOAT, (2,))])
    return bytes_ + field(14, field(1, "tengine.state.before") + field(2, "now"))


@pytest.fixture(name="path", params=["both.tmfile", "both.tflite"])
def make_file(tmp_path, request):
    """A file with the entries "add" and "multiply"."""
    path = tmp_path / request.param
    with tengine.Session(make_step("Add")) as add, tengine.Session(make_step("Mul")) as multiply:
        tengine.join_entries({"add": add, "multiply": multiply})
        assert multiply.entries == ["add", "multiply"]
        np.testing.assert_array_equal(add(np.float32([3, 4])), [-3, -4])
        np.testing.assert_array_equal(multiply(np.float32([2, 2])), [-6, -8])
        multiply.graph.save(path)
    return path


def test_entries_share_a_state(path):
    """One writes what the other reads, in any order of closing."""
    two = np.float32([2, 2])
    add = tengine.Session(path)
    multiply = add.open_entry("multiply")
    np.testing.assert_array_equal(add(two), [-2, -2])
    np.testing.assert_array_equal(multiply(two), [-4, -4])
    np.testing.assert_array_equal(add.states["before"], [4, 4])
    add.states = {"before": [1, 2]}
    add.close()
    np.testing.assert_array_equal(multiply(two), [-2, -4])
    with multiply.open_entry("add") as again, multiply.clone() as other:
        np.testing.assert_array_equal(again(two), [-4, -6])
        np.testing.assert_array_equal(other.states["before"], [0, 0])
    multiply.close()


def test_options_choose_an_entry(path):
    """And sessions that are loaded again are of the same entry."""
    with tengine.Session(path, options={"model.entry": "multiply"}) as session:
        assert session.entries == ["add", "multiply"]
        np.testing.assert_array_equal(session(np.float32([2, 2])), [0, 0])
    with tengine.Session(path) as add, add.open_entry("multiply") as session:
        report = session.place(["CPU"])
        assert "Mul" in {placed.op for placed in report.nodes}
    with pytest.raises(tengine.NoSuchObjectError, match="expected 'add', 'multiply'"):
        tengine.Session(path, options={"model.entry": "third"})


def test_wrong_entries(path):
    """Names that do not exist, and values that are no graphs."""
    with tengine.Session(path) as add:
        with pytest.raises(tengine.NoSuchObjectError):
            add.open_entry("third")
        with pytest.raises(TypeError, match="expected a Graph or a Session"):
            tengine.join_entries({"add": add, "other": path})
        with pytest.raises(tengine.Error):
            tengine.join_entries({})
    with tengine.Session(make_step("Add")) as alone:
        assert alone.entries == []
