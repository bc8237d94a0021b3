# SPDX-License-Identifier: Apache-2.0
"""A model: its nodes and tensors, the devices and options that it is prepared with, its file."""
import os
import threading

import numpy as np

from . import _constants as c
from . import _types
from ._library import encode_path, ffi, lib, names, text
from ._lock import Lock
from ._process import graphs
from .errors import InvalidValueError, check, keep_failure, last_error
from .metadata import read_metadata
from .placement import read_hints, read_variants


class Info:
    """A tensor of a model: its name, shape and type.

    Attributes
    ----------
    name : str
    shape : tuple or None
        Sizes; a free dimension has the model's name for it (str), or None without one. None when
        not even the rank is known.
    dtype : numpy.dtype or None
        numpy's type of the elements, None while the type is not known.
    type : str
        The library's name of the type: "fp32", "sequence(int64)".
    bits : int
        Bits of one element. Arrays of elements of fewer than 8 bits have the packed bytes, in one
        dimension.
    quant : tuple or None
        (scales, zero points) as arrays, for a quantised tensor:
        real = scale * (stored - zero point).
    """

    __slots__ = ("name", "shape", "dtype", "type", "bits", "quant")

    def __init__(self, name, shape, data_type, quant=None):
        self.name = name
        self.shape = shape
        self.dtype = _types.dtype_of(data_type)
        self.type = _types.name_of(data_type)
        self.bits = _types.bits_of(data_type)
        self.quant = quant

    def __repr__(self):
        return f"<Info {self.name!r} {format_shape(self.shape)} {self.type}>"


def format_shape(shape):
    """"1x3xbatch", "scalar", "unknown shape"."""
    if shape is None:
        return "unknown shape"
    return "x".join("?" if size is None else str(size) for size in shape) or "scalar"


def read_shape(tensor):
    """The sizes of a tensor's dimensions, None for those that are not known; None without a
    rank."""
    if not check(lib.tengine_tensor_has_rank(tensor)):
        return None
    dims = ffi.new("int[]", c.MAX_SHAPE_DIM_NUM)
    number = check(lib.get_tensor_shape(tensor, dims, c.MAX_SHAPE_DIM_NUM))
    return tuple(None if dims[i] < 0 else dims[i] for i in range(number))


def read_free_dimensions(tensor):
    """The dimensions that a program may set although the tensor has a size for them."""
    dims = ffi.new("int[]", c.MAX_SHAPE_DIM_NUM)
    count = lib.tengine_tensor_get_declared_shape(tensor, dims, c.MAX_SHAPE_DIM_NUM)
    if count < 0:
        lib.clr_tengine_errno()
        return ()
    return tuple(i for i in range(count) if dims[i] < 0)


def read_quant(tensor):
    """(scales, zero points) of a tensor, None when it is not quantised."""
    number = 1
    while True:
        scales = np.empty(number, np.float32)
        zero_points = np.empty(number, np.int32)
        found = lib.get_tensor_quant_param(tensor, ffi.from_buffer("float[]", scales),
                                           ffi.from_buffer("int[]", zero_points), number)
        if found >= 0:
            return (scales[:found], zero_points[:found]) if found else None
        if lib.get_tengine_errno() != c.TENGINE_ERANGE:
            raise last_error()
        number *= 4


def describe_tensor(tensor):
    """The Info of a tensor."""
    shape = read_shape(tensor)
    if shape is not None:
        shape = tuple((text(lib.tengine_tensor_get_dim_name(tensor, i)) or size)
                      if size is None else size for i, size in enumerate(shape))
    return Info(text(lib.get_tensor_name(tensor)), shape,
                check(lib.get_tensor_data_type(tensor)), read_quant(tensor))


