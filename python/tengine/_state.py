# SPDX-License-Identifier: Apache-2.0
"""Values that a session keeps from run to run."""
import numpy as np

from ._library import ffi, lib
from ._tensor import Tensor, as_array
from .errors import InvalidValueError, check
from .graph import format_shape, read_shape


class State(Tensor):
    """A state of the graph: arrays are copied."""

    def _shape(self):
        return self.array_shape(read_shape(self.handle))

    def read(self):
        """A new array with the value that the next run reads."""
        array = np.empty(self._shape(), self.dtype)
        check(lib.tengine_tensor_get_data(self.handle, ffi.from_buffer(array), array.nbytes))
        return array

    def convert(self, value):
        """A dense array of the state's type and shape."""
        array = as_array(value, self.dtype, self.name)
        shape = self._shape()
        if array.dtype != self.dtype or array.shape != shape:
            raise InvalidValueError(f"state '{self.name}' is {format_shape(array.shape)} "
                                    f"{array.dtype}, expected {format_shape(shape)} {self.dtype}")
        return np.ascontiguousarray(array)

    def write(self, array):
        """Makes the next run read a converted value."""
        check(lib.tengine_tensor_set_data(self.handle, ffi.from_buffer(array), array.nbytes))


class States:
    """The part of a session that is about states."""

    def _list_states(self):
        number = check(lib.tengine_graph_get_state_number(self._handle))
        return {state.name: state for state in
                (State(lib.tengine_graph_get_state(self._handle, i)) for i in range(number))}

    def _prepared_states(self):
        self._check_idle()
        states = self._list_states()
        if states and not self._ready:
            self.prepare()
            states = self._list_states()
        return states

    @property
    def states(self):
        """The values that the session keeps from run to run, by name: copies of those that the next
        run reads. Assigning a dict sets the named ones, so that a stream can be continued later or
        in another session.

        Raises
        ------
        tengine.Error
            The session is running, or its inputs have no shapes yet.
        ValueError
            A name, a type or a shape that the model does not have; no state is changed.
        """
        with self._lock:
            return {name: state.read() for name, state in self._prepared_states().items()}

    @states.setter
    def states(self, values):
        with self._lock:
            states = self._prepared_states()
            for name in values:
                if name not in states:
                    raise InvalidValueError(f"state '{name}' does not exist: expected "
                                            f"{', '.join(map(repr, states)) or 'none'}")
            converted = {name: states[name].convert(value) for name, value in values.items()}
            for name, array in converted.items():
                states[name].write(array)

    def reset_states(self):
        """Gives all states their first value.

        Raises
        ------
        tengine.Error
            The session is running.
        """
        with self._lock:
            self._check_idle()
            check(lib.tengine_graph_reset_states(self._handle))
