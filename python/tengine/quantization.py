# SPDX-License-Identifier: Apache-2.0
"""Quantisation with samples of a program (docs/quantize.md describes the methods)."""
import dataclasses
import math

import numpy as np

from . import _constants as c
from . import _types
from ._library import ffi, lib, text
from ._tensor import as_array
from .errors import InvalidValueError, check, last_error
from .graph import Graph


@dataclasses.dataclass(frozen=True)
class FloatNode:
    """A node that stays in float, and the reason as a message."""

    name: str
    op: str
    reason: str


@dataclasses.dataclass(frozen=True)
class QuantizedTensor:
    """A tensor that was observed: real = scale * (stored - zero_point). scale is None where it is
    not quantised, snr_db without a comparison."""

    name: str
    scale: float
    zero_point: int
    low: float
    high: float
    snr_db: float


@dataclasses.dataclass(frozen=True)
class QuantizationReport:
    """The results of a calibration. Members of a comparison are 0 or None without one."""

    samples: int
    nodes: int
    quantized_nodes: int
    layers: int
    kept_float: tuple
    tensors: tuple
    decisions: int
    same_decisions: int
    labels: int
    right_in_float: int
    right_quantized: int
    output_snr_db: dict


@dataclasses.dataclass
class Quantized:
    """A quantised model: its graph, which a Session runs, and the report."""

    graph: Graph
    report: QuantizationReport

    def save(self, path, format=None, *, opset=None):
        """Writes the model, as Graph.save does."""
        self.graph.save(path, format, opset=opset)


class _Samples:
    """The callbacks of a calibration, and the arrays of the present sample."""

    def __init__(self, samples, again, progress):
        # A generator has one pass.
        is_iterator = samples is not None and iter(samples) is samples
        self._samples = list(samples) if is_iterator and again else samples
        self._iterator = None
        self._arrays = []
        self._progress = progress
        self.failure = None

    def read(self, index, inputs, number):
        """Fills the inputs; 0 after the last sample."""
        if index == 0:
            self._iterator = iter(self._samples)
        try:
            sample = next(self._iterator)
        except StopIteration:
            return 0
        names = [text(inputs[i].name) for i in range(number)]
        if isinstance(sample, dict):
            unknown = set(sample) - set(names)
            if unknown or len(sample) != number:
                raise InvalidValueError(f"sample {index} has {', '.join(map(repr, sample))}: "
                                        f"expected {', '.join(map(repr, names))}")
            values = [sample[name] for name in names]
        else:
            values = [sample]
        if len(values) != number:
            raise InvalidValueError(f"sample {index} is one array: expected a dict with "
                                    f"{', '.join(map(repr, names))}")
        self._arrays = [self._fill(inputs[i], values[i]) for i in range(number)]
        return 1

    @staticmethod
    def _fill(entry, value):
        name, dtype = text(entry.name), _types.dtype_of(entry.data_type)
        array = np.ascontiguousarray(as_array(value, dtype, name))
        if array.dtype != dtype:
            raise InvalidValueError(f"input '{name}' is {array.dtype}, expected {dtype}",
                                    c.TENGINE_EDTYPE)
        if array.ndim > c.MAX_SHAPE_DIM_NUM:
            raise InvalidValueError(f"input '{name}' has {array.ndim} dimensions, expected "
                                    f"{c.MAX_SHAPE_DIM_NUM} at most", c.TENGINE_ERANGE)
        entry.data, entry.size = ffi.from_buffer(array), array.nbytes
        entry.dim_number = array.ndim
        entry.dims[0:array.ndim] = array.shape
        return array

    def show(self, done, total):
        """Tells the program; an exception of it ends the calibration."""
        self._progress(done, total)
        return 0


def _guarded(function):
    def call(user, *arguments):
        samples = ffi.from_handle(user)
        try:
            return function(samples, *arguments)
        except BaseException as error:
            samples.failure = error
            return -1
    return call


@ffi.callback("int(void*, int64_t, struct tengine_sample_input*, int)")
@_guarded
def _read_sample(samples, index, inputs, number):
    return samples.read(index, inputs, number)


@ffi.callback("int(void*, int64_t, int64_t)")
@_guarded
def _show_progress(samples, done, total):
    return samples.show(done, total)


