# SPDX-License-Identifier: Apache-2.0
"""The lock of a session or a graph."""
import contextlib
import threading

from . import _constants as c
from .errors import Error


class _Thread(threading.local):
    """The work of the calling thread for the library."""

    lock = None  # the lock whose owner waits for a call that the thread makes
    hooks = 0    # functions of operators and devices in Python that it is in


_thread = _Thread()


class Lock:
    """A lock that its owner may take again. A thread for which the owner may wait gets an error
    instead of waiting for ever: it runs an operator or a device in Python that uses its own
    session."""

    __slots__ = ("_lock", "try_acquire", "release")

    def __init__(self):
        self._lock = threading.RLock()
        self.try_acquire = self._lock.acquire  # with False: does not wait
        self.release = self._lock.release

    @property
    def must_not_wait(self):
        """Whether the owner may wait for the calling thread: one that makes the owner's call, or one
        of the library's own, which run parts of any session."""
        if _thread.lock is self:
            return True
        return _thread.hooks > 0 and isinstance(threading.current_thread(), threading._DummyThread)

    def acquire(self, timeout=-1):
        """Waits for the lock; whether the thread has it.

        Raises
        ------
        tengine.Error
            The owner may wait for the calling thread.
        """
        if self.try_acquire(False):
            return True
        if self.must_not_wait:
            raise Error("the session is running: an operator or a device must not use the session "
                        "that calls it", c.TENGINE_ESTATE)
        return self.try_acquire(timeout=timeout)

    def forget_owner(self):
        """Frees the lock in a child of fork(), when the owner has stayed in the parent."""
        self._lock._at_fork_reinit()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *unused):
        self.release()


@contextlib.contextmanager
def acting_for_owner(lock):
    """A call that the thread makes for the owner of the lock, who waits for it."""
    _thread.lock = lock
    try:
        yield
    finally:
        _thread.lock = None


def hook(function):
    """A function that the library calls for an operator or a device."""
    def call(*arguments):
        _thread.hooks += 1
        try:
            return function(*arguments)
        finally:
            _thread.hooks -= 1
    return call
