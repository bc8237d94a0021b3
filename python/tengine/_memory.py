# SPDX-License-Identifier: Apache-2.0
"""Arrays on memory of the library, which functions of the program see during a call only."""
import sys

import numpy as np

from ._library import ffi


def lend(pointer, size, shape, dtype, is_writable=False):
    """An array on the memory, and the object that it and all views of it refer to."""
    if size == 0:
        return np.empty(shape, dtype), None
    memory = ffi.buffer(pointer, size)
    array = np.frombuffer(memory, dtype).reshape(shape)
    array.flags.writeable = is_writable
    return array, memory


def find_kept(memories):
    """Ends the list's references to such objects; the index of one that is still referred to, or
    None."""
    found = None
    # A list that gets shorter takes memory from the heap.
    for index in range(len(memories)):
        memory = memories[index]
        memories[index] = None
        # This name, and the argument of getrefcount.
        if memory is not None and sys.getrefcount(memory) > 2:
            found = index
    return found
