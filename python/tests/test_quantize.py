# SPDX-License-Identifier: Apache-2.0
"""Quantisation with samples of a program, compared with the program tengine."""
import subprocess

import numpy as np
import pytest
from conftest import DIGITS, ROOT, make_pictures

import tengine

DATA = ROOT / "examples" / "data"


def load(number):
    """Pictures of the example's held-out set, one sample each."""
    images = np.load(DATA / "heldout_images.npy").astype(np.float32)
    return [images[i:i + 1] for i in range(number)]


def quantize_with_tool(tool, folder, images, *options):
    """The bytes that the program writes."""
    np.savez(folder / "samples.npz", image=np.concatenate(images))
    subprocess.run([tool, "quantize", str(DIGITS), "--data", str(folder / "samples.npz"), "-o",
                    str(folder / "tool.onnx"), *options], check=True, capture_output=True)
    return (folder / "tool.onnx").read_bytes()


@pytest.mark.parametrize("method,options", [
    ("minmax", []), ("minmax", ["--activations", "int8", "--per-tensor"]), ("kl", ["--method", "kl"]), ("mse", ["--method", "mse"]),
    ("percentile", ["--method", "percentile"]),
])
def test_bytes_are_those_of_the_program(tool, tmp_path, method, options):
    """A generator of 300 pictures."""
    images = load(300)
    expected = quantize_with_tool(tool, tmp_path, images, *options)
    others = {"activations": "int8", "per_channel": False} if "int8" in options else {}
    quantized = tengine.quantize(DIGITS, (image for image in images), method=method, **others)
    quantized.save(tmp_path / "python.onnx")
    assert (tmp_path / "python.onnx").read_bytes() == expected
    assert quantized.report.samples == 300
    with tengine.Session(quantized.graph, precision="int8") as session, \
            tengine.Session(DIGITS) as float_session:
        pictures = np.concatenate(images)
        same = session(pictures).argmax(1) == float_session(pictures).argmax(1)
        assert same.mean() > 0.97


def test_search_labels_and_report():
    """Nodes that stay in float, decisions and accuracy; a generator for several passes."""
    images = load(100)
    labels = np.load(DATA / "heldout_labels.npy")[:100]
    done = []
    quantized = tengine.quantize(DIGITS, ({"image": image} for image in images), max_drop=0,
                                 keep_float=["op:Gemm"], labels=labels,
                                 progress=lambda *numbers: done.append(numbers))
    report = quantized.report
    assert report.labels == report.decisions == 100 and report.same_decisions == 100
    assert report.right_in_float >= 97
    assert "Gemm" in {node.op for node in report.kept_float}
    assert report.layers > 0 and report.quantized_nodes <= report.nodes
    assert any(tensor.scale for tensor in report.tensors)
    assert report.output_snr_db["probabilities"] > 10
    assert done and done[0][0] in (0, 1)


def test_dynamic():
    """Weights alone, without samples."""
    quantized = tengine.quantize(DIGITS, dynamic=True)
    with tengine.Session(quantized.graph) as session, tengine.Session(DIGITS) as reference:
        pictures = make_pictures(5)
        np.testing.assert_allclose(session(pictures), reference(pictures), atol=0.05)
    with pytest.raises(ValueError, match="needs no samples"):
        tengine.quantize(DIGITS, [], dynamic=True)


class Stop(Exception):
    """An exception of the program."""


def failing():
    """A generator that fails."""
    yield from load(2)
    raise Stop


def stop(*unused):
    """A function that fails."""
    raise Stop


@pytest.mark.parametrize("arguments,kind", [
    ({"samples": []}, ValueError), ({"samples": None}, ValueError),
    ({"samples": load(2), "method": "best"}, ValueError),
    ({"samples": load(2), "activations": "int4"}, ValueError),
    ({"samples": load(2), "percentile": 10, "method": "percentile"}, ValueError),
    ({"samples": load(2), "keep_float": ["absent"]}, LookupError),
    ({"samples": load(2), "max_drop": 200}, ValueError),
    ({"samples": load(2), "labels": [1]}, ValueError),
    ({"samples": [load(1)[0].astype(np.float64)]}, ValueError),
    ({"samples": [load(1)[0][0, 0]]}, tengine.Error),
    ({"samples": [{"picture": load(1)[0]}]}, ValueError),
    ({"samples": [None]}, Exception), ({"samples": 5}, TypeError),
    ({"samples": failing()}, Stop), ({"samples": load(3), "progress": stop}, Stop),
])
def test_failures(arguments, kind):
    """Messages of the library, and exceptions of the program as they are."""
    with pytest.raises(kind):
        tengine.quantize(DIGITS, **arguments)
