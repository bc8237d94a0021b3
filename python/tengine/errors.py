# SPDX-License-Identifier: Apache-2.0
"""Failures of the library as exceptions: the text is the library's message."""
import collections
import contextlib

from . import _constants as c
from ._library import ffi, lib, text


class Error(RuntimeError):
    """A failure of the library.

    Attributes
    ----------
    code : int
        The value of `enum tengine_error`, such as -41.
    name : str
        Its name, such as "TENGINE_EOPERATOR".
    """

    code = c.TENGINE_EINTERNAL

    def __init__(self, message, code=None):
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def name(self):
        """The name of the code."""
        return text(lib.tengine_error_name(self.code))

    def __reduce__(self):
        return type(self), (str(self), self.code)


class InvalidValueError(Error, ValueError):
    """An argument that is not valid: a value, a shape, a data type."""

    code = c.TENGINE_EINVAL


class FileError(Error, FileNotFoundError):
    """A file that is absent, or cannot be read or written."""

    code = c.TENGINE_EIO


class NoSuchObjectError(Error, LookupError):
    """A name that stands for nothing: a device, an option, a node."""

    code = c.TENGINE_ENOENT


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or a limit is exceeded."""

    code = c.TENGINE_ENOMEM


class NotSupportedError(Error, NotImplementedError):
    """An operator or a feature that this version does not have."""

    code = c.TENGINE_ENOTSUP


class CanceledError(Error):
    """A run or a preparation that was cancelled."""

    code = c.TENGINE_ECANCELED


_CLASSES = {
    c.TENGINE_EINVAL: InvalidValueError,
    c.TENGINE_ERANGE: InvalidValueError,
    c.TENGINE_EDTYPE: InvalidValueError,
    c.TENGINE_EIO: FileError,
    c.TENGINE_ENOENT: NoSuchObjectError,
    c.TENGINE_ENOMEM: OutOfMemoryError,
    c.TENGINE_ENOTSUP: NotSupportedError,
    c.TENGINE_EOPERATOR: NotSupportedError,
    c.TENGINE_ECANCELED: CanceledError,
}


def make_error(code, message):
    """The exception of a code of the library."""
    return _CLASSES.get(code, Error)(message, code)


# Exceptions of the program's own functions, called by the library, which then fails.
causes: "collections.deque[BaseException]" = collections.deque(maxlen=8)


def last_error():
    """The exception of the calling thread's last failure, KeyboardInterrupt if that is its cause."""
    message = ffi.string(lib.get_tengine_error()).decode(errors="replace")
    error = make_error(lib.get_tengine_errno(), message)
    for cause in list(causes):
        if (str(cause) or type(cause).__name__) in message:
            causes.clear()
            if isinstance(cause, KeyboardInterrupt):
                return cause
            error.__cause__ = cause
            break
    return error


@contextlib.contextmanager
def keep_failure():
    """Keeps the thread's failure, which may not have been read yet when an object is collected."""
    code = lib.tengine_error_code()
    message = ffi.string(lib.tengine_error_message())
    yield
    if code:
        lib.tengine_error_set(code, b"%s", ffi.new("char[]", message))


def check(result):
    """Returns a result that is not a failure: a number from 0 on, or a pointer that is not NULL."""
    if isinstance(result, int):
        if result < 0:
            raise last_error()
    elif not result:
        raise last_error()
    return result
