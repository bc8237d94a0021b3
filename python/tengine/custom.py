# SPDX-License-Identifier: Apache-2.0
"""Custom operators in Python (docs/custom-operators.md explains those in C)."""
import traceback

import numpy as np

from . import _constants as c
from . import _flexbuffer, _types, errors
from ._library import call_at_exit, ffi, lib, text
from ._lock import hook
from ._memory import find_kept, lend
from .errors import Error, InvalidValueError, check

_operators = set()


class TensorInfo:
    """An input as `shapes` gets it: name, shape, dtype, and value (an array) of a constant."""

    __slots__ = ("name", "shape", "dtype", "value")

    def __init__(self, name, shape, dtype, value):
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.value = value


class CustomOperator:
    """An operator that a function computes; it can be called as the function.

    `unregister` ends it; graphs that have been prepared with it must be closed before.
    """

    def __init__(self, domain, name, version, function, shapes, device):
        self.function = function
        self.shapes = shapes
        self.name = f"{domain}.{name}" if domain else name
        self._states = {}
        self._handle = ffi.new_handle(self)
        first, last = (version, version) if isinstance(version, int) else version
        self._op = check(lib.tengine_op_create(domain.encode(), name.encode(), first, last))
        try:
            self._fill(device)
            check(lib.tengine_op_register(ffi.NULL, self._op))
        except BaseException:
            lib.tengine_op_destroy(self._op)
            raise
        # C has the address of this object until it calls _release.
        _operators.add(self)

    def _fill(self, device):
        op = self._op
        check(lib.tengine_op_set_user_data(op, self._handle, _release))
        check(lib.tengine_op_set_init(op, _init))
        check(lib.tengine_op_set_free(op, _free))
        check(lib.tengine_op_set_invoke(op, _invoke))
        if self.shapes is None:
            check(lib.tengine_op_set_outputs_like(op, 0))
        else:
            check(lib.tengine_op_set_prepare(op, _prepare))
        if device is not None:
            check(lib.tengine_op_set_device(op, device.encode()))

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)

    def unregister(self):
        """Ends the operator.

        Raises
        ------
        tengine.Error
            A graph has been prepared with it and is not closed, or it is not registered.
        """
        check(lib.tengine_op_unregister(ffi.NULL, self._op))
        lib.tengine_op_destroy(self._op)
        self._op = ffi.NULL

    def __repr__(self):
        return f"<tengine.CustomOperator {self.name!r}>"


def custom_op(domain, name, *, version=1, shapes=None, device=None):
    """Makes a function the implementation of an operator, for all models of the process.

        @tengine.custom_op("com.example", "Atan")
        def atan(inputs, attributes):
            return [np.arctan(inputs[0])]

    The function gets a list of arrays (None where an optional input is absent) and a dict of the
    node's attributes, and returns a list of arrays, or one array. The inputs are the graph's
    memory: they are read-only, and a function that keeps one fails. Its exceptions are failures of
    the run, with their message.

    Parameters
    ----------
    domain, name : str
        The domain ("" is ONNX's, whose operators can be replaced) and name, as models have them.
    version : int or pair of int
        The versions of the domain.
    shapes : function, optional
        Gets a list of TensorInfo and the attributes, and returns a list with (shape, dtype) of each
        output. None in place of the shape: it depends on data. Without the function outputs are as
        the first input.
    device : str, optional
        The device whose list of operators has it. None: the CPU.

    Raises
    ------
    tengine.Error
        As tengine_op_create and tengine_op_register of C fail.
    """
    def decorate(function):
        return CustomOperator(domain, name, version, function, shapes, device)
    return decorate


# ---- callbacks ----

def _fail(context, error):
    """Makes an exception the failure of a callback."""
    traceback.clear_frames(error.__traceback__)
    errors.causes.append(error)
    if isinstance(error, Error):
        code = error.code
    elif isinstance(error, KeyboardInterrupt):
        code = c.TENGINE_ECANCELED
    else:
        code = c.TENGINE_EINVAL if isinstance(error, (ValueError, TypeError)) else c.TENGINE_EDEVICE
    message = str(error) or type(error).__name__
    return lib.tengine_op_report(context, code, b"%s",
                                 ffi.new("char[]", message.encode(errors="replace")))


def _guarded(function):
    @hook
    def call(user_data, context, *rest):
        try:
            function(ffi.from_handle(user_data), context, *rest)
            return 0
        except BaseException as error:
            return _fail(context, error)
    return call


@ffi.callback("tengine_op_init_t")
@_guarded
def _init(operator, context, out_state):
    size = ffi.new("size_t*")
    data = check(lib.tengine_op_attributes(context, size))
    state = ffi.new_handle(_flexbuffer.read(bytes(ffi.buffer(data, size[0]))))
    operator._states[state] = state
    out_state[0] = state


