# SPDX-License-Identifier: Apache-2.0
"""Shapes in which smaller inputs run."""
from ._library import ffi, lib, text
from .errors import check
from .graph import format_shape


class Buckets:
    """The part of a session that is about buckets."""

    def add_bucket(self, shapes):
        """Adds shapes in which smaller inputs run, too, where padding does not change results.

        Parameters
        ----------
        shapes : dict
            Shapes by the input's name: {"image": (4, 3, 224, 224)}. Other inputs have the shape of
            each run.

        Raises
        ------
        tengine.Error
            The session is running.
        ValueError
            An input that does not exist, or a shape of another rank or without elements.
        """
        listed = ",".join(f"{name}={format_shape(shape)}" for name, shape in shapes.items())
        with self._lock:
            self._check_idle()
            self._release_binding()
            check(lib.tengine_graph_add_bucket(self._handle, listed.encode()))
            self._ready = False

    @property
    def buckets(self):
        """The buckets of the model: a list of str such as "image=4x3x224x224"."""
        with self._lock:
            self._check_open()
            number = check(lib.tengine_graph_get_bucket_number(self._handle))
            return [text(lib.tengine_graph_get_bucket(self._handle, i)) for i in range(number)]

    @property
    def bucket(self):
        """The number of the bucket in which the present inputs run, or None, and the reason: ""
        where the inputs have its shapes, or where there are no buckets.

        Raises
        ------
        tengine.Error
            The session is running, or its inputs have no shapes yet.
        """
        with self._lock:
            self._check_idle()
            if not self._ready:
                self.prepare()
            number = ffi.new("int[1]")
            reason = check(lib.tengine_graph_explain_bucket(self._handle, number))
            return (None if number[0] < 0 else number[0]), text(reason)
