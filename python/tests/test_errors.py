# SPDX-License-Identifier: Apache-2.0
"""Failures are exceptions whose message is the library's."""
import logging
import pickle

import pytest
from conftest import DIGITS, make_pictures
from onnx_bytes import FLOAT, model, node, value

import tengine
from tengine import _log
from tengine._library import ffi, lib

UNKNOWN = model([node("NoSuchOperator", ["x"], ["y"], "n")], [value("x", FLOAT, [1])],
                [value("y", FLOAT, [1])])


def fail(path):
    """The code and the message of C for a file that cannot be loaded."""
    assert not lib.create_graph(ffi.NULL, b"onnx", path)
    return lib.get_tengine_errno(), ffi.string(lib.get_tengine_error()).decode()


@pytest.mark.parametrize("call,kinds,name", [
    (lambda: tengine.Session("absent.onnx"), (FileNotFoundError, OSError), "TENGINE_EIO"),
    (lambda: tengine.Session(UNKNOWN), (NotImplementedError,), "TENGINE_EOPERATOR"),
    (lambda: tengine.Session(b"no model"), (), "TENGINE_EFORMAT"),
    (lambda: tengine.Session(DIGITS, options={"split.prune": "x"}), (ValueError,),
     "TENGINE_EINVAL"),
    (lambda: tengine.Session(DIGITS, options={"memory.limit_mb": -1}), (ValueError,),
     "TENGINE_ERANGE"),
    (lambda: tengine.Session(DIGITS, devices=["XPU"]), (LookupError,), "TENGINE_ENOENT"),
    (lambda: tengine.Session(DIGITS, precision="int8", shapes={"image": (1, 1, 8, 8)}).prepare(),
     (ValueError,), "TENGINE_EINVAL"),
    (lambda: tengine.load_plugin("absent.so"), (FileNotFoundError,), "TENGINE_EIO"),
])
def test_the_message_is_that_of_c(call, kinds, name):
    """Class, code and name; and the text is what C has recorded on this thread."""
    with pytest.raises(tengine.Error) as info:
        call()
    error = info.value
    assert error.name == name and error.code < 0
    for kind in (RuntimeError, *kinds):
        assert isinstance(error, kind)
    assert str(error) and "\n" not in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.code) == (type(error), str(error), error.code)


def test_the_file_is_named():
    """The message of a file is C's, word by word."""
    with pytest.raises(tengine.FileError) as info:
        tengine.Session("absent.onnx")
    assert (info.value.code, str(info.value)) == fail(b"absent.onnx")


def test_failures_in_runs_leave_the_session_usable(digits):
    """A preparation that fails is made again by the next run."""
    with tengine.Session(DIGITS, options={"split.max_fallback_macs": 0}, devices=["TPU"],
                         affinity={"*": "CPU"}) as session:
        session(make_pictures(1))
    with pytest.raises(ValueError):
        digits(make_pictures(1)[:, :, :4])
    digits(make_pictures(2))


def test_lines_of_the_log_reach_the_logger(caplog):
    """Failures are logged as errors, notices as info."""
    tengine.set_log_level("info")
    with caplog.at_level(logging.DEBUG, "tengine"):
        with pytest.raises(tengine.Error):
            tengine.Session("absent.onnx")
        tengine.Session(DIGITS, devices=["TPU"], shapes={"image": (1, 1, 8, 8)}).prepare()
        _log.flush()
    tengine.set_log_level("notice")
    assert ("tengine", logging.ERROR) in [record[:2] for record in caplog.record_tuples]
    assert any("absent.onnx" in record.getMessage() for record in caplog.records)
    assert any(record.levelno == logging.INFO for record in caplog.records)


def test_wrong_log_level():
    """The message has the levels."""
    with pytest.raises(ValueError, match="level 'loud': expected 'error', 'warning'"):
        tengine.set_log_level("loud")
