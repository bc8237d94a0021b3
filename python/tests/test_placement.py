# SPDX-License-Identifier: Apache-2.0
"""Hints of a model, and variants of its compiled parts."""
from conftest import DIGITS

import tengine

SHAPES = {"image": (1, 1, 8, 8)}


def test_hints(tmp_path):
    """A saved session's affinities are hints of the file."""
    with tengine.Session(DIGITS, affinity={"op:Conv": "CPU"}) as session:
        session.graph.save(tmp_path / "placed.onnx")
    with tengine.Graph.open(tmp_path / "placed.onnx") as graph:
        assert graph.hints == [tengine.Hint("op:Conv", "", "CPU", 5, True, "")]
        assert graph.metadata.properties == {"tengine.affinity.op:Conv": "CPU"}
    with tengine.Graph.open(DIGITS) as graph:
        assert graph.hints == []


def test_variants(tmp_path):
    """A session takes the variant of its precision."""
    path = tmp_path / "net.tmfile"
    model = DIGITS
    for precision in ("fp32", "fp16"):
        tengine.compile(model, path, shapes=SHAPES, precision=precision,
                        options={"model.keep_variant": f"name={precision}"})
        model = path
    with tengine.Session(path, shapes=SHAPES, precision="fp16") as session:
        session.prepare()
        first, second = session.graph.variants
    assert (first.name, first.devices, first.precision) == ("fp32", ["CPU"], "fp32")
    assert not first.is_usable and first.reason == "precision fp32, the run has fp16"
    assert second.is_taken and second.reason == "the best one that fits"
