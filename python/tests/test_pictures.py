# SPDX-License-Identifier: Apache-2.0
"""Pictures as inputs, compared with the program tengine."""
import re
import subprocess

import numpy as np
import pytest
from conftest import ROOT, make_pictures
from onnx_bytes import FLOAT, model, node, value

import tengine

FILES = sorted((ROOT / "examples" / "data").glob("digit_*.png"))
WIDE = model([node("Identity", ["x"], ["y"])], [value("x", FLOAT, [1, 3, 5, 7])],
             [value("y", FLOAT, [1, 3, 5, 7])])


def test_digits_are_read(digits):
    """Files, contents, arrays of pixels; one and several."""
    expected = [int(re.search(r"digit_(\d)_", file.name)[1]) for file in FILES]
    assert expected
    pictures = digits.read_pictures(*FILES)
    assert (pictures.shape, pictures.dtype) == ((len(FILES), 1, 8, 8), np.float32)
    assert digits(pictures).argmax(axis=1).tolist() == expected
    np.testing.assert_array_equal(
        digits.read_pictures(*(file.read_bytes() for file in FILES)), pictures)
    digits(make_pictures(3))
    one = digits.read_pictures(str(FILES[0]), input="image")
    np.testing.assert_array_equal(one, pictures[:1])
    assert digits(one).argmax() == expected[0]


def test_scores_are_those_of_the_program(digits, tool):
    """The most probable class with its probability, to the digits that the program prints."""
    for file in FILES[:3]:
        output = subprocess.run([tool, "run", str(ROOT / "examples/data/digits.onnx"), "--input",
                                 str(file)], check=True, capture_output=True, text=True).stdout
        scores = digits(digits.read_pictures(file))[0]
        number, share = re.search(r"^ +(\d) +([\d.]+)", output, re.MULTILINE).groups()
        assert scores.argmax() == int(number)
        assert scores.max() * (100 if float(share) > 1 else 1) == pytest.approx(float(share),
                                                                               abs=0.06)


def test_settings_and_arrays(tmp_path):
    """Values by hand: (byte - mean) x scale, in the order of channels."""
    pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    settings = {"mean": [1, 2, 3], "scale": [0.5, 0.25, 2]}
    path = tmp_path / "net.onnx"
    path.write_bytes(WIDE)
    expected = ((pixels.astype(np.float32) - settings["mean"]) * settings["scale"]).transpose(2, 0, 1)
    with tengine.Session(path) as session:
        np.testing.assert_allclose(session.read_pictures(pixels, settings=settings)[0], expected)
        (tmp_path / "net.preprocess.json").write_text(str(settings).replace("'", '"'),
                                                      encoding="utf-8")
        np.testing.assert_allclose(session.read_pictures(pixels)[0], expected)
        np.testing.assert_allclose(
            session.read_pictures(pixels, settings=tmp_path / "net.preprocess.json")[0], expected)
        plain = session.read_pictures(pixels, settings={})
        np.testing.assert_allclose(plain[0], pixels.transpose(2, 0, 1) / 255, rtol=1e-6)
        np.testing.assert_array_equal(session(plain), plain)


@pytest.mark.parametrize("source,settings", [
    (b"no picture", None), ("absent.png", None), (np.zeros((5, 7, 3), np.float32), None),
    (np.zeros((5, 7, 4), np.uint8), None), (np.zeros(5, np.uint8), None),
    (np.zeros((0, 7), np.uint8), None), (FILES[0], {"meen": 1}), (FILES[0], {"mean": "x"}),
    (FILES[0], "absent.json"), (5, None), (None, None), (FILES[0], {"box": [0, 0, 999, 999]}),
])
def test_refusals(digits, source, settings):
    """Files and settings that cannot be used."""
    with pytest.raises((tengine.Error, TypeError)):
        digits.read_pictures(source, settings=settings)
    assert digits(make_pictures(2)).shape == (2, 10)


def test_wrong_input(digits):
    """The message has the inputs."""
    with pytest.raises(ValueError, match="input 'y' does not exist: expected 'image'"):
        digits.read_pictures(FILES[0], input="y")
    with pytest.raises(tengine.Error):
        digits.read_pictures()
