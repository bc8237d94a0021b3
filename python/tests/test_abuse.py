# SPDX-License-Identifier: Apache-2.0
"""Wrong uses: each ends with an exception, and the session then still gives right results."""
import array
import collections
import ctypes
import datetime
import decimal
import fractions

import numpy as np
import pytest
from conftest import DIGITS, make_pictures

import tengine


class Raises:
    """An object whose conversion fails."""

    def __array__(self, dtype=None):
        raise ZeroDivisionError


class Lies:
    """An object that claims memory it does not have."""

    __array_interface__ = {"shape": (1, 1, 8, 8), "typestr": "<f4", "version": 3,
                           "data": (0, False)}


class Sub(np.ndarray):
    """A class of a program, derived from numpy's."""


def make_values():
    """Values of all kinds, none of which is a picture of the network."""
    right = make_pictures(1)
    structured = np.zeros((1, 1, 8, 8), [("a", "f4"), ("b", "f4")])
    return [
        None, True, 0, -1, 1.5, 2**200, 1j, float("nan"), "text", "", b"bytes", b"", bytearray(256),
        memoryview(b"abc"), array.array("f", [1.0]), (), [], {}, set(), frozenset(), object(),
        type, len, lambda: 0, range(64), iter([]), Ellipsis, NotImplemented, slice(1),
        decimal.Decimal(1), fractions.Fraction(1, 3), datetime.datetime(2026, 1, 1),
        collections.deque([1.0]), ctypes.c_float(1), (ctypes.c_float * 64)(), Raises(),
        [[1.0, 2.0], [3.0]], ["a", "b"], [None], [[]], [object()], np.float32(1), np.float64(1),
        np.datetime64("2026-01-01"), np.array(None), np.array([object()]), np.array("a"),
        np.zeros(0, np.float32), np.zeros((0, 1, 8, 8), np.int8), np.zeros((1, 0, 8, 8), np.float32),
        np.zeros((1,) * 32, np.float32), np.zeros((1, 1, 8, 8), np.bool_),
        np.zeros((1, 1, 8, 8), np.int32), np.zeros((1, 1, 8, 8), np.complex64),
        np.zeros((1, 1, 8, 8), np.float16), np.zeros((1, 1, 8, 8), "S4"),
        np.zeros((1, 1, 8, 8), "M8[s]"), np.zeros((1, 1, 8, 8), "V4"), structured,
        np.ma.masked_array(right.astype(np.float64), True),
        np.broadcast_to(np.float32(1), (1, 1, 8, 9)), right[0], right[..., :4], right.T[:4],
        np.lib.stride_tricks.as_strided(right, (1, 1, 8, 7), (0, 0, 4, 4)),
    ]


WAYS = {
    "call": lambda session, value: session(value),
    "name": lambda session, value: session(image=value),
    "run": lambda session, value: session.run(None, {"image": value}),
    "feed": lambda session, value: session.run(["probabilities"], value),
    "bind": lambda session, value: session.bind({"image": value}),
    "output": lambda session, value: session.bind({"image": make_pictures(1)},
                                                  {"probabilities": value}).run(),
    "outputs": lambda session, value: session.run(value, {"image": make_pictures(1)}),
    "shape": lambda session, value: session.reshape({"image": value}),
    "shapes": lambda session, value: session.reshape(value),
    "submit": lambda session, value: session.submit(value).result(),
    "model": lambda session, value: tengine.Session(value),
    "devices": lambda session, value: tengine.Session(DIGITS, devices=value).close(),
    "options": lambda session, value: tengine.Session(DIGITS, options=value).close(),
    "option": lambda session, value: tengine.Session(DIGITS, options={"split.prune": value}),
    "key": lambda session, value: session.graph.set_option(value, 1),
    "threads": lambda session, value: tengine.Session(DIGITS, threads=value).close(),
    "save": lambda session, value: session.graph.save(value),
    "attribute": lambda session, value: session.graph.nodes[0].attribute(value),
}


