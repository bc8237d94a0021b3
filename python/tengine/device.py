# SPDX-License-Identifier: Apache-2.0
"""Devices in Python, to try a placement before there is C, and for tests (docs/add-a-device.md has
the contract)."""
import traceback

import numpy as np

from . import _constants as c
from . import _types, errors
from ._library import call_at_exit, ffi, lib, text
from ._lock import hook
from ._memory import find_kept, lend
from .custom import TensorInfo
from .errors import Error, InvalidValueError, check

_REASONS = {"operator": c.IR_REASON_OPERATOR, "data type": c.IR_REASON_DATA_TYPE,
            "attribute": c.IR_REASON_ATTRIBUTE, "shape": c.IR_REASON_SHAPE,
            "constant": c.IR_REASON_CONSTANT, "cost": c.IR_REASON_COST}

_registered = []


class Refuse:
    """The answer of Device.inspect for a node that the device does not take.

    Parameters
    ----------
    message : str
        One line, up to 159 bytes.
    reason : str
        "operator", "data type", "attribute", "shape", "constant" or "cost".
    attribute, value : str
        The parameter or tensor in question, and its value.
    """

    def __init__(self, message, reason="attribute", attribute="", value=""):
        if reason not in _REASONS:
            raise InvalidValueError(f"reason {reason!r}: expected "
                                    f"{', '.join(map(repr, _REASONS))}")
        self.message = message
        self.reason = reason
        self.attribute = attribute
        self.value = value


class DeviceNode:
    """A node as a device sees it. `attribute` is valid in inspect and compile, all else always.

    Attributes
    ----------
    name, op, domain : str
    inputs, outputs : list of TensorInfo
        None where an optional one is absent; `value` is a copy of a constant.
    """

    def __init__(self, handle):
        self._handle = handle
        self.name = text(handle.name)
        self.op = text(lib.get_ir_node_op(handle))
        self.domain = text(lib.get_ir_node_domain(handle))
        self.inputs = [_describe(lib.get_ir_node_input(handle, i))
                       for i in range(handle.input_num)]
        self.outputs = [_describe(lib.get_ir_node_output(handle, i))
                        for i in range(handle.output_num)]

    def attribute(self, name, otherwise=None):
        """The value of a parameter: a list, an int, a float or a str; `otherwise` if there is
        none."""
        if not self._handle:
            raise Error("the node can be read in inspect and compile only", c.TENGINE_ESTATE)
        handle, encoded = self._handle, name.encode()
        count = ffi.new("int*")
        for read in (lib.get_ir_node_ints, lib.get_ir_node_floats):
            values = read(handle, encoded, count)
            if values:
                return list(values[0:count[0]])
        for read, kind in ((lib.get_ir_node_int, int), (lib.get_ir_node_float, float)):
            # Both defaults come back where there is no such parameter.
            value = read(handle, encoded, kind(1))
            if value != 1 or read(handle, encoded, kind(2)) == 1:
                return value
        value = lib.get_ir_node_text(handle, encoded, ffi.NULL)
        return text(value) if value else otherwise


class DevicePart:
    """A part of a graph that a device runs.

    Attributes
    ----------
    nodes : list of DeviceNode
        In the order in which they run.
    inputs, outputs : list of str
        Names of the tensors that the part reads and writes.
    state : object
        The result of Device.compile.
    """

    def __init__(self, subgraph):
        graph = subgraph.graph
        self.nodes = [DeviceNode(lib.get_ir_graph_node(graph, subgraph.node_list[i]))
                      for i in range(subgraph.node_num)]
        self.inputs = [text(tensor.name) for tensor in _tensors(subgraph, "input")]
        self.outputs = [text(tensor.name) for tensor in _tensors(subgraph, "output")]
        self.state = None


class Device:
    """A device: subclasses set `name`, `operators` and `types`, and define `run`.

        class Doubler(tengine.Device):
            name = "DOUBLER"
            operators = ["Add"]

            def run(self, part, inputs):
                ...

        Doubler().register()

    Its functions run under the interpreter's lock, `run` also on threads of the library. An
    exception of `run` gives the part to the CPU, as the failure of any device does.
    """

    name = ""
    operators = ()
    types = ("fp32",)

    def inspect(self, node):
        """Judges a node of `operators` and `types` whose shapes are known: None takes it, a str or
        a Refuse does not."""

    def compile(self, part):
        """Prepares a part; the result is part.state in `run`."""

    def run(self, part, inputs):
        """Computes a part: a list of arrays, or a dict of them by name, for part.outputs. `inputs`
        is a dict of read-only arrays by name, which must not be kept."""
        raise NotImplementedError(f"device '{self.name}' does not define run")

    def register(self):
        """Adds the device to those of the process; not while sessions run.

        Raises
        ------
        tengine.Error
            As register_ir_device of C fails: the name is taken or empty.
        """
        if not self.name:
            raise InvalidValueError("the device has no name: expected the attribute name")
        tables = _Tables(self)
        check(lib.register_ir_device(tables.device, tables.abi))
        self._tables = tables
        _registered.append(self)

    def unregister(self):
        """Removes the device; sessions that name it must be closed before.

        Raises
        ------
        tengine.Error
            It is not registered, or a session or graph that is open names it (TENGINE_ESTATE; it
            stays registered).
        """
        if self not in _registered:
            raise Error(f"device '{self.name}' is not registered", c.TENGINE_ENOENT)
        check(lib.unregister_device(self._tables.device))
        _registered.remove(self)


