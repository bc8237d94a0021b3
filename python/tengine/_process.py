# SPDX-License-Identifier: Apache-2.0
"""The objects of a process, at fork() and at the end of the interpreter."""
import os
import time
import weakref
from typing import Any

from . import _watch
from ._library import call_at_exit, lib
from .errors import Error

# All sessions and graphs that are open.
sessions: "weakref.WeakSet[Any]" = weakref.WeakSet()
graphs: "weakref.WeakSet[Any]" = weakref.WeakSet()


# Seconds to wait at the end for work that cannot be cancelled, such as an operator in Python.
PATIENCE = 10


def _is_closed(session):
    """Closes a session unless it runs."""
    if not session._lock.acquire(timeout=0.01):
        return False
    try:
        session.close()
    except Error:
        session._lock.release()
        return False
    # The lock is kept: daemon threads that call the session wait until the process ends.
    return True


def _close_all():
    """Ends the runs in flight and frees all graphs; whether that was possible."""
    _watch.is_exiting = True
    end = time.monotonic() + PATIENCE
    for session in list(sessions):
        while not _is_closed(session):
            if time.monotonic() > end:
                return False
            lib.tengine_graph_cancel(session._handle)
            time.sleep(0.01)
    for graph in list(graphs):
        graph.close()
    return True


_held = []


def _before_fork():
    # fork() must not overlap with a call of the library.
    for session in list(sessions):
        if session._lock.try_acquire(False) or not session._lock.must_not_wait and \
                session._lock.acquire():
            _held.append(session)


def _after_fork_in_parent():
    while _held:
        _held.pop()._lock.release()


def _after_fork_in_child():
    # The threads of sessions stay in the parent.
    for session in list(sessions):
        if session not in _held:
            session._lock.forget_owner()
        session._ready = False
        session._executor = None
    _after_fork_in_parent()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent,
                    after_in_child=_after_fork_in_child)
call_at_exit(_close_all)
