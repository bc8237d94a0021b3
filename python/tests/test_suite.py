# SPDX-License-Identifier: Apache-2.0
"""The tests of the ONNX project through sessions, with the verdicts and the tolerances of the C
runner (tests/conformance)."""
import os
import pathlib

import numpy as np
import pytest
from conftest import ROOT
from onnx_bytes import read_fields, read_tensor
from test_life import resident_kib

import tengine
from tengine import _constants as c

SUITE = pathlib.Path(os.environ.get("TENGINE_ONNX_TESTDATA", "/usr/share/libonnx-testdata/data"))
FOLDERS = [SUITE / name for name in ("node", "simple", "pytorch-operator", "pytorch-converted")]
FOLDERS.append(ROOT.parent / "shared" / "data" / "onnx_nodes")

REFUSALS = {c.TENGINE_ENOTSUP, c.TENGINE_EOPERATOR, c.TENGINE_EDTYPE, c.TENGINE_ELIMIT}


def read_list():
    """The tests that do not pass in C, with the reasons."""
    lines = []
    for name in ("not_supported.txt", "not_supported_newer.txt"):
        path = ROOT / "tests" / "conformance" / name
        lines += path.read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def read_value(path, info):
    """The value of a file, as sessions take it, and the shape of a tensor."""
    data = path.read_bytes()
    if info.type.startswith("optional(sequence"):
        found = read_fields(data)
        return (read_elements(found[5][0]) if 5 in found else None), None
    if info.type.startswith("optional"):
        found = read_fields(data)
        return (read_tensor(found[3][0])[0] if 3 in found else None), None
    if info.type.startswith("sequence"):
        return read_elements(data), None
    array, _, shape = read_tensor(data)
    return array, shape


def read_elements(data):
    """The arrays of a SequenceProto."""
    return [read_tensor(entry)[0] for entry in read_fields(data).get(3, [])]


def read_data_set(folder, stem, infos):
    """The values of the files <stem>_0.pb and so on."""
    number = 0
    while (folder / f"{stem}_{number}.pb").exists():
        number += 1
    return [read_value(folder / f"{stem}_{i}.pb", infos[i]) for i in range(number)]


def as_numbers(array, kind):
    """bf16 as float32, for comparisons."""
    if kind != "bf16":
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def assert_equal(actual, expected, kind):
    """As tests/conformance/compare.h."""
    if isinstance(expected, list) or expected is None:
        assert type(actual) is type(expected)
        for mine, theirs in zip(actual or (), expected or (), strict=True):
            assert_equal(mine, theirs, kind)
        return
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    if expected.dtype.kind in "fc" or kind == "bf16":
        relative, absolute = {"fp64": (1e-7, 1e-14), "bf16": (1e-2, 1e-7)}.get(kind, (1e-3, 1e-7))
        np.testing.assert_allclose(as_numbers(actual, kind), as_numbers(expected, kind), relative,
                                   absolute)
    else:
        np.testing.assert_array_equal(actual, expected)


def is_random(name):
    """Whether values are drawn."""
    return name.startswith("test_bernoulli") or (
        name.startswith("test_training_dropout") and "zero_ratio" not in name)


def run_folder(folder, **arguments):
    """Runs all data sets of a test; returns the session's report."""
    with tengine.Session(folder / "model.onnx", **arguments) as session:
        infos = session.inputs
        for data in sorted(folder.glob("test_data_set_*")):
            values = read_data_set(data, "input", infos)
            # Arrays of packed elements have no shape; tests of CastLike have data of another one
            # than their models state.
            session.reshape({info.name: shape for info, (_, shape) in zip(infos, values)
                             if shape is not None and
                             (info.bits < 8 or folder.name.startswith("test_castlike"))})
            results = session.run(None, dict(zip((info.name for info in infos),
                                                 (value for value, _ in values))))
            outputs = session.outputs
            expected = read_data_set(data, "output", outputs)
            assert len(results) == len(expected)
            for info, result, (value, _) in zip(outputs, results, expected):
                if is_random(folder.name):
                    assert result.shape == value.shape and result.dtype == value.dtype
                else:
                    assert_equal(result, value, info.type.split("(")[-1].rstrip(")"))
        return session.report()


def judge(folder, reasons):
    """"" for the C runner's verdict, else what differs."""
    reason = reasons.get(f"{folder.parent.name}/{folder.name}")
    try:
        run_folder(folder)
    except tengine.Error as error:
        is_listed = reason is not None and error.code in REFUSALS
        return "" if is_listed else f"{folder.name}: {error.name} {error}"
    except AssertionError as error:
        is_listed = reason is not None and reason.split()[0].rstrip(":") in ("mistaken", "rounding")
        return "" if is_listed else f"{folder.name}: {error}"
    return "" if reason is None else f"{folder.name} is listed, but passes"


@pytest.mark.parametrize("root", FOLDERS, ids=lambda root: root.name)
def test_verdicts_are_those_of_c(root):
    """Each folder, in one process."""
    if not root.exists():
        pytest.skip(f"{root} does not exist")
    reasons = read_list()
    folders = sorted(path.parent for path in root.glob("*/model.onnx"))
    assert folders
    faults = [fault for fault in (judge(folder, reasons) for folder in folders) if fault]
    assert not faults, "\n".join(faults)


def test_memory_is_flat():
    """After two rounds of all tests a third one holds no more memory."""
    folders = sorted(path.parent for root in FOLDERS for path in root.glob("*/model.onnx"))
    if not folders:
        pytest.skip(f"{SUITE} does not exist")
    reasons = read_list()
    used = []
    for _ in range(3):
        for folder in folders:
            judge(folder, reasons)
        used.append(resident_kib())
    assert used[2] - used[1] < 4000