class Node:
    """A node of a model. It is valid until its graph is closed."""

    __slots__ = ("_graph", "_handle")

    # How each type of attribute is read: the name of the type, and that of its elements.
    _READERS = (("int", "int"), ("float", "float"), ("int64[]", "int64_t"), ("float[]", "float"),
                ("int[]", "int"), ("string", "char"), ("string[]", "const char*"))

    def __init__(self, graph, handle):
        self._graph = graph
        self._handle = handle

    @property
    def handle(self):
        """The node_t of C."""
        self._graph.handle  # fails for a graph that is closed
        return self._handle

    @property
    def name(self):
        """The node's name, a generated one where the file has none."""
        return text(check(lib.get_node_name(self.handle)))

    @property
    def op(self):
        """The operator: "Conv"."""
        return text(check(lib.get_node_op(self.handle)))

    @property
    def domain(self):
        """The domain of the operator, "" for ONNX's."""
        return text(check(lib.tengine_node_get_domain(self.handle)))

    @property
    def version(self):
        """The opset that the meaning of the operator is taken from."""
        return check(lib.tengine_node_get_version(self.handle))

    @property
    def doc_string(self):
        """The documentation of the node, "" without one."""
        return text(check(lib.tengine_node_get_doc_string(self.handle)))

    @property
    def device(self):
        """The device that runs the node; before the preparation the first of the graph's list."""
        return text(check(lib.get_node_device(self.handle)))

    @property
    def inputs(self):
        """The names of the tensors that the node reads, None where an optional one is absent."""
        return self._tensors(lib.get_node_input_number, lib.get_node_input_tensor)

    @property
    def outputs(self):
        """The names of the tensors that the node writes, None where an optional one is absent."""
        return self._tensors(lib.get_node_output_number, lib.get_node_output_tensor)

    def _tensors(self, count, get):
        handle = self.handle
        tensors = [get(handle, i) for i in range(check(count(handle)))]
        return [text(lib.get_tensor_name(tensor)) if tensor else None for tensor in tensors]

    def attribute(self, name):
        """The value of an attribute: int, float, str, or a list of these.

        Raises
        ------
        tengine.Error
            The operator has no such attribute; the message lists its attributes.
        """
        handle = self.handle
        encoded = name.encode()
        number = check(lib.tengine_node_get_attr_number(handle, encoded))
        for kind, element in self._READERS:
            is_string = kind == "string"
            is_list = kind.endswith("[]") or is_string
            values = ffi.new(f"{element}[]", number + 1 if is_list else 1)
            size = ffi.sizeof(values) - (0 if is_string or not is_list else ffi.sizeof(element))
            if lib.get_node_attr_generic(handle, encoded, kind.encode(), values, size) >= 0:
                if is_string:
                    return text(values)
                read = [text(v) if element == "const char*" else v for v in values]
                return read[:number] if is_list else read[0]
        raise last_error()

    def __repr__(self):
        return f"<Node {self.name!r} {self.op}>"


class Context:
    """A list of devices with their options, which the instances of a graph share."""

    def __init__(self, devices):
        self.handle = ffi.NULL
        if isinstance(devices, (str, bytes, dict)):
            raise TypeError(f"devices is {devices!r}: expected a list of names")
        self.handle = check(lib.create_context(ffi.NULL, 0 if devices is None else 1))
        for device in () if devices is None else devices:
            name, settings = (device, {}) if isinstance(device, str) else device
            check(lib.add_context_device(self.handle, name.encode()))
            for key, value in settings.items():
                self.set_option(f"{name}.{key}", value)

    def set_option(self, key, value):
        """Sets an option by key; True and False are 1 and 0."""
        value = str(int(value)) if isinstance(value, bool) else str(value)
        check(lib.tengine_context_set_option(self.handle, key.encode(), value.encode()))

    def __del__(self):
        if lib.tengine_is_initialised():
            with keep_failure():
                lib.destroy_context(self.handle)


