# SPDX-License-Identifier: Apache-2.0
"""Entries: named graphs of one model, which share weights and states."""
from ._library import ffi, lib
from .errors import check
from .graph import Graph


class Entries:
    """The part of a session that is about entries."""

    @property
    def entries(self):
        """The names of the entries of the model's file, in its order; empty for a model that is one
        graph."""
        with self._lock:
            self._check_open()
            return self._graph.entries

    def open_entry(self, name):
        """A session of another entry of the model's file. Both share weights, and states of the same
        name; one of them runs at a time.

        Parameters
        ----------
        name : str
            One of `entries`.

        Raises
        ------
        tengine.Error
            As tengine_graph_open_entry of C fails.
        """
        with self._lock:
            self._check_open()
            model, arguments = self._arguments
            options = {**(arguments["options"] or {}), "model.entry": name}
            session = type(self).__new__(type(self))
            session._arguments = (model, {**arguments, "options": options, "shapes": None,
                                          "affinity": None})
            session._plan = self._plan
            session._use(self._graph.open_entry(name), owns_graph=True)
        with session._closing_on_failure():
            session._prepare_early()
        return session


def join_entries(entries):
    """Makes graphs the entries of one model, which share states from then on; Graph.save of one of
    them writes all to a tmfile.

    Parameters
    ----------
    entries : dict
        Graphs, or sessions, by the names of the entries, in the order of the file.

    Raises
    ------
    tengine.Error
        As tengine_graph_join_entries of C fails.
    TypeError
        Another value than a Graph or a Session.
    """
    graphs = []
    for value in entries.values():
        graph = value if isinstance(value, Graph) else getattr(value, "graph", None)
        if not isinstance(graph, Graph):
            raise TypeError(f"an entry is {value!r}: expected a Graph or a Session")
        graphs.append(graph)
    names = [ffi.new("char[]", name.encode()) for name in entries]
    check(lib.tengine_graph_join_entries([graph.handle for graph in graphs], names, len(graphs)))
    for graph in graphs:
        session = graph.user() if graph.user else None
        if session is not None:
            session._ready = False
