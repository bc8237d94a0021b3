# SPDX-License-Identifier: Apache-2.0
"""The shared library, and its life in this process."""
import atexit
import os
import pathlib
import sysconfig

from ._cdef import ffi

MAJOR = 2
NAME = f"libtengine.so.{MAJOR}"


def _find():
    """The file of the library: the user's choice, or the wheel's copy, or that of the installation that
    the package belongs to, or that of the loader's path."""
    chosen = os.environ.get("TENGINE_LIBRARY")
    if chosen:
        return chosen
    package = pathlib.Path(__file__).resolve().parent
    folders = [package]
    if package.parent.name == "dist-packages":
        prefix = package.parents[3]
        triple = sysconfig.get_config_var("MULTIARCH") or ""
        folders += [prefix / "lib" / triple, prefix / "lib", prefix / "lib64"]
    found = [str(folder / NAME) for folder in folders if (folder / NAME).exists()]
    return found[0] if found else NAME


def _open():
    path = _find()
    try:
        return ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL), path
    except OSError as error:
        raise ImportError(f"{error}; the environment variable TENGINE_LIBRARY may name the file of "
                          "the library") from error


def _check_version():
    version = ffi.string(lib.get_tengine_version()).decode()
    if version.split(".", 1)[0] != str(MAJOR):
        raise ImportError(f"'{library_path}': version {version}, expected {MAJOR}.x, for which "
                          "this package is made")
    return version


lib, library_path = _open()
version = _check_version()

# Functions that run at exit before the library is released, in this order.
_closers = []


def call_at_exit(function):
    """Has `function` called before the library is released; False: it is not released then."""
    _closers.append(function)


@atexit.register
def _release():
    is_idle = all(function() is not False for function in _closers)
    # Without the sink no line of the log reaches an interpreter that has ended.
    lib.tengine_log_set_sink(ffi.NULL)
    if is_idle:
        lib.release_tengine()


def initialise():
    """Registers operators, formats and devices; a failure is the reason why the import fails."""
    if lib.init_tengine() < 0:
        raise ImportError(ffi.string(lib.get_tengine_error()).decode(errors="replace"))


def text(pointer):
    """The str of a C string, None for NULL."""
    return ffi.string(pointer).decode(errors="replace") if pointer else None


def encode_path(path):
    """A path as C takes it.

    Raises
    ------
    ValueError
        It has a NUL, at which C would end it.
    """
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"path {os.fsdecode(path)!r}: expected one without NUL")
    return encoded


def names(count, get):
    """The strings of a list that C gives by count and index."""
    return [text(get(index)) for index in range(count)]


initialise()
