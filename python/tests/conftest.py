# SPDX-License-Identifier: Apache-2.0
"""Paths, fixtures and pictures of all tests."""
import os
import pathlib

import numpy as np
import pytest

import tengine

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "data" / "digits.onnx"


@pytest.fixture
def digits():
    """A session of the example network: pictures of 1x8x8, any number of them."""
    with tengine.Session(DIGITS) as session:
        yield session


@pytest.fixture
def picture():
    """A picture of random values, which are the same in every test."""
    return make_pictures(1)


def make_pictures(number, seed=7):
    """Pictures of random values."""
    return np.random.default_rng(seed).random((number, 1, 8, 8), np.float32)


@pytest.fixture
def tool():
    """The program tengine of the build, which the environment variable TENGINE_TOOL names."""
    path = os.environ.get("TENGINE_TOOL")
    if not path:
        pytest.skip("TENGINE_TOOL is not set: the program tengine is not built")
    return path
