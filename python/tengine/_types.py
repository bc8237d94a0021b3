# SPDX-License-Identifier: Apache-2.0
"""Element types of the library and of numpy."""
import numpy as np

from . import _constants as c
from ._library import lib, text

_NUMPY = {
    c.TENGINE_DT_FP32: np.float32,
    c.TENGINE_DT_FP16: np.float16,
    c.TENGINE_DT_INT8: np.int8,
    c.TENGINE_DT_UINT8: np.uint8,
    c.TENGINE_DT_INT32: np.int32,
    c.TENGINE_DT_INT16: np.int16,
    c.TENGINE_DT_INT64: np.int64,
    c.TENGINE_DT_BOOL: np.bool_,
    c.TENGINE_DT_FP64: np.float64,
    c.TENGINE_DT_UINT16: np.uint16,
    c.TENGINE_DT_UINT32: np.uint32,
    c.TENGINE_DT_UINT64: np.uint64,
    c.TENGINE_DT_STRING: np.object_,
    c.TENGINE_DT_COMPLEX64: np.complex64,
    c.TENGINE_DT_COMPLEX128: np.complex128,
}

# Types that numpy lacks: with the package ml_dtypes its types, else unsigned integers of the same
# bits.
_SMALL = {
    c.TENGINE_DT_BF16: ("bfloat16", np.uint16),
    c.TENGINE_DT_FLOAT8E4M3FN: ("float8_e4m3fn", np.uint8),
    c.TENGINE_DT_FLOAT8E4M3FNUZ: ("float8_e4m3fnuz", np.uint8),
    c.TENGINE_DT_FLOAT8E5M2: ("float8_e5m2", np.uint8),
    c.TENGINE_DT_FLOAT8E5M2FNUZ: ("float8_e5m2fnuz", np.uint8),
    c.TENGINE_DT_FLOAT8E8M0: ("float8_e8m0fnu", np.uint8),
}

# Several elements share a byte: arrays have the packed bytes, in one dimension.
PACKED = frozenset((c.TENGINE_DT_UINT4, c.TENGINE_DT_INT4, c.TENGINE_DT_UINT2, c.TENGINE_DT_INT2,
                    c.TENGINE_DT_FLOAT4E2M1))

for _type, (_name, _bits) in _SMALL.items():
    try:
        import ml_dtypes
        _NUMPY[_type] = getattr(ml_dtypes, _name, _bits)
    except ImportError:
        _NUMPY[_type] = _bits
for _type in PACKED:
    _NUMPY[_type] = np.uint8
_DTYPES = {kind: np.dtype(scalar) for kind, scalar in _NUMPY.items()}


def element_type(data_type):
    """The type of the elements of a tensor, a sequence or an optional value."""
    if data_type == c.TENGINE_DT_UNKNOWN:
        return data_type
    return data_type % c.TENGINE_DT_SEQUENCE


def is_tensor(data_type):
    """Whether the type is that of a tensor, and not of a sequence or an optional value."""
    return data_type < c.TENGINE_DT_SEQUENCE or data_type == c.TENGINE_DT_UNKNOWN


def dtype_of(data_type):
    """numpy's type of the elements, None while the type is not known."""
    return _DTYPES.get(element_type(data_type))


def data_type_of(dtype):
    """The library's type for one of numpy, None where it has none."""
    for kind, known in _DTYPES.items():
        if known == dtype and kind not in PACKED:
            return kind
    return None


def data_type_named(name):
    """The library's type of a name: "fp32"."""
    names = {name_of(kind): kind for kind in _DTYPES}
    if name not in names:
        raise ValueError(f"type {name!r}: expected {', '.join(map(repr, names))}")
    return names[name]


def name_of(data_type):
    """"fp32", "sequence(int64)", "optional(fp32)"."""
    if data_type == c.TENGINE_DT_UNKNOWN:
        return "unknown"
    name = text(lib.tengine_data_type_get_name(element_type(data_type)))
    if data_type >= c.TENGINE_DT_OPTIONAL_SEQUENCE:
        return f"optional(sequence({name}))"
    if data_type >= c.TENGINE_DT_OPTIONAL:
        return f"optional({name})"
    return f"sequence({name})" if data_type >= c.TENGINE_DT_SEQUENCE else name


def bits_of(data_type):
    """Bits of one element, 0 while the type is not known."""
    kind = element_type(data_type)
    return 0 if kind == c.TENGINE_DT_UNKNOWN else lib.tengine_data_type_get_bits(kind)
