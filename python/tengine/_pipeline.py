# SPDX-License-Identifier: Apache-2.0
"""Futures of a session whose scheduler has several runs in flight."""
import collections

from ._library import lib
from .errors import check


class Pipeline:
    """The calls of Session.submit that have not been made yet, in order."""

    def __init__(self, session):
        self._session = session
        self._calls = collections.deque()
        self._flight = collections.deque()

    def add(self, future, arrays, named):
        """Appends a call; any thread."""
        self._calls.append((future, arrays, named))

    def cancel(self):
        """Cancels the calls that have not been made."""
        while self._calls:
            future = self._calls.popleft()[0]
            if future.cancel():
                future.set_running_or_notify_cancel()

    def work(self):
        """Makes all calls, on the thread of the session, and sets the results of their futures."""
        session = self._session
        with session._lock:
            while self._calls or self._flight:
                if self._calls and len(self._flight) < session.frames:
                    self._begin(*self._calls.popleft())
                else:
                    self._end()

    def _begin(self, future, arrays, named):
        if not future.set_running_or_notify_cancel():
            return
        session = self._session
        try:
            session._check_open()
            inputs = session._order(arrays, named)
            # A preparation needs a graph without runs in flight.
            while self._flight and not session._is_fed_at_once(inputs):
                self._end()
            session._feed(inputs)
            check(lib.run_graph(session._handle, 0))
        except BaseException as error:
            future.set_exception(error)
        else:
            # The graph copies its inputs; arrays that were converted are kept until then.
            self._flight.append(future)

    def _end(self):
        future = self._flight.popleft()
        session = self._session
        try:
            check(lib.wait_graph(session._handle, 0))
            future.set_result(session._read_outputs())
        except BaseException as error:
            future.set_exception(error)
