# SPDX-License-Identifier: Apache-2.0
"""The arguments of a session, as C takes them."""
import operator

from . import _constants as c
from ._library import ffi, lib
from ._report_reader import read_report
from ._tensor import copy_shapes
from .errors import Error, InvalidValueError, check
from .graph import Graph

PRECISIONS = {
    "fp32": c.TENGINE_MODE_FP32,
    "fp16": c.TENGINE_MODE_FP16,
    "bf16": c.TENGINE_MODE_BF16,
    "int8": c.TENGINE_MODE_INT8,
    "uint8": c.TENGINE_MODE_UINT8,
    "hybrid_int8": c.TENGINE_MODE_HYBRID_INT8,
}


def shape_of(shape):
    if isinstance(shape, (str, bytes, bytearray, memoryview, dict, set, frozenset)):
        raise TypeError(f"shape {shape!r}: expected a tuple of integers")
    return tuple(operator.index(size) for size in shape)


def make_plan(threads, precision, cpus):
    """struct options in a C array, which keeps it."""
    if precision not in PRECISIONS:
        raise InvalidValueError(f"precision {precision!r}: expected "
                                f"{', '.join(map(repr, PRECISIONS))}")
    plan = ffi.new("struct options[1]")
    plan[0].num_thread = 1 if threads is None else threads
    plan[0].cluster = c.TENGINE_CLUSTER_BIG if cpus is None else c.TENGINE_CLUSTER_ALL
    plan[0].precision = PRECISIONS[precision]
    for cpu in cpus or ():
        if not 0 <= cpu < 64:
            raise InvalidValueError(f"cpus has {cpu}: expected 0 to 63", c.TENGINE_ERANGE)
        plan[0].affinity |= 1 << cpu
    return plan


def take_graph(model, devices, options):
    if not isinstance(model, Graph):
        return Graph.open(model, devices=devices, options=options)
    if devices is not None:
        raise InvalidValueError("a tengine.Graph has its devices: expected devices only for a file "
                                "or bytes")
    if model.user is not None and model.user() is not None:
        raise Error("the graph has another session: expected one that is closed first",
                    c.TENGINE_ESTATE)
    model.handle  # fails for a graph that is closed
    return model


def bytes_of(model):
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    return bytes(model)


def choose(outputs, names):
    """The outputs of these names, in their order."""
    if isinstance(names, str):
        raise TypeError(f"outputs is {names!r}: expected a list of names")
    known = {output.name: output for output in outputs}
    for name in names:
        if name not in known:
            raise KeyError(f"the model has no output '{name}': expected "
                           f"{', '.join(repr(n) for n in known)}")
    return [known[name] for name in names]


def place_model(model, devices, options, inputs, plan):
    """The report of a model that is loaded again, for other devices."""
    if isinstance(model, Graph):
        raise InvalidValueError("the session has a tengine.Graph, whose devices are fixed: expected "
                                "a session of a file or of bytes")
    with Graph.open(model, devices=devices, options=options) as graph:
        copy_shapes(inputs, graph)
        check(lib.tengine_graph_place(graph.handle, plan))
        return read_report(graph.handle, is_placed=True)
