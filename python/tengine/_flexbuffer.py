# SPDX-License-Identifier: Apache-2.0
"""FlexBuffers (flatbuffers.dev), in which the library gives the attributes of a node."""
import struct

_INTS = {1: "<b", 2: "<h", 4: "<i", 8: "<q"}
_UINTS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_FLOATS = {4: "<f", 8: "<d"}

_NULL, _INT, _UINT, _FLOAT, _KEY, _STRING = range(6)
_MAP, _VECTOR, _INTS_VECTOR, _UINTS_VECTOR, _FLOATS_VECTOR, _KEYS_VECTOR = range(9, 15)
_BOOL, _BOOLS_VECTOR = 26, 36

# The type of the elements of a vector of one type.
_ELEMENTS = {_INTS_VECTOR: _INT, _UINTS_VECTOR: _UINT, _FLOATS_VECTOR: _FLOAT, _KEYS_VECTOR: _KEY,
             _BOOLS_VECTOR: _BOOL}


class _Reader:
    def __init__(self, data):
        self.data = data

    def number(self, formats, at, width):
        """A number of `width` bytes."""
        return struct.unpack_from(formats[width], self.data, at)[0]

    def uint(self, at, width):
        """An unsigned number."""
        return self.number(_UINTS, at, width)

    def value(self, at, parent_width, packed):
        """The value at a place, whose type and width are packed in a byte."""
        kind, width = packed >> 2, 1 << (packed & 3)
        if kind == _NULL:
            return None
        if kind in (_INT, _UINT, _BOOL):
            return self.number(_INTS if kind == _INT else _UINTS, at, parent_width)
        if kind == _FLOAT:
            return self.number(_FLOATS, at, parent_width)
        start = at - self.uint(at, parent_width)
        if kind == _KEY:
            return self.data[start:self.data.index(b"\0", start)].decode(errors="replace")
        size = self.uint(start - width, width)
        if kind == _STRING:
            return self.data[start:start + size].decode(errors="replace")
        if kind in _ELEMENTS:
            return [self.value(start + i * width, width, _ELEMENTS[kind] << 2)
                    for i in range(size)]
        if kind not in (_VECTOR, _MAP):
            raise ValueError(f"a FlexBuffer has a value of type {kind}")
        types = start + size * width
        values = [self.value(start + i * width, width, self.data[types + i]) for i in range(size)]
        if kind == _VECTOR:
            return values
        keys = start - 3 * width
        return dict(zip(self.keys(keys - self.uint(keys, width),
                                  self.uint(start - 2 * width, width), size), values))

    def keys(self, start, width, size):
        """The keys of a map."""
        return [self.value(start + i * width, width, _KEY << 2) for i in range(size)]


def read(data):
    """The value that the bytes hold: a dict, list, str, int or float."""
    width = data[-1]
    return _Reader(data).value(len(data) - 2 - width, width, data[-2])
