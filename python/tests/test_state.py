# SPDX-License-Identifier: Apache-2.0
"""Values that a session keeps from run to run."""
import numpy as np
import pytest
from onnx_bytes import FLOAT, field, model, node, value

import tengine


def make_sum(shape=(2,)):
    """total = before + x, y = -total; `before` and `total` are a state."""
    bytes_ = model([node("Add", ["before", "x"], ["total"]), node("Neg", ["total"], ["y"])],
                   [value("x", FLOAT, shape), value("before", FLOAT, shape)],
                   [value("y", FLOAT, shape), value("total", FLOAT, shape)])
    return bytes_ + field(14, field(1, "tengine.state.before") + field(2, "total"))


@pytest.mark.parametrize("scheduler", ["sync", "pipeline"])
def test_runs_read_what_the_last_one_left(scheduler):
    """All ways to run; futures come in order although each needs the state before it."""
    x = np.ones(2, np.float32)
    with tengine.Session(make_sum(), options={"scheduler": scheduler}) as session:
        assert [tensor.name for tensor in session.inputs] == ["x"]
        assert [tensor.name for tensor in session.outputs] == ["y"]
        np.testing.assert_array_equal(session(x), [-1, -1])
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], [-2, -2])
        futures = [session.submit(x) for _ in range(10)]
        assert [future.result()[0] for future in futures] == list(range(-3, -13, -1))
        np.testing.assert_array_equal(session.states["before"], [12, 12])
        session.reset_states()
        np.testing.assert_array_equal(session(x), [-1, -1])


def test_states_are_saved_and_restored():
    """Copies continue a stream, also in another session."""
    x = np.ones(2, np.float32)
    with tengine.Session(make_sum()) as first, tengine.Session(make_sum()) as second:
        first(x)
        kept = first.states
        first(x)
        np.testing.assert_array_equal(kept["before"], [1, 1])
        second.states = kept
        np.testing.assert_array_equal(second(x), [-2, -2])
        with first.clone() as other:
            np.testing.assert_array_equal(other.states["before"], [0, 0])
        second.states = {"before": [5, 6]}
        np.testing.assert_array_equal(second(x), [-6, -7])


def test_a_session_without_states():
    """There is nothing to read or reset."""
    bytes_ = model([node("Neg", ["x"], ["y"])], [value("x", FLOAT, (2,))],
                   [value("y", FLOAT, (2,))])
    with tengine.Session(bytes_) as session:
        assert session.states == {}
        session.reset_states()


def test_wrong_states():
    """No state is changed by a dict of which one value is wrong."""
    with tengine.Session(make_sum()) as session:
        for wrong in ({"after": [0, 0]}, {"before": [0, 0, 0]}, {"before": np.zeros(2)}):
            with pytest.raises(ValueError, match="state '"):
                session.states = {"before": np.ones(2, np.float32), **wrong}
        np.testing.assert_array_equal(session.states["before"], [0, 0])
    with pytest.raises(tengine.Error):
        session.states


def test_states_without_shapes():
    """The shapes of inputs are needed first."""
    with tengine.Session(make_sum(("n",))) as session:
        with pytest.raises(tengine.Error):
            session.states
