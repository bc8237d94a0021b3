# SPDX-License-Identifier: Apache-2.0
"""Operators that functions in Python compute."""
import gc

import numpy as np
import pytest
from onnx_bytes import FLOAT, INT64, model, node, tensor, value

import tengine

DOMAIN = "com.example"
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)


def make_model(op, outputs=("y",), inputs=("x",), types=None, **attributes):
    """One node of the domain between an input of 2x3 and its outputs."""
    return model([node("Relu", ["x"], ["r"]),
                  node(op, ["r" if name == "x" else name for name in inputs], outputs, "node",
                       DOMAIN, **attributes)],
                 [value("x", FLOAT, ["n", 3])],
                 [value(name, kind, None) for name, kind in
                  zip(outputs, types or [FLOAT] * len(outputs))],
                 [tensor("k", np.array([2], np.int64))], domains=[DOMAIN])


@pytest.fixture
def register():
    """custom_op for one test."""
    made = []

    def decorate(name, **arguments):
        def inner(function):
            made.append(tengine.custom_op(DOMAIN, name, **arguments)(function))
            return made[-1]
        return inner

    yield decorate
    gc.collect()
    for operator in made:
        operator.unregister()


def test_attributes_and_results(register):
    """Attributes of all kinds, and the function itself."""
    seen = {}

    @register("Scale")
    def scale(inputs, attributes):
        seen.update(attributes)
        return [inputs[0] * attributes["factor"]]

    attributes = {"factor": 2.5, "count": -7, "large": 2**30, "text": "a é",
                  "list": [1, -2, 300], "one": [5]}
    with tengine.Session(make_model("Scale", **attributes)) as session:
        for number in (2, 3, 2):
            x = np.resize(X, (number, 3))
            np.testing.assert_array_equal(session(x), np.maximum(x, 0) * np.float32(2.5))
    assert seen == attributes
    assert scale([X], {"factor": 2})[0].tolist() == (X * 2).tolist()


def test_shapes_types_and_constants(register):
    """Several outputs of other shapes and types; the values of constants."""
    def shapes(infos, attributes):
        x, k = infos
        assert (k.value.tolist(), k.dtype, x.value) == ([2], np.int64, None)
        return [((x.shape[0], int(k.value[0])), x.dtype), ((), np.int64)]

    @register("Split", shapes=shapes)
    def split(inputs, attributes):
        return inputs[0][:, :2], np.int64(inputs[0].size)

    source = make_model("Split", ("y", "z"), ("x", "k"), (FLOAT, INT64))
    with tengine.Session(source) as session:
        for number in (2, 5):
            y, z = session(np.resize(X, (number, 3)))
            np.testing.assert_array_equal(y, np.maximum(np.resize(X, (number, 3)), 0)[:, :2])
            assert z == number * 3 and z.dtype == np.int64


def test_outputs_whose_shape_depends_on_data(register):
    """The function decides in each run."""
    @register("Positive", shapes=lambda infos, attributes: [(None, np.float32)])
    def positive(inputs, attributes):
        return inputs[0][inputs[0] > 0]

    with tengine.Session(make_model("Positive")) as session:
        for x in (X, -X, np.zeros_like(X), X):
            np.testing.assert_array_equal(session(x), x[x > 0])


@pytest.mark.parametrize("error,kind", [
    (ValueError("range of 7 is not allowed"), ValueError), (KeyError("absent"), tengine.Error),
    (ZeroDivisionError("by zero"), tengine.Error), (RuntimeError(), tengine.Error),
    (tengine.NotSupportedError("not here"), NotImplementedError),
    (UnicodeError("\ud800 é %s %d"), tengine.Error), (SystemExit("end"), tengine.Error),
])
def test_exceptions_are_failures_of_the_run(register, error, kind):
    """The message has the node and the text of the exception, which is the cause."""
    fails = [True]

    @register("Fails")
    def fail(inputs, attributes):
        if fails[0]:
            raise error
        return inputs[0]

    with tengine.Session(make_model("Fails")) as session:
        with pytest.raises(kind, match="'node'") as info:
            session(X)
        text = str(error).encode(errors="replace").decode() or type(error).__name__
        assert text in str(info.value)
        if "\ud800" not in str(error):
            assert info.value.__cause__ is error
        fails[0] = False
        np.testing.assert_array_equal(session(X), np.maximum(X, 0))


