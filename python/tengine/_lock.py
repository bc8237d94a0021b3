# SPDX-License-Identifier: Apache-2.0
"""The lock of a session or a graph."""
import contextlib
import threading

from . import _constants as c
from .errors import Error

# The lock whose owner waits for the calling thread.
_acting = threading.local()


class Lock:
    """A lock that its owner may take again. A thread for which the owner waits gets an error instead
    of waiting for ever: it runs an operator or a device in Python that uses its own session."""

    __slots__ = ("_lock", "try_acquire", "release")

    def __init__(self):
        self._lock = threading.RLock()
        self.try_acquire = self._lock.acquire  # with False: does not wait
        self.release = self._lock.release

    @property
    def is_held_for_this_thread(self):
        """Whether the owner waits for the calling thread."""
        return getattr(_acting, "lock", None) is self

    def acquire(self, timeout=-1):
        """Waits for the lock; whether the thread has it.

        Raises
        ------
        tengine.Error
            The owner waits for the calling thread.
        """
        if self.try_acquire(False):
            return True
        if self.is_held_for_this_thread:
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
    _acting.lock = lock
    try:
        yield
    finally:
        _acting.lock = None
