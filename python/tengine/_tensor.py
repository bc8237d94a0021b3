# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a session: arrays on one side, tensors of the graph on the other."""
import operator

import numpy as np

from . import _constants as c
from . import _types
from ._library import ffi, lib, text
from .errors import InvalidValueError, check
from .graph import format_shape, read_free_dimensions, read_shape

_from_buffer = ffi.from_buffer
_set_buffer = lib.tengine_tensor_set_buffer
_INT_MAX = 2**31 - 1


def packed_bytes(elements, bits):
    """Bytes of elements that share bytes."""
    return (elements * bits + 7) // 8


def as_array(value, dtype, name):
    """An array of a value of any type. Values of Python, which have no type, get the model's."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidValueError(f"input '{name}' has masked elements: expected an array without, as "
                                "of its method filled")
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    array = np.asarray(value)
    if array.size == 0:
        return array.astype(dtype)
    if array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise InvalidValueError(f"input '{name}' has values of {array.dtype}, expected {dtype}",
                                c.TENGINE_EDTYPE)
    return array.astype(dtype)


class Tensor:
    """The common part of inputs and outputs."""

    def __init__(self, handle):
        self.handle = handle
        self.name = text(lib.get_tensor_name(handle))
        self.read_type()

    def read_type(self):
        """Reads the type, which is known after the preparation at the latest."""
        self.data_type = check(lib.get_tensor_data_type(self.handle))
        self.dtype = _types.dtype_of(self.data_type)
        self.is_packed = self.data_type in _types.PACKED
        # numpy's arrays are the tensor's memory.
        self.is_plain = (_types.is_tensor(self.data_type) and
                         self.data_type not in (c.TENGINE_DT_STRING, c.TENGINE_DT_UNKNOWN))

    def lend(self, array):
        """Makes the array the tensor's memory and returns its address."""
        pointer = _from_buffer(array)
        check(_set_buffer(self.handle, pointer, array.nbytes))
        return pointer

    def array_shape(self, shape):
        """The shape of the array of a tensor of a shape."""
        if not self.is_packed:
            return shape
        return (packed_bytes(int(np.prod(shape, dtype=np.int64)), _types.bits_of(self.data_type)),)