class Graph:
    """A model that is loaded and not prepared; a Session runs it.

    One thread at a time may use a graph and its nodes.
    """

    def __init__(self, handle, context, memory):
        self._handle = handle
        self._context = context
        self._memory = memory
        self.lock = Lock()
        # Held while the handle ends, and while it is used without the other lock. The handler of a
        # signal may take it again.
        self._end_lock = threading.RLock()
        self.user = None
        graphs.add(self)

    @classmethod
    def open(cls, model, *, devices=None, options=None, format=None):
        """Loads a model.

        Parameters
        ----------
        model : str, os.PathLike, bytes-like, or onnx.ModelProto
            A file, or its content. The content of a tmfile is used in place.
        devices : list, optional
            The devices, best first: names, or pairs of a name and a dict of the device's options.
            The CPU takes what the others refuse. None: the default device.
        options : dict, optional
            Options by key (docs/options.md): "split.prune". True and False are 1 and 0.
        format : str, optional
            "onnx", "tengine" or "tflite". None: by the ending of the file's name, or by the first
            bytes.

        Raises
        ------
        tengine.Error
            As create_graph, add_context_device and tengine_context_set_option of C fail;
            FileNotFoundError, too, for a file that cannot be read.
        TypeError
            A model of another type.
        """
        context = Context(devices)
        for key, value in ({} if options is None else options).items():
            context.set_option(key, value)
        handle, memory = _load(context.handle, model, format)
        return cls(handle, context, memory)

    @property
    def handle(self):
        """The graph_t of C."""
        if not self._handle:
            raise InvalidValueError("the graph is closed", c.TENGINE_EHANDLE)
        return self._handle

    def share(self):
        """Another instance of the model, for another thread: constants are shared, all else is its
        own (tengine_graph_share).

        Raises
        ------
        tengine.Error
            As tengine_graph_share of C fails.
        """
        with self.lock:
            handle = check(lib.tengine_graph_share(self.handle))
            return Graph(handle, self._context, self._memory)

    @property
    def entries(self):
        """The names of the entries of the model's file, in its order; empty for a model that is one
        graph."""
        number = check(lib.tengine_graph_get_entry_number(self.handle))
        return [ffi.string(lib.tengine_graph_get_entry_name(self.handle, i)).decode()
                for i in range(number)]

    def open_entry(self, name):
        """Another entry of the model's file: constants and states of the same name are shared
        (tengine_graph_open_entry).

        Raises
        ------
        tengine.Error
            As tengine_graph_open_entry of C fails.
        """
        with self.lock:
            handle = check(lib.tengine_graph_open_entry(self.handle, name.encode()))
            graph = Graph(handle, self._context, self._memory)
            graph.lock = self.lock
            return graph

    @property
    def is_open(self):
        """False after `close`."""
        return bool(self._handle)

    def close(self):
        """Frees the graph. A graph that is closed stays closed; its session is closed, too.

        Raises
        ------
        tengine.Error
            The graph is running: an operator or a device calls this, or the handler of a signal.
        """
        with self.lock, self._end_lock:
            handle, self._handle = self._handle, None
            if handle and lib.destroy_graph(handle) < 0:
                self._handle = handle
                raise last_error()
            self._context = self._memory = None

    def cancel(self):
        """Ends the preparation or the run that another thread makes, as Session.cancel."""
        with self._end_lock:
            return self._is_busy() and lib.tengine_graph_cancel(self._handle) >= 0

    def _is_busy(self):
        """Whether a run is in flight, or another thread has the lock."""
        if not self._handle:
            return False
        if not self.lock.try_acquire(False):
            return True
        self.lock.release()
        return lib.get_graph_exec_status(self._handle) == c.GRAPH_STAT_RUNNING

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) and lib.tengine_is_initialised():
            with keep_failure():
                self.close()

    @property
    def nodes(self):
        """The nodes, in the order of the file."""
        handle = self.handle
        return [Node(self, lib.get_graph_node_by_idx(handle, i))
                for i in range(check(lib.get_graph_node_num(handle)))]

    @property
    def tensors(self):
        """The tensors, in the order of the file."""
        handle = self.handle
        return [describe_tensor(lib.tengine_graph_get_tensor(handle, i))
                for i in range(check(lib.tengine_graph_get_tensor_number(handle)))]

    @property
    def inputs(self):
        """The inputs, in the order of the file."""
        handle = self.handle
        return [describe_tensor(lib.tengine_graph_get_input(handle, i))
                for i in range(check(lib.tengine_graph_get_input_number(handle)))]

    @property
    def outputs(self):
        """The outputs, in the order of the file."""
        handle = self.handle
        return [describe_tensor(lib.tengine_graph_get_output(handle, i))
                for i in range(check(lib.tengine_graph_get_output_number(handle)))]

    @property
    def metadata(self):
        """The statements of the model about itself, a Metadata."""
        return read_metadata(self.handle)

    @property
    def hints(self):
        """The affinities and options that the model sets for itself, a list of Hint."""
        return read_hints(self.handle)

    @property
    def variants(self):
        """The variants of the model's compiled parts, a list of Variant."""
        return read_variants(self.handle)

    def set_option(self, key, value):
        """Sets an option, for the next preparation of this graph and of those that share with it."""
        self.handle  # fails for a graph that is closed
        self._context.set_option(key, value)

    def get_option(self, key):
        """The value of an option, as a str; None for a device's that was not set."""
        self.handle  # fails for a graph that is closed
        return text(lib.tengine_context_get_option(self._context.handle, key.encode()))

    def save(self, path, format=None, *, opset=None):
        """Writes the graph to a file.

        Parameters
        ----------
        path : str or os.PathLike
        format : str, optional
            "onnx", "tengine" or "tflite". None: by the ending of the file's name.
        opset : int, optional
            The opset of an ONNX file. None: the option model.opset decides.

        Raises
        ------
        tengine.Error
            As save_graph of C fails.
        """
        if opset is not None:
            self.set_option("model.opset", opset)
        path = os.fspath(path)
        name = format or format_of(path)
        with self.lock:
            check(lib.save_graph(self.handle, name.encode(), encode_path(path)))

    def __repr__(self):
        if not self._handle:
            return "<Graph, closed>"
        return f"<Graph of {lib.get_graph_node_num(self._handle)} nodes>"


