# SPDX-License-Identifier: Apache-2.0
"""The state of a session: its tensors, placement, memory and events."""
import html

from ._description import describe_input, describe_session
from ._library import ffi, lib
from ._report_reader import read_report
from .errors import InvalidValueError, check
from .graph import describe_tensor
from .trace import read_trace


class Inspection:
    """The part of Session that only reads."""

    @property
    def inputs(self):
        """The inputs, a list of Info."""
        with self._lock:
            self._check_open()
            return [describe_input(tensor) for tensor in self._inputs]

    @property
    def outputs(self):
        """The outputs, a list of Info. Shapes are those of the last preparation or run."""
        with self._lock:
            self._check_open()
            return [describe_tensor(tensor.handle) for tensor in self._outputs]

    @property
    def graph(self):
        """The model, a Graph. The program changes it only between runs."""
        self._check_open()
        return self._graph

    @property
    def memory(self):
        """The bytes that the session holds, by the members of struct tengine_graph_memory."""
        with self._lock:
            self._check_open()
            memory = ffi.new("struct tengine_graph_memory*")
            check(lib.get_graph_memory(self._handle, memory, ffi.sizeof(memory[0])))
            return {name: getattr(memory, name) for name, _ in ffi.typeof(memory[0]).fields}

    def report(self):
        """The placement and the times of the last run.

        Raises
        ------
        tengine.Error
            The session is not prepared: TENGINE_ESTATE.
        """
        with self._lock:
            self._check_open()
            return read_report(self._handle)

    def trace(self, path=None):
        """The last events of the preparation and the runs, a Trace.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file that is also written, in Chrome's trace format.

        Raises
        ------
        tengine.Error
            The session is not prepared: TENGINE_ESTATE.
        ValueError
            The option run.trace, the number of events that are kept, is 0.
        """
        with self._lock:
            self._check_open()
            if self._graph.get_option("run.trace") == "0":
                raise InvalidValueError("the session keeps no events: expected the option run.trace "
                                        "above 0")
            trace = read_trace(self._handle)
        if path is not None:
            trace.save(path)
        return trace

    def __repr__(self):
        return describe_session(self)

    def _repr_html_(self):
        head = f"<p>{html.escape(repr(self))}</p>"
        return head + self.report()._repr_html_() if self._ready else head