class _Tables:
    """The tables of functions of a device, which must outlive its registration."""

    def __init__(self, device):
        self._device = device
        self._parts = {}
        self._name = ffi.new("char[]", device.name.encode())
        entries = {"init": self._succeed, "release_device": self._succeed,
                   "pre_run": self._pre_run, "run": self._run, "post_run": self._post_run}
        self._interface = ffi.new("struct interface*", self._callbacks("struct interface", entries))
        entries = {"describe": self._describe, "inspect": self._inspect}
        self._allocator = ffi.new("struct allocator*", self._callbacks("struct allocator", entries))
        self.device = ffi.new("struct device*")
        lib.init_ir_device(self.device, self._name)
        self.device.interface = self._interface
        self.device.allocator = self._allocator
        self.abi = ffi.new("ir_abi_t*", {
            "major": c.IR_ABI_MAJOR, "minor": c.IR_ABI_MINOR,
            "device_size": ffi.sizeof("struct device"),
            "scheduler_size": ffi.sizeof("struct scheduler"),
            "interface_size": ffi.sizeof("struct interface"),
            "allocator_size": ffi.sizeof("struct allocator"),
            "optimizer_size": ffi.sizeof("struct optimizer")})

    def _callbacks(self, table, entries):
        """The functions of a table, which this object keeps."""
        fields = dict(ffi.typeof(table).fields)
        made = {name: ffi.callback(fields[name].type, self._guarded(function))
                for name, function in entries.items()}
        self._kept = getattr(self, "_kept", []) + list(made.values())
        return made

    @staticmethod
    def _guarded(function):
        @hook
        def call(device, *arguments):
            try:
                function(*arguments)
                return 0
            except BaseException as error:
                errors.causes.append(error)
                code = error.code if isinstance(error, Error) else c.TENGINE_EDEVICE
                message = (str(error) or type(error).__name__).encode(errors="replace")
                return lib.tengine_error_set(code, b"%s", ffi.new("char[]", message))
        return call

    def _succeed(self):
        pass

    def _describe(self, allowed, blocked, precision):
        names = [ffi.new("char[]", name.encode()) for name in self._device.operators]
        check(lib.push_op_names(allowed, ffi.new("const char*[]", names or 1), len(names)))
        for name in self._device.types:
            check(lib.push_vector_data(precision, ffi.new("int*", _types.data_type_named(name))))

    def _inspect(self, handle, verdict):
        node = DeviceNode(handle)
        answer = self._device.inspect(node)
        node._handle = None
        if answer is None:
            return
        answer = Refuse(answer) if isinstance(answer, str) else answer
        lib.refuse_ir_node(verdict, _REASONS[answer.reason],
                           answer.attribute.encode(), answer.value.encode(), b"%s",
                           ffi.new("char[]", answer.message.encode()))

    def _pre_run(self, subgraph, options):
        part = DevicePart(subgraph)
        part.state = self._device.compile(part)
        for node in part.nodes:
            node._handle = None
        handle = ffi.new_handle(part)
        self._parts[handle] = handle
        subgraph.device_graph = handle

    def _post_run(self, subgraph):
        self._parts.pop(subgraph.device_graph, None)
        subgraph.device_graph = ffi.NULL

    def _run(self, subgraph):
        part = ffi.from_handle(subgraph.device_graph)
        inputs, memories = {}, []
        for tensor in _tensors(subgraph, "input"):
            inputs[text(tensor.name)], memory = _view(tensor)
            memories.append(memory)
        memory = None
        try:
            results = self._device.run(part, inputs)
            self._store(subgraph, part, results)
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)
            raise
        results = None
        inputs.clear()
        kept = find_kept(memories)
        if kept is not None:
            raise InvalidValueError(f"run keeps '{part.inputs[kept]}': expected a copy of what it "
                                    "keeps")

    @staticmethod
    def _store(subgraph, part, results):
        if not isinstance(results, dict):
            results = dict(zip(part.outputs, results))
        for tensor in _tensors(subgraph, "output"):
            name = text(tensor.name)
            result = results.get(name)
            # Functions of numpy return a scalar for arrays without dimensions.
            result = np.asarray(result) if isinstance(result, np.generic) else result
            view, _ = _view(tensor, is_writable=True)
            if not isinstance(result, np.ndarray) or \
                    (result.shape, result.dtype) != (view.shape, view.dtype):
                raise InvalidValueError(f"output '{name}' is {_form_of(result)}, expected "
                                        f"{_form_of(view)}")
            np.copyto(view, result)


def _form_of(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {list(value.shape)}"
    return type(value).__name__


def _tensors(subgraph, side):
    number = getattr(subgraph, f"{side}_num")
    indices = getattr(subgraph, f"{side}_tensor_list")
    return [lib.get_ir_graph_tensor(subgraph.graph, indices[i]) for i in range(number)]


def _shape(tensor):
    if not tensor.shape_set:
        return None
    return tuple(tensor.dims[i] for i in range(tensor.dim_num))


def _view(tensor, is_writable=False):
    dtype = _types.dtype_of(tensor.data_type)
    shape = _shape(tensor)
    if shape is None or -1 in shape or not tensor.data and tensor.elem_num:
        raise InvalidValueError(f"'{text(tensor.name)}' has no memory yet: expected a shape that is "
                                "known before the run")
    return lend(tensor.data, lib.get_ir_tensor_bytes(tensor), shape, dtype, is_writable)


def _describe(tensor):
    if not tensor:
        return None
    is_constant = tensor.tensor_type == c.TENSOR_TYPE_CONST and tensor.data
    is_plain = tensor.data_type != c.TENGINE_DT_STRING and tensor.data_type not in _types.PACKED
    value = _view(tensor)[0].copy() if is_constant and is_plain else None
    return TensorInfo(text(tensor.name), _shape(tensor), _types.dtype_of(tensor.data_type), value)


def _unregister_all():
    for device in list(_registered):
        lib.unregister_device(device._tables.device)


call_at_exit(_unregister_all)
