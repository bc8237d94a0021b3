# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX models and tmfiles with tengine.

    import tengine
    session = tengine.Session("digits.onnx")
    scores = session(picture)

docs/python.md is the guide. The package calls the functions of the public C headers; whatever it
does, a program in C can do.
"""
from ._entry import join_entries
from ._library import encode_path as _encode_path
from ._library import lib as _lib
from ._library import names as _names
from ._library import text as _text
from ._library import version
from ._log import set_log_level
from .binding import Binding
from .compilation import compile
from .custom import CustomOperator, TensorInfo, custom_op
from .device import Device, DeviceNode, DevicePart, Refuse
from .errors import (CanceledError, Error, FileError, InvalidValueError, NoSuchObjectError,
                     NotSupportedError, OutOfMemoryError, check as _check)
from .graph import Graph, Info, Node
from .metadata import Metadata
from .placement import Hint, Variant
from .quantization import QuantizationReport, Quantized, quantize
from .report import Report
from .session import Session
from .trace import Trace

__version__ = version.split("-", 1)[0]
__all__ = ["Binding", "CanceledError", "CustomOperator", "Device",
           "DeviceNode", "DevicePart", "Error", "FileError", "Graph", "Hint", "Info", "InvalidValueError", "Metadata",
           "NoSuchObjectError", "Node", "NotSupportedError", "OutOfMemoryError", "QuantizationReport", "Quantized", "Refuse", "Report",
           "Session", "TensorInfo", "Trace", "Variant", "compile", "custom_op", "devices", "formats", "join_entries", "load_plugin", "quantize", "operators", "options",
           "set_log_level", "version"]


def devices():
    """The names of the devices, in the order of registration."""
    return _names(_lib.tengine_device_get_number(), _lib.tengine_device_get_name)


def operators():
    """The operators that a graph can hold, as pairs (domain, name); the domain "" is ONNX's."""
    number = _lib.tengine_operator_get_number()
    return list(zip(_names(number, _lib.tengine_operator_get_domain),
                    _names(number, _lib.tengine_operator_get_name)))


def options(device=None):
    """Options by key: {key: (default, effect)}.

    Parameters
    ----------
    device : str, optional
        A device, whose options are given with a pair of Session's `devices`. None: the options
        that every session has.

    Raises
    ------
    tengine.Error
        No such device.
    """
    if device is None:
        number = _lib.tengine_option_get_number()
        keys, defaults, effects = (
            _names(number, get) for get in (_lib.tengine_option_get_name,
                                            _lib.tengine_option_get_default,
                                            _lib.tengine_option_get_help))
    else:
        name = device.encode()
        number = _check(_lib.tengine_device_get_option_number(name))
        keys, defaults, effects = (
            [_text(get(name, i)) for i in range(number)]
            for get in (_lib.tengine_device_get_option_name,
                        _lib.tengine_device_get_option_default,
                        _lib.tengine_device_get_option_help))
    return dict(zip(keys, zip(defaults, effects)))


def formats():
    """The model formats, {name: ending of the files' names}."""
    number = _lib.tengine_format_get_number()
    return dict(zip(_names(number, _lib.tengine_format_get_name),
                    _names(number, _lib.tengine_format_get_file_ending)))


def load_plugin(path):
    """Loads a plug-in, or all in a folder; not while sessions run.

    Returns
    -------
    int
        The number of loaded plug-ins.

    Raises
    ------
    tengine.Error
        As tengine_plugin_load of C fails.
    """
    return _check(_lib.tengine_plugin_load(_encode_path(path)))
