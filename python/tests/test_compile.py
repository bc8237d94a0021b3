# SPDX-License-Identifier: Apache-2.0
"""Models with compiled parts, as the program tengine sees them."""
import json
import subprocess

import numpy as np
import pytest
from conftest import DIGITS, make_pictures

import tengine

SHAPE = {"image": (1, 1, 8, 8)}
TPU = {"devices": ["TPU"], "precision": "bf16", "options": {"split.prune": 0}}


def list_parts(tool, path):
    """The compiled parts in a file, by device."""
    output = subprocess.run([tool, "inspect", str(path), "--json", "-"], check=True,
                            capture_output=True).stdout
    return [part["device"] for part in json.loads(output)["compiled_parts"]]


@pytest.mark.parametrize("model", [DIGITS, DIGITS.read_bytes()], ids=["path", "bytes"])
def test_parts_are_loaded(tool, tmp_path, model):
    """A session of the file compiles nothing, and has the results of one that compiles."""
    path = tmp_path / "digits.tmfile"
    report = tengine.compile(model, path, shapes=SHAPE, **TPU)
    assert {part.origin for part in report.parts} == {"compiled"}
    assert "TPU" in list_parts(tool, path)
    with tengine.Session(path, **TPU) as session, \
            tengine.Session(DIGITS, shapes=SHAPE, **TPU) as other:
        np.testing.assert_allclose(session(make_pictures(1)), other(make_pictures(1)), atol=1e-3)
        origins = {part.device: part.origin for part in session.report().parts}
        assert origins["TPU"] == "model"


def test_parts_are_added(tool, tmp_path):
    """A file that is compiled again has the parts of both times; without those of the host."""
    first, second = tmp_path / "first.tmfile", tmp_path / "second.tmfile"
    tengine.compile(DIGITS, first, shapes=SHAPE, keep_host=False, **TPU)
    assert set(list_parts(tool, first)) == {"TPU"}
    tengine.compile(first, second, shapes={"image": (2, 1, 8, 8)}, keep_host=False, **TPU)
    assert len(list_parts(tool, second)) == 2 * len(list_parts(tool, first))


def test_failures(tmp_path):
    """Shapes that are not known, inputs and files that do not exist."""
    for model, arguments in ((DIGITS, {}), (DIGITS, {"shapes": {"x": (1,)}}), ("absent.onnx", {}),
                             (b"no model", {})):
        with pytest.raises(tengine.Error):
            tengine.compile(model, tmp_path / "out.tmfile", **arguments)
    with pytest.raises(TypeError):
        tengine.compile(5, tmp_path / "out.tmfile")
    assert not (tmp_path / "out.tmfile").exists()


def test_the_file_is_a_tmfile(tmp_path):
    """As the program tengine says it."""
    with pytest.raises(ValueError, match="net.onnx': the file name must end in .tmfile"):
        tengine.compile(DIGITS, tmp_path / "net.onnx", shapes=SHAPE)
    assert list(tmp_path.iterdir()) == []