class Input(Tensor):
    """An input, the array that is lent for it, and the shapes that it takes."""

    def __init__(self, handle):
        super().__init__(handle)
        self.is_string = self.data_type == c.TENGINE_DT_STRING
        shape = read_shape(handle) if self.is_plain or self.is_string else None
        self.dim_names = tuple(text(lib.tengine_tensor_get_dim_name(handle, i)) or None
                               for i in range(len(shape or ())))
        # The sizes that the model states. Free dimensions keep their names when they have a size.
        free = read_free_dimensions(handle) if shape is not None else ()
        self.pattern = None if shape is None else tuple(
            None if name or i in free else size
            for i, (name, size) in enumerate(zip(self.dim_names, shape)))
        # The shape of the arrays; None while it is not known.
        self.shape = None
        if shape is not None and None not in shape and not free:
            self.shape = self.array_shape(shape)
        # The type of arrays that can be lent.
        self.lent_dtype = self.dtype if self.is_plain else None
        self.array = None
        self.pointer = None

    def reset(self):
        """Ends the use of an array as the tensor's memory."""
        if self.array is not None:
            check(_set_buffer(self.handle, ffi.NULL, 0))
            self.array = self.pointer = None

    def accepts(self, shape):
        """Whether the model takes this shape."""
        return self.pattern is None or (
            len(shape) == len(self.pattern) and
            all(want in (None, have) for want, have in zip(self.pattern, shape)))

    def convert(self, value, cast):
        """An array that can be lent, an object array of strings, or the value of a sequence."""
        if not self.is_plain and not self.is_string:
            return value
        array = as_array(value, self.dtype, self.name)
        if array.dtype != self.dtype:
            array = self._cast(array, cast)
        if not self.is_packed and not self.accepts(array.shape):
            raise InvalidValueError(f"input '{self.name}' has shape {format_shape(array.shape)}, "
                                    f"expected {format_shape(self.pattern)}; Session.reshape "
                                    "changes it")
        if self.is_packed and array.shape != self.shape:
            raise InvalidValueError(f"input '{self.name}' has {format_shape(array.shape)} packed "
                                    f"bytes, expected {format_shape(self.shape)}")
        if self.is_string or array.flags.c_contiguous and array.flags.aligned:
            return array
        return np.array(array, order="C")

    def _cast(self, array, cast):
        if self.is_string and array.dtype.kind in "US":
            return array.astype(object)
        if array.dtype.newbyteorder("=") == self.dtype or (cast and not self.is_string):
            return array.astype(self.dtype)
        raise InvalidValueError(f"input '{self.name}' is {array.dtype}, expected {self.dtype}; "
                                "cast=True converts it", c.TENGINE_EDTYPE)

    def fill(self, value):
        """Sets the tensor's data to a converted value; whether the graph must be prepared then."""
        is_new = False
        if (self.is_plain or self.is_string) and self.shape != value.shape:
            self._set_shape(value.shape)
            is_new = True
        if self.is_string:
            self.set_strings(value)
        elif self.is_plain:
            self.pointer = None
            self.pointer = self.lend(value)
            self.array = value
        else:
            self.set_elements(value)
            is_new = True
        return is_new

    def declare(self, shape):
        """Makes `shape` the one that the input takes, beside the model's free dimensions."""
        if not self.is_plain and not self.is_string:
            raise InvalidValueError(f"input '{self.name}' is {_types.name_of(self.data_type)}: its "
                                    "elements have shapes", c.TENGINE_EDTYPE)
        self._set_shape(shape)
        self.shape = self.array_shape(shape)
        pattern = self.pattern
        if pattern is not None and len(pattern) == len(shape):
            self.pattern = tuple(None if old is None else new for old, new in zip(pattern, shape))
        elif pattern is not None:
            self.pattern = shape
            self.dim_names = ()

    def fix_dimensions(self, sizes):
        """Makes free dimensions have sizes, by name; the shape if that makes it known."""
        if not set(self.dim_names) & set(sizes):
            return None
        for name in set(self.dim_names) & set(sizes):
            if not 0 <= operator.index(sizes[name]) <= _INT_MAX:
                raise InvalidValueError(f"dimension '{name}' is {sizes[name]}: expected 0 to "
                                        f"{_INT_MAX}", c.TENGINE_ERANGE)
        self.pattern = tuple(sizes.get(name, size)
                             for name, size in zip(self.dim_names, self.pattern))
        return None if None in self.pattern else self.pattern

    def take_shape(self, shape):
        """Notes the shape that C has set; whether it is another one."""
        if self.shape == shape:
            return False
        self.shape, self.array, self.pointer = shape, None, None
        return True

    def _set_shape(self, shape):
        """Sets the tensor's shape, for the next preparation; its memory may end with it."""
        self.shape = self.array = self.pointer = None
        try:
            dims = ffi.new("int[]", list(shape) or 1)
        except OverflowError as error:
            raise InvalidValueError(f"input '{self.name}' has shape {format_shape(shape)}: expected "
                                    f"dimensions up to {_INT_MAX}", c.TENGINE_ERANGE) from error
        check(lib.set_tensor_shape(self.handle, dims, len(shape)))
        self.shape = shape

    def set_strings(self, array):
        """Copies the strings of an object array."""
        kept = [_encode(value, self.name) for value in array.ravel()]
        pointers = ffi.new("const char*[]", [ffi.from_buffer(value) for value in kept] or 1)
        check(lib.tengine_string_set(self.handle, pointers, len(kept)))

    def set_elements(self, values):
        """Copies a list of arrays, an array of an optional value, or None."""
        if values is None:
            check(lib.tengine_sequence_set(self.handle, ffi.NULL, -1))
            return
        if self.data_type >= c.TENGINE_DT_OPTIONAL and \
                self.data_type < c.TENGINE_DT_OPTIONAL_SEQUENCE:
            values = [values]
        elements = ffi.new("struct tengine_element[]", len(values) or 1)
        kept = []
        for element, value in zip(elements, values):
            array = np.require(as_array(value, self.dtype, self.name), requirements=("C", "A"))
            kept.append(array)
            if array.ndim > c.MAX_SHAPE_DIM_NUM:
                raise InvalidValueError(f"'{self.name}': an element of {array.ndim} dimensions, "
                                        f"expected {c.MAX_SHAPE_DIM_NUM} at most",
                                        c.TENGINE_ERANGE)
            element.data_type = _element_type(array, self)
            element.dim_number = array.ndim
            element.dims[0:array.ndim] = array.shape
            element.data = self._element_data(array, kept)
        check(lib.tengine_sequence_set(self.handle, elements, len(values)))

    @staticmethod
    def _element_data(array, kept):
        if array.dtype != object:
            return ffi.from_buffer(array)
        strings = [_encode(value, "element") for value in array.ravel()]
        pointers = ffi.new("const char*[]", [ffi.from_buffer(value) for value in strings] or 1)
        kept.extend((strings, pointers))
        return pointers


def _element_type(array, tensor):
    if array.dtype == tensor.dtype:
        return _types.element_type(tensor.data_type)
    found = _types.data_type_of(array.dtype)
    if found is None:
        raise InvalidValueError(f"'{tensor.name}': an element of {array.dtype}, expected "
                                f"{tensor.dtype}", c.TENGINE_EDTYPE)
    return found