def test_ctrl_c_in_a_function(register):
    """KeyboardInterrupt passes through the library."""
    @register("Stops")
    def stop(inputs, attributes):
        raise KeyboardInterrupt

    with tengine.Session(make_model("Stops")) as session:
        with pytest.raises(KeyboardInterrupt):
            session(X)


@pytest.mark.parametrize("result", [
    lambda x: [], lambda x: [x, x], lambda x: x.astype(np.float64), lambda x: x[:, :2],
    lambda x: None, lambda x: "text", lambda x: [None], lambda x: 1.5, lambda x: {"y": x},
])
def test_wrong_results(register, result):
    """Another number, type or shape of outputs fails the run."""
    @register("Wrong")
    def wrong(inputs, attributes):
        return result(inputs[0])

    with tengine.Session(make_model("Wrong")) as session:
        with pytest.raises(tengine.Error, match="'node'"):
            session(X)


def test_inputs_cannot_be_kept_or_changed(register):
    """Both would be the graph's memory."""
    kept = []
    way = [lambda x: kept.append(x)]

    @register("Keeps")
    def keep(inputs, attributes):
        way[0](inputs[0])
        return inputs[0]

    with tengine.Session(make_model("Keeps")) as session:
        for action in (kept.append, lambda x: kept.append(x[1:]), lambda x: kept.append(x.T),
                       lambda x: kept.append(memoryview(x))):
            way[0] = action
            with pytest.raises(tengine.Error, match="keeps 'r': expected a copy"):
                session(X)
            kept.clear()
        way[0] = lambda x: x.__setitem__(0, 1)
        with pytest.raises(ValueError, match="read-only"):
            session(X)
        way[0] = lambda x: kept.append(x.copy())
        np.testing.assert_array_equal(session(X), np.maximum(X, 0))


def test_operators_of_onnx_can_be_replaced():
    """The domain of ONNX, one node of the graph's own operator."""
    calls = []
    operator = tengine.custom_op("", "Relu", version=(6, 22))(
        lambda inputs, attributes: calls.append(1) or np.maximum(inputs[0], 0) + 1)
    source = model([node("Relu", ["x"], ["y"], "node")], [value("x", FLOAT, [2, 3])],
                   [value("y", FLOAT, [2, 3])])
    with tengine.Session(source) as session:
        np.testing.assert_array_equal(session(X), np.maximum(X, 0) + 1)
        with pytest.raises(tengine.Error):
            operator.unregister()
    assert calls == [1]
    operator.unregister()
    with tengine.Session(source) as session:
        np.testing.assert_array_equal(session(X), np.maximum(X, 0))


def test_registration_is_checked():
    """Names, versions and duplicates."""
    for domain, name, version in ((DOMAIN, "", 1), (DOMAIN, "a.b", 1), (DOMAIN, "A", 0),
                                  (DOMAIN, "A", (3, 2))):
        with pytest.raises(ValueError):
            tengine.custom_op(domain, name, version=version)(len)
    operator = tengine.custom_op(DOMAIN, "Twice")(len)
    with pytest.raises(tengine.Error, match="Twice") as info:
        tengine.custom_op(DOMAIN, "Twice")(len)
    assert info.value.name == "TENGINE_EEXIST"
    operator.unregister()
    with pytest.raises(tengine.Error):
        operator.unregister()


@pytest.mark.parametrize("options", [{}, {"scheduler": "pipeline"}])
def test_many_runs(register, options):
    """Schedulers, futures and clones with a function in Python."""
    @register("Negate")
    def negate(inputs, attributes):
        return -inputs[0]

    with tengine.Session(make_model("Negate"), options=options, threads=2) as session:
        clone = session.clone()
        futures = [session.submit(np.resize(X + i, (2 + i % 2, 3))) for i in range(50)]
        others = [clone.submit(np.resize(X + i, (2 + i % 2, 3))) for i in range(50)]
        for i, future in enumerate(futures):
            expected = -np.maximum(np.resize(X + i, (2 + i % 2, 3)), 0)
            np.testing.assert_array_equal(future.result(), expected)
            np.testing.assert_array_equal(others[i].result(), expected)
        clone.close()
