# SPDX-License-Identifier: Apache-2.0
"""Runs without copies, on arrays that are lent to a session."""
from . import _constants as c
from ._types import name_of
from .errors import InvalidValueError


class Binding:
    """Arrays that are lent to a session: `run` neither copies nor allocates.

    Attributes
    ----------
    inputs, outputs : dict
        The arrays by name. The program changes the inputs between runs and reads the outputs until
        the next one.
    """

    def __init__(self, session, inputs, outputs):
        self._session = session
        if not isinstance(inputs, dict) or not isinstance(outputs, dict):
            raise TypeError("inputs and outputs of a binding: expected dicts of arrays by name")
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)
        with session._lock:
            session._check_open()
            self._check_inputs()
            self._attach()

    def _check_inputs(self):
        session = self._session
        arrays = session._order((), self.inputs)
        for tensor, array in zip(session._inputs, arrays):
            if not tensor.is_plain:
                raise InvalidValueError(f"input '{tensor.name}' is {name_of(tensor.data_type)}: expected a "
                                        "tensor of numbers to bind", c.TENGINE_EDTYPE)
            if tensor.convert(array, False) is not array:
                raise InvalidValueError(f"input '{tensor.name}' cannot be lent: expected a dense, "
                                        f"aligned array of {tensor.dtype}")

    def _attach(self):
        session = self._session
        session._binding = None
        session._feed_slowly(session._order((), self.inputs), False)
        for output in session._outputs:
            if not output.is_fixed:
                raise InvalidValueError(f"output '{output.name}' has a shape that depends on data: "
                                        "expected one that is known before the run")
        unknown = set(self.outputs) - {output.name for output in session._outputs}
        if unknown:
            raise InvalidValueError(f"output '{min(unknown)}' does not exist: expected "
                                    f"{', '.join(repr(o.name) for o in session._outputs)}")
        arrays = [output.check_array(self.outputs.get(output.name)) for output in session._outputs]
        session._binding = self
        for output, array in zip(session._outputs, arrays):
            output.lend_to_user(array)
            self.outputs[output.name] = array

    def run(self):
        """Runs the model on the arrays.

        Raises
        ------
        tengine.Error
            As run_graph of C fails; the session is closed.
        """
        session = self._session
        lock = session._lock
        if not lock.try_acquire(False):
            lock.acquire()
        try:
            if session._binding is not self or not session._ready:
                session._check_open()
                self._attach()
            session._run(session)
        finally:
            lock.release()