def test_number_of_wrong_uses():
    """Each value is used in each place."""
    assert len(WAYS) * len(make_values()) >= 1000


@pytest.mark.parametrize("way", WAYS)
def test_wrong_values(way, tmp_path, monkeypatch):
    """Each value, in each place: an exception of Python's usual kinds, or a result."""
    monkeypatch.chdir(tmp_path)
    refused = 0
    with tengine.Session(DIGITS) as session:
        expected = session(make_pictures(1))
        for value in make_values():
            try:
                WAYS[way](session, value)
            except (tengine.Error, TypeError, ValueError, LookupError, OverflowError,
                    AttributeError, ZeroDivisionError, OSError):
                refused += 1
            session.reshape({"image": (1, 1, 8, 8)})
            np.testing.assert_array_equal(session(make_pictures(1)), expected)
    assert refused >= 20


@pytest.mark.parametrize("value", [Lies(), np.zeros((1, 1, 8, 8), np.float32).view(Sub)])
def test_objects_that_look_like_arrays(value, digits):
    """A class derived from numpy's is an array; memory at 0 is numpy's to refuse."""
    if isinstance(value, Lies):
        with pytest.raises((ValueError, TypeError)):
            digits(value)
    else:
        assert digits(value).shape == (1, 10)


CLOSED = {
    "call": lambda session: session(make_pictures(1)),
    "same": lambda session: session(session.last),
    "run": lambda session: session.run(None, {"image": make_pictures(1)}),
    "bind": lambda session: session.bind({"image": make_pictures(1)}),
    "bound": lambda session: session.binding.run(),
    "submit": lambda session: session.submit(make_pictures(1)),
    "reshape": lambda session: session.reshape({"image": (1, 1, 8, 8)}),
    "prepare": lambda session: session.prepare(),
    "place": lambda session: session.place(),
    "report": lambda session: session.report(),
    "inputs": lambda session: session.inputs,
    "outputs": lambda session: session.outputs,
    "memory": lambda session: session.memory,
    "graph": lambda session: session.graph,
    "nodes": lambda session: session.kept.nodes,
    "tensors": lambda session: session.kept.tensors,
    "node": lambda session: session.node.name,
    "attribute": lambda session: session.node.attribute("kernel_shape"),
    "save": lambda session: session.kept.save("x.onnx"),
}


@pytest.mark.parametrize("way", CLOSED)
def test_closed_sessions(way):
    """A session that is closed fails, and so do its graph and nodes."""
    session = tengine.Session(DIGITS)
    session.last = make_pictures(1)
    session(session.last)
    session.binding = session.bind({"image": session.last})
    session.binding.run()
    session.kept = session.graph
    session.node = session.graph.nodes[0]
    session.close()
    session.close()
    with pytest.raises(tengine.Error, match="closed"):
        CLOSED[way](session)
    repr(session), session._repr_html_(), repr(session.kept)


def test_array_that_changes_its_form(digits):
    """An array that gets another shape, type or memory after it was lent is read again."""
    picture = make_pictures(1)
    expected = digits(picture)
    picture.shape = (1, 8, 8)
    with pytest.raises(ValueError):
        digits(picture)
    picture.shape = (1, 1, 8, 8)
    picture.dtype = np.int32
    with pytest.raises(ValueError):
        digits(picture)
    picture.dtype = np.float32
    np.testing.assert_array_equal(digits(picture), expected)
    moved = make_pictures(1)
    digits(moved)
    moved.resize((5000, 1, 8, 8), refcheck=False)
    moved.resize((1, 1, 8, 8), refcheck=False)
    np.testing.assert_array_equal(digits(moved), expected)


def test_graph_that_is_closed_under_a_session():
    """A session whose graph the program closes fails."""
    graph = tengine.Graph.open(DIGITS)
    session = tengine.Session(graph)
    picture = make_pictures(1)
    session(picture)
    binding = session.bind({"image": picture})
    graph.close()
    for call in (lambda: session(picture), binding.run, session.report, lambda: session.inputs):
        with pytest.raises(tengine.Error):
            call()
    session.close()
