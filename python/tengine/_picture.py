# SPDX-License-Identifier: Apache-2.0
"""Pictures as input of a session (docs/pictures.md), by the functions of image.h."""
import json
import os

import numpy as np

from . import _constants as c
from ._library import encode_path, ffi, lib
from .errors import InvalidValueError, check
from .graph import read_quant, read_shape


class _Pictures:
    """struct tengine_image for each source, with the memory that it refers to."""

    def __init__(self, sources):
        self.structs = ffi.new("struct tengine_image[]", len(sources))
        self._kept = []
        self._decoded = []
        for struct, source in zip(self.structs, sources):
            self._read(struct, source)

    def _read(self, struct, source):
        if isinstance(source, (str, os.PathLike)):
            check(lib.tengine_image_load(encode_path(source), 0, ffi.addressof(struct)))
            self._decoded.append(struct)
        elif isinstance(source, np.ndarray):
            self._refer(struct, source)
        else:
            memory = ffi.from_buffer(source)
            check(lib.tengine_image_decode(memory, len(memory), 0, ffi.addressof(struct)))
            self._decoded.append(struct)

    def _refer(self, struct, array):
        is_colour = array.ndim == 3 and array.shape[2] == 3
        if array.dtype != np.uint8 or not (is_colour or array.ndim == 2):
            raise InvalidValueError(f"a picture is an array of {array.dtype} {list(array.shape)}: "
                                    "expected uint8 of height x width, or height x width x 3 (RGB)")
        array = np.ascontiguousarray(array)
        self._kept.append(array)
        struct.pixels = ffi.from_buffer("unsigned char[]", array)
        struct.height, struct.width = array.shape[:2]
        struct.format = c.TENGINE_IMAGE_RGB if is_colour else c.TENGINE_IMAGE_GREY

    def free(self):
        """Frees what was decoded."""
        for struct in self._decoded:
            lib.tengine_image_free(ffi.addressof(struct))


def _read_settings(settings, model):
    """struct tengine_image_settings of a dict, a file, or the file beside the model."""
    read = ffi.new("struct tengine_image_settings*")
    check(lib.tengine_image_settings_init(read, ffi.sizeof(read[0])))
    if isinstance(settings, dict):
        encoded = json.dumps(settings).encode()
        check(lib.tengine_image_settings_parse(encoded, len(encoded), read))
    elif settings is not None:
        check(lib.tengine_image_settings_load(encode_path(settings), read))
    elif isinstance(model, (str, os.PathLike)):
        check(lib.tengine_image_settings_load_beside(encode_path(model), read))
    return read


def read_pictures(tensor, sources, settings, model):
    """An array for the input `tensor`, whose free dimensions get their sizes."""
    settings = _read_settings(settings, model)
    pictures = _Pictures(sources)
    try:
        check(lib.tengine_image_set_input_shape(tensor.handle, pictures.structs, len(sources),
                                                settings))
        shape = read_shape(tensor.handle)
        if len(shape) != 4:
            raise InvalidValueError(f"input '{tensor.name}' has {len(shape)} dimensions: expected 4")
        array = np.empty(shape, tensor.dtype)
        target = ffi.new("struct tengine_image_target*", {"data_type": tensor.data_type,
                                                          "dims": list(shape)})
        quant = read_quant(tensor.handle)
        if quant is not None:
            target.scale, target.zero_point = quant[0][0], quant[1][0]
        check(lib.tengine_image_convert(pictures.structs, len(sources), settings, target,
                                        ffi.from_buffer(array, require_writable=True),
                                        array.nbytes))
        return array
    finally:
        pictures.free()