def _encode(value, name):
    """The bytes of a string, with a NUL."""
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes) or b"\0" in value:
        raise InvalidValueError(f"'{name}': an element {value!r}, expected a str or bytes without "
                                "NUL", c.TENGINE_EDTYPE)
    return value + b"\0"


def copy_shapes(inputs, graph):
    """Sets the present shapes of inputs in another graph of the model."""
    for tensor in inputs:
        shape = read_shape(tensor.handle) if tensor.shape is not None else None
        if shape is not None:
            other = check(lib.get_graph_tensor(graph.handle, tensor.name.encode()))
            check(lib.set_tensor_shape(other, ffi.new("int[]", list(shape) or 1), len(shape)))


class Output(Tensor):
    """An output, and the view of the memory into which the graph writes it."""

    def __init__(self, handle):
        super().__init__(handle)
        self.view = None       # not for users: the memory ends with the preparation
        self.is_fixed = False  # the view is right for all runs of the preparation
        self.lent = None       # the array that is lent as the tensor's memory

    def reset(self):
        """Ends the use of arrays as the tensor's memory, before a preparation."""
        self.view = None
        if self.lent is not None:
            check(_set_buffer(self.handle, ffi.NULL, 0))
            self.lent = None

    def prepared(self, moves):
        """Reads what the preparation has defined; `moves`: each run may have other memory."""
        self.read_type()
        shape = read_shape(self.handle) if self.is_plain else None
        self.is_fixed = shape is not None and None not in shape
        if self.is_fixed:
            self._map(shape)
            if moves and self.view.size:
                self.lend_to_user(np.empty_like(self.view))

    def _map(self, shape):
        shape = self.array_shape(shape)
        size = lib.tengine_tensor_get_buffer_size(self.handle)
        if size <= 0:
            self.view = np.empty(shape, self.dtype)
            return
        pointer = check(lib.get_tensor_buffer(self.handle))
        memory = ffi.buffer(pointer, size)
        self.view = np.frombuffer(memory, self.dtype).reshape(shape)

    def check_array(self, array):
        """An array into which runs can write: the user's, or a new one."""
        if array is None:
            return np.empty(self.view.shape, self.dtype)
        is_right = (type(array) is np.ndarray and array.dtype == self.dtype and
                    array.shape == self.view.shape and array.flags.carray)
        if not is_right:
            given = f"{format_shape(array.shape)} {array.dtype}" if isinstance(array, np.ndarray) \
                else type(array).__name__
            raise InvalidValueError(f"output '{self.name}' is {given}: expected a dense, writable "
                                    f"array of {format_shape(self.view.shape)} {self.dtype}")
        return array

    def lend_to_user(self, array):
        """Makes runs write into the user's array, until `take_back`."""
        self.lend(array)
        self.lent = self.view = array

    def take_back(self):
        """Makes runs write into an array of the session again."""
        if self.lent is not None:
            self.lent = np.empty_like(self.lent)
            self.lend_to_user(self.lent)

    def read(self):
        """A new array with the result of the last run."""
        if self.is_fixed:
            return self.view.copy()
        if not _types.is_tensor(self.data_type):
            return self._read_elements()
        shape = read_shape(self.handle)
        if self.data_type == c.TENGINE_DT_STRING:
            return self._read_strings(shape)
        self._map(shape)
        return self.view.copy()

    def _read_strings(self, shape):
        number = int(np.prod(shape, dtype=np.int64))
        array = np.empty(number, object)
        for index in range(number):
            array[index] = text(check(lib.tengine_string_get(self.handle, index)))
        return array.reshape(shape)

    def _read_elements(self):
        if check(lib.tengine_sequence_is_absent(self.handle)):
            return None
        arrays = []
        element = ffi.new("struct tengine_element*")
        for index in range(check(lib.tengine_sequence_get_number(self.handle))):
            check(lib.tengine_sequence_get(self.handle, index, element))
            arrays.append(_read_element(element))
        is_optional = c.TENGINE_DT_OPTIONAL <= self.data_type < c.TENGINE_DT_OPTIONAL_SEQUENCE
        return arrays[0] if is_optional else arrays


def _read_element(element):
    shape = tuple(element.dims[0:element.dim_number])
    number = int(np.prod(shape, dtype=np.int64))
    if element.data_type == c.TENGINE_DT_STRING:
        strings = ffi.cast("const char* const*", element.data)
        array = np.empty(number, object)
        array[:] = [text(strings[i]) for i in range(number)]
        return array.reshape(shape)
    dtype = _types.dtype_of(element.data_type)
    if element.data_type in _types.PACKED:
        number = packed_bytes(number, _types.bits_of(element.data_type))
        shape = (number,)
    if number == 0:
        return np.empty(shape, dtype)
    memory = ffi.buffer(element.data, number * dtype.itemsize)
    return np.frombuffer(memory, dtype).reshape(shape).copy()
