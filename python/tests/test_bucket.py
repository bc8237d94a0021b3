# SPDX-License-Identifier: Apache-2.0
"""Shapes in which smaller inputs run."""
import numpy as np
import pytest
from onnx_bytes import FLOAT, model, node, value

import tengine


def make_softmax():
    """y = Softmax(x) of rows."""
    return model([node("Softmax", ["x"], ["y"])], [value("x", FLOAT, ("n", 3))],
                 [value("y", FLOAT, ("n", 3))])


@pytest.mark.parametrize("scheduler", ["sync", "pipeline"])
def test_smaller_inputs_run_in_a_bucket(scheduler):
    """The results are those of a session without buckets, and so are their shapes."""
    options = {"scheduler": scheduler}
    with tengine.Session(make_softmax(), options=options) as session, \
            tengine.Session(make_softmax()) as plain:
        session.add_bucket({"x": (4, 3)})
        session.add_bucket({"x": [8, 3]})
        assert session.buckets == ["x=4x3", "x=8x3"]
        for rows, bucket in [(3, 0), (4, 0), (7, 1), (1, 0), (9, None)]:
            x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) % 5
            np.testing.assert_array_equal(session(x), plain(x))
            assert session.bucket[0] == bucket
            if rows in (3, 7, 1):
                assert f"input 'x' of {rows}x3 is padded to" in session.bucket[1]
        futures = [session.submit(x[:rows]) for rows in (2, 5, 2)]
        for future, rows in zip(futures, (2, 5, 2)):
            np.testing.assert_array_equal(future.result(), plain(x[:rows]))


def test_clones_have_them():
    """They are the model's."""
    with tengine.Session(make_softmax()) as session:
        session.add_bucket({"x": (4, 3)})
        with session.clone() as other:
            assert other.buckets == ["x=4x3"]


def test_wrong_buckets():
    """The session stays as it is."""
    with tengine.Session(make_softmax()) as session:
        for shapes in [{"q": (4, 3)}, {"x": (4,)}, {"x": (0, 3)}, {}]:
            with pytest.raises(ValueError):
                session.add_bucket(shapes)
        assert session.buckets == []
        session(np.ones((2, 3), np.float32))
        assert session.bucket == (None, "")
