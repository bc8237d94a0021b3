# SPDX-License-Identifier: Apache-2.0
"""Lines of the library's log, for the logger "tengine" of the module logging.

The library logs on any thread, with locks of its own held. The sink therefore only appends the line
to a queue, and a thread hands it to the logger.
"""
import logging
import os
import queue
import threading

from . import _constants as c
from ._library import ffi, lib

_LEVELS = {
    c.LOG_EMERG: logging.CRITICAL,
    c.LOG_ALERT: logging.CRITICAL,
    c.LOG_CRIT: logging.CRITICAL,
    c.LOG_ERR: logging.ERROR,
    c.LOG_WARNING: logging.WARNING,
    c.LOG_NOTICE: logging.INFO,
    c.LOG_INFO: logging.INFO,
    c.LOG_DEBUG: logging.DEBUG,
}
_NAMES = {"error": c.LOG_ERR, "warning": c.LOG_WARNING, "notice": c.LOG_NOTICE,
          "info": c.LOG_INFO, "debug": c.LOG_DEBUG}

logger = logging.getLogger("tengine")
logger.addHandler(logging.NullHandler())


class _Drain:
    """The queue, and the thread that empties it, which starts with the first line."""

    def __init__(self):
        self.lines = queue.SimpleQueue()
        self._thread = None
        self._lock = threading.Lock()

    def put(self, level, line):
        """Appends a line; any thread."""
        self.lines.put((level, line))
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._drain, daemon=True,
                                                    name="tengine-log")
                    self._thread.start()

    def flush(self):
        """Returns when the lines before this call have been handed to the logger."""
        if self._thread is not None and self._thread is not threading.current_thread():
            done = threading.Event()
            self.lines.put((None, done))
            done.wait()

    def _drain(self):
        while True:
            level, line = self.lines.get()
            if level is None:
                line.set()
            else:
                logger.log(level, "%s", line.decode(errors="replace").rstrip("\n"))


_drain = _Drain()


@ffi.callback("void(int, const char*)")
def _sink(level, line):
    _drain.put(_LEVELS.get(level, logging.INFO), ffi.string(line))


def _restart():
    global _drain
    _drain = _Drain()


def flush():
    """Returns when the logger has all lines that the library has logged so far."""
    _drain.flush()


def set_log_level(level):
    """Sets the least severe lines that the library logs, for the whole process.

    Parameters
    ----------
    level : str
        "error", "warning", "notice" (the default), "info" or "debug". The logger "tengine" gets
        notices as logging.INFO.

    Raises
    ------
    ValueError
        Another level.
    """
    if level not in _NAMES:
        raise ValueError(f"level {level!r}: expected {', '.join(map(repr, _NAMES))}")
    lib.set_log_level(_NAMES[level])


lib.tengine_log_set_sink(_sink)
os.register_at_fork(after_in_child=_restart)