def format_of(path):
    """The format of a model by the ending of its file's name."""
    formats = list(zip(names(lib.tengine_format_get_number(), lib.tengine_format_get_name),
                       names(lib.tengine_format_get_number(), lib.tengine_format_get_file_ending)))
    for name, ending in formats:
        if ending and os.fsdecode(path).endswith(ending):
            return name
    endings = ", ".join(ending for _, ending in formats if ending)
    raise InvalidValueError(f"'{os.fsdecode(path)}': the format is not known by the file's name: "
                            f"expected one that ends with {endings}, or the argument format")


def find_format(model):
    """The format of a model: by the name of its file, or the first bytes of its content."""
    if isinstance(model, (str, os.PathLike)):
        return format_of(os.fspath(model))
    # A tmfile begins with its version, 2 as 16 bits; ONNX begins with a tag of protobuf.
    first = ffi.buffer(ffi.from_buffer(model))[0:8]
    if first[4:8] == b"TFL3":
        return "tflite"
    return "tengine" if first[0:2] == b"\x02\x00" else "onnx"


def _load(context, model, format):
    """Returns the handle, and the object whose memory the graph uses."""
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        name = format or find_format(path)
        return check(lib.create_graph(context, name.encode(), encode_path(path))), None
    try:
        memory = ffi.from_buffer(model)
    except (TypeError, BufferError) as error:
        raise TypeError(f"model is {type(model).__name__}: expected a path, bytes, an "
                        "onnx.ModelProto or a tengine.Graph") from error
    name = format or find_format(model)
    handle = lib.tengine_graph_load(context, f"{name}:view".encode(), memory, len(memory))
    return check(handle), memory
