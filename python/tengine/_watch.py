# SPDX-License-Identifier: Apache-2.0
"""Calls of the library that take long, which Ctrl-C ends.

Python calls the handler of a signal only on the main thread and between two of its instructions. A
preparation, and a run that is not known to be short, is therefore made on another thread while the
main thread waits; an exception of a handler (KeyboardInterrupt) cancels it.
"""
import signal
import threading
import time

from . import _lock
from ._library import lib
from .errors import last_error

# Seconds of a run after which the next ones are watched, too: starting the thread takes 0.1 ms.
LONG = 0.02

_run_graph = lib.run_graph


def _handles_interrupts():
    return (threading.current_thread() is threading.main_thread() and
            callable(signal.getsignal(signal.SIGINT)))


# Set when the interpreter ends: calls that are then cancelled do not return to the program.
is_exiting = False


def stop_at_exit(lock):
    """Ends the calling thread, which holds the lock, when the interpreter ends."""
    if is_exiting and threading.current_thread() is not threading.main_thread():
        lock.release()
        threading.Event().wait()


def _call_directly(function, arguments):
    result = function(*arguments)
    if result < 0:
        raise last_error()
    return result


def call(session, function, *arguments):
    """Returns the result of a function of the library, which is negative when it fails. The calling
    thread holds the session's lock.

    Raises
    ------
    tengine.Error
        The failure of the function.
    BaseException
        That of a signal's handler, after the call has been cancelled. The call has ended, unless
        another exception came while it was ending: then the graph is still running.
    """
    if not _handles_interrupts():
        return _call_directly(function, arguments)
    outcome = []
    done = threading.Lock()
    done.acquire()

    def work():
        with _lock.acting_for_owner(session._lock):
            result = function(*arguments)
        outcome.append(last_error() if result < 0 else result)
        done.release()

    try:
        threading.Thread(target=work, daemon=True, name="tengine-call").start()
    except RuntimeError:
        # There are too many threads, or the interpreter ends.
        return _call_directly(function, arguments)
    try:
        done.acquire()
    except BaseException:
        # Nothing is in flight yet, or no longer, where this fails.
        while not done.acquire(timeout=0.01):
            lib.tengine_graph_cancel(session._handle)
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def run(session):
    """A run that may be long; decides how the next ones of this preparation are made."""
    begin = time.perf_counter()
    try:
        call(session, _run_graph, session._handle, 1)
    except BaseException:
        stop_at_exit(session._lock)
        raise
    session._run = run if time.perf_counter() - begin > LONG else run_briefly


def run_briefly(session):
    """A run that is known to be short."""
    if _run_graph(session._handle, 1) < 0:
        error = last_error()
        stop_at_exit(session._lock)
        raise error
