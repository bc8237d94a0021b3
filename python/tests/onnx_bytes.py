# SPDX-License-Identifier: Apache-2.0
"""ONNX files without the package onnx: small models are written, tensors of the suite are read."""
import struct

import numpy as np

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE = 1, 2, 3, 6, 7, 8, 9, 10, 11
UINT32, UINT64, COMPLEX64, COMPLEX128, BFLOAT16 = 12, 13, 14, 15, 16

# The data types of TensorProto as numpy reads raw_data; elements of 4 and 2 bits are packed bytes.
_DTYPES = {
    FLOAT: "<f4", UINT8: "u1", INT8: "i1", 4: "<u2", 5: "<i2", INT32: "<i4", INT64: "<i8",
    BOOL: "?", FLOAT16: "<f2", DOUBLE: "<f8", UINT32: "<u4", UINT64: "<u8", COMPLEX64: "<c8",
    COMPLEX128: "<c16", BFLOAT16: "<u2", 17: "u1", 18: "u1", 19: "u1", 20: "u1", 21: "u1", 22: "u1",
    23: "u1", 24: "u1", 25: "u1", 26: "u1",
}
BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}


def varint(value):
    """An unsigned number, or a negative one as 64 bits."""
    value &= 2**64 - 1
    result = b""
    while value > 127:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def field(number, value):
    """A field: an int as varint, a float as 32 bits, str and bytes with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    """A repeated field."""
    return b"".join(field(number, value) for value in values)


def tensor(name, array):
    """A TensorProto of an array."""
    kind = next(kind for kind, dtype in _DTYPES.items() if np.dtype(dtype) == array.dtype)
    return fields(1, array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes())


def value(name, kind, shape):
    """A ValueInfoProto of a tensor; shape None: no rank, a str: a free dimension."""
    dims = b"".join(field(1, field(2 if isinstance(size, str) else 1, size))
                    for size in shape or ())
    return field(1, name) + field(2, field(1, field(1, kind) +
                                           (b"" if shape is None else field(2, dims))))


def sequence(name, kind):
    """A ValueInfoProto of a sequence of tensors."""
    return field(1, name) + field(2, field(4, field(1, field(1, field(1, kind)))))


def attribute(name, content):
    """An AttributeProto: int, float, str, list of ints, array, or a graph (bytes)."""
    if isinstance(content, bytes):
        return field(1, name) + field(6, content) + field(20, 5)
    if isinstance(content, np.ndarray):
        return field(1, name) + field(5, tensor("", content)) + field(20, 4)
    if isinstance(content, (list, tuple)):
        return field(1, name) + fields(8, content) + field(20, 7)
    number, kind = {int: (3, 2), float: (2, 1), str: (4, 3)}[type(content)]
    return field(1, name) + field(number, content) + field(20, kind)


def node(op, inputs, outputs, name="", domain="", **attributes):
    """A NodeProto."""
    return (fields(1, inputs) + fields(2, outputs) + field(3, name) + field(4, op) +
            field(7, domain) + fields(5, [attribute(*item) for item in attributes.items()]))


def graph(nodes, inputs, outputs, constants=()):
    """A GraphProto."""
    return (fields(1, nodes) + field(2, "graph") + fields(5, constants) + fields(11, inputs) +
            fields(12, outputs))


def model(nodes, inputs, outputs, constants=(), opset=17, domains=()):
    """A ModelProto as bytes."""
    imports = field(8, field(1, "") + field(2, opset))
    imports += b"".join(field(8, field(1, domain) + field(2, 1)) for domain in domains)
    return field(1, 8) + field(7, graph(nodes, inputs, outputs, constants)) + imports


def read_fields(data):
    """The fields of a message, as lists by number."""
    found = {}
    at = 0

    def read_varint():
        nonlocal at
        result = shift = 0
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    while at < len(data):
        tag = read_varint()
        if tag & 7 == 0:
            content = read_varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or read_varint()
            content = data[at:at + size]
            at += size
        found.setdefault(tag >> 3, []).append(content)
    return found


def _read_numbers(entries):
    """Repeated varints, packed or not."""
    numbers = []
    for entry in entries:
        if isinstance(entry, int):
            numbers.append(entry)
        else:
            numbers += read_fields(b"".join(b"\x08" + part for part in _split(entry)))[1]
    return numbers


def _split(entry):
    begin = 0
    for at, byte in enumerate(entry):
        if byte < 128:
            yield entry[begin:at + 1]
            begin = at + 1


def read_tensor(data):
    """(array, data type, shape) of a TensorProto; packed elements are bytes in one dimension."""
    found = read_fields(data)
    shape = tuple(_read_numbers(found.get(1, [])))
    kind = found[2][0]
    if kind == STRING:
        array = np.empty(len(found.get(6, [])), object)
        array[:] = [entry.decode() for entry in found.get(6, [])]
        return array.reshape(shape), kind, shape
    dtype = np.dtype(_DTYPES[kind])
    if 9 in found:
        array = np.frombuffer(found[9][0], dtype)
    elif kind in (FLOAT, COMPLEX64):
        array = np.frombuffer(b"".join(found.get(4, [])), dtype)
    elif kind in (DOUBLE, COMPLEX128):
        array = np.frombuffer(b"".join(found.get(10, [])), dtype)
    else:
        numbers = _read_numbers(found.get(5, []) + found.get(7, []) + found.get(11, []))
        size = 1 if kind in BITS or dtype == bool else dtype.itemsize
        array = np.array([n & (256**size - 1) for n in numbers], f"<u{size}").view(dtype)
        if kind in BITS and len(numbers) == int(np.prod(shape)):
            array = pack(array, BITS[kind])
    return (array if kind in BITS else array.reshape(shape)), kind, shape


def pack(codes, bits):
    """Elements of fewer than 8 bits, the first in the low bits."""
    per_byte = 8 // bits
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    padded[:codes.size] = codes.ravel() & (2**bits - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * bits
    return np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, 1).astype(np.uint8)