@ffi.callback("tengine_op_free_t")
def _free(user_data, state):
    ffi.from_handle(user_data)._states.pop(state, None)


@ffi.callback("void(void*)")
def _release(user_data):
    _operators.discard(ffi.from_handle(user_data))


def _shape(tensor):
    return tuple(lib.tengine_op_tensor_dim(tensor, axis)
                 for axis in range(max(lib.tengine_op_tensor_rank(tensor), 0)))


def _dtype(tensor):
    kind = lib.tengine_op_tensor_type(tensor)
    dtype = _types.dtype_of(kind)
    if dtype is None or dtype == object or kind in _types.PACKED or not _types.is_tensor(kind):
        raise InvalidValueError(f"'{text(lib.tengine_op_tensor_name(tensor))}' is "
                                f"{_types.name_of(kind)}: expected a tensor of numbers of 8 bits "
                                "or more", c.TENGINE_EDTYPE)
    return dtype


def _view(tensor, pointer, is_writable=False):
    return lend(pointer, lib.tengine_op_tensor_bytes(tensor), _shape(tensor), _dtype(tensor),
                is_writable)


def _attributes(context):
    return ffi.from_handle(lib.tengine_op_state(context))


@ffi.callback("tengine_op_prepare_t")
@_guarded
def _prepare(operator, context):
    infos = []
    for index in range(lib.tengine_op_input_number(context)):
        tensor = lib.tengine_op_input(context, index)
        infos.append(_describe(tensor) if tensor else None)
    described = operator.shapes(infos, _attributes(context))
    number = lib.tengine_op_output_number(context)
    if len(described) != number:
        raise InvalidValueError(f"shapes returned {len(described)} outputs, expected {number}")
    for index, (shape, dtype) in enumerate(described):
        kind = _types.data_type_of(np.dtype(dtype))
        if kind is None:
            raise InvalidValueError(f"shapes returned {dtype}, which is not a type of the library",
                                    c.TENGINE_EDTYPE)
        check(lib.tengine_op_set_output_type(context, index, kind))
        if shape is None:
            check(lib.tengine_op_set_output_dynamic(context, index))
        else:
            _resize(context, index, shape)


def _describe(tensor):
    value = None
    if lib.tengine_op_tensor_is_constant(tensor):
        value = _view(tensor, lib.tengine_op_tensor_data(tensor))[0].copy()
    return TensorInfo(text(lib.tengine_op_tensor_name(tensor)), _shape(tensor), _dtype(tensor),
                      value)


def _resize(context, index, shape):
    check(lib.tengine_op_resize_output(context, index, list(shape) or ffi.NULL, len(shape)))


@ffi.callback("tengine_op_invoke_t")
@_guarded
def _invoke(operator, context):
    arrays, memories = [], []
    for index in range(lib.tengine_op_input_number(context)):
        tensor = lib.tengine_op_input(context, index)
        array = memory = None
        if tensor:
            array, memory = _view(tensor, lib.tengine_op_tensor_data(tensor))
        arrays.append(array)
        memories.append(memory)
    array = memory = None
    try:
        results = operator.function(arrays, _attributes(context))
        _store(context, results)
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)
        raise
    results = None
    arrays.clear()
    kept = find_kept(memories)
    if kept is not None:
        name = text(lib.tengine_op_tensor_name(lib.tengine_op_input(context, kept)))
        raise InvalidValueError(f"the function keeps '{name}': expected a copy of what it keeps")


def _store(context, results):
    if isinstance(results, np.ndarray) or np.isscalar(results):
        results = [results]
    number = lib.tengine_op_output_number(context)
    if len(results) != number:
        raise InvalidValueError(f"the function returned {len(results)} outputs, expected {number}")
    for index, result in enumerate(results):
        tensor = lib.tengine_op_output(context, index)
        if not tensor:
            continue
        result = np.asarray(result)
        if lib.tengine_op_tensor_rank(tensor) < 0 or -1 in _shape(tensor):
            _resize(context, index, result.shape)
            tensor = lib.tengine_op_output(context, index)
        shape, dtype = _shape(tensor), _dtype(tensor)
        if result.shape != shape or result.dtype != dtype:
            raise InvalidValueError(f"output {index} is {result.dtype} {list(result.shape)}, "
                                    f"expected {dtype} {list(shape)}")
        if result.size:
            view, _ = _view(tensor, lib.tengine_op_tensor_mutable_data(tensor), True)
            np.copyto(view, result)


def _destroy_all():
    for operator in _operators:
        if operator._op:
            lib.tengine_op_destroy(operator._op)


call_at_exit(_destroy_all)