def quantize(model, samples=None, *, method="minmax", percentile=None, per_channel=True,
             activations="uint8", keep_float=(), max_drop=None, labels=None, compare=False,
             dynamic=False, threads=1, progress=None):
    """Quantises a float model to int8.

    Parameters
    ----------
    model : str, os.PathLike, bytes-like, onnx.ModelProto or Graph
        A float model, which is not changed.
    samples : iterable
        Arrays, or dicts of them by the inputs' names. A generator is enough; it is stored where
        further passes are made (max_drop, compare, labels).
    method : str
        How the ranges are found: "minmax", "percentile", "kl" or "mse".
    percentile : float, optional
        The share of the method "percentile": 50 to 100. None: 99.99.
    per_channel : bool
        A weight has a scale for each channel, or one.
    activations : str
        "uint8" or "int8".
    keep_float : list of str
        Nodes that stay in float: names with * and ?, or "op:Softmax".
    max_drop : float, optional
        Percentage of decisions that may change; as many nodes as needed stay in float.
    labels : array of int, optional
        The right class of each row of scores, for the accuracy of both models.
    compare : bool
        Compares both models on all samples, as `labels` does.
    dynamic : bool
        Quantises weights of matrix products only, without samples.
    threads : int
        The number of threads of the runs; 0: one for each core.
    progress : function, optional
        Called with the number of samples that are done and of all, 0 while it is not known.

    Returns
    -------
    Quantized

    Raises
    ------
    tengine.Error
        As the functions of calibration.h fail.
    ValueError
        Samples that do not match the inputs.
    BaseException
        An exception of `samples` or `progress`.
    """
    graph = model if isinstance(model, Graph) else Graph.open(model)
    again = max_drop is not None or labels is not None or compare
    source = _Samples(samples, again, progress)
    user = ffi.new_handle(source)
    keep = [ffi.new("char[]", name.encode()) for name in keep_float]
    patterns = ffi.new("const char*[]", keep or 1)
    name = ffi.new("char[]", method.encode())
    options = ffi.new("struct tengine_calibration_options*", {
        "user": user, "keep_float": patterns, "keep_float_number": len(keep),
        "thread_number": threads})
    if progress is not None:
        options.show_progress = _show_progress
    if dynamic:
        if samples is not None:
            raise InvalidValueError("dynamic needs no samples: expected None")
        options.dynamic = 1
    else:
        if samples is None:
            raise InvalidValueError("samples is None: expected an iterable of arrays or dicts")
        options.read_sample = _read_sample
        options.method = name
        options.percentile = percentile or 0
        options.per_channel = 1 if per_channel else c.TENGINE_PER_TENSOR
        if activations not in ("uint8", "int8"):
            raise InvalidValueError(f"activations {activations!r}: expected 'uint8' or 'int8'")
        options.unsigned_activations = int(activations == "uint8")
    with graph.lock:
        calibration = check(lib.tengine_calibration_create(graph.handle, options,
                                                           ffi.sizeof(options[0])))
        try:
            _calibrate(calibration, source, max_drop, labels, compare)
            handle = check(lib.tengine_calibration_quantize(calibration))
            quantized = Graph(handle, graph._context, graph._memory)
            return Quantized(quantized, _read_report(calibration))
        finally:
            lib.tengine_calibration_destroy(calibration)


def _calibrate(calibration, source, max_drop, labels, compare):
    def call(function, *arguments):
        if function(calibration, *arguments) < 0:
            raise source.failure or last_error()

    call(lib.tengine_calibration_run)
    if max_drop is not None:
        call(lib.tengine_calibration_search, max_drop)
    if labels is not None:
        labels = np.ascontiguousarray(labels, np.int64)
        call(lib.tengine_calibration_compare, ffi.from_buffer("int64_t[]", labels), labels.size)
    elif compare:
        call(lib.tengine_calibration_compare, ffi.NULL, 0)


def _read_all(calibration, number, kind, get):
    """The structures that a getter by index gives."""
    for index in range(number):
        entry = ffi.new(f"struct {kind}*")
        check(get(calibration, index, entry, ffi.sizeof(entry[0])))
        yield entry


def _known(value):
    """None for a figure that there is not."""
    return None if math.isnan(value) else value


def _read_report(calibration):
    summary = ffi.new("struct tengine_calibration_summary*")
    check(lib.tengine_calibration_get_summary(calibration, summary, ffi.sizeof(summary[0])))
    kept = [FloatNode(text(node.name), text(node.op), text(node.text))
            for node in _read_all(calibration, summary.node_number, "tengine_calibrated_node",
                                  lib.tengine_calibration_get_node)
            if node.reason != c.TENGINE_FLOAT_NOT]
    tensors = [QuantizedTensor(text(entry.name), entry.scale if entry.is_quantized else None,
                               entry.zero_point if entry.is_quantized else None, entry.low,
                               entry.high, _known(entry.snr_db))
               for entry in _read_all(calibration, summary.tensor_number,
                                      "tengine_calibrated_tensor",
                                      lib.tengine_calibration_get_tensor)]
    outputs = {text(entry.name): _known(entry.snr_db)
               for entry in _read_all(calibration, summary.output_number,
                                      "tengine_calibrated_output",
                                      lib.tengine_calibration_get_output)}
    return QuantizationReport(
        summary.sample_number, summary.node_number, summary.quantized_node_number,
        summary.layer_number, tuple(kept), tuple(tensors), summary.decision_number,
        summary.same_decision_number, summary.label_number, summary.right_in_float_number,
        summary.right_quantized_number, outputs)
