# SPDX-License-Identifier: Apache-2.0
"""Models with compiled parts (docs/compiled-parts.md)."""
import os
import pathlib
import tempfile

from ._library import ffi, lib
from .errors import InvalidValueError, check
from .graph import Graph, find_format, format_of
from .session import Session


def compile(model, path, *, shapes=None, devices=None, precision="fp32", threads=None, options=None,
            affinity=None, keep_host=True):
    """Writes a tmfile with the parts that devices compile, so that a session loads them.

    Parameters
    ----------
    model : str, os.PathLike, bytes-like, or onnx.ModelProto
        A model in any format; parts are added to those of a tmfile.
    path : str or os.PathLike
        The tmfile to write.
    shapes, devices, precision, threads, options, affinity
        As of Session. All shapes of inputs must be known.
    keep_host : bool
        Also keeps the parts of the CPU, which are for processors like this one.

    Returns
    -------
    Report
        The placement of the parts.

    Raises
    ------
    tengine.Error
        As create_graph, prerun_graph_multithread and save_graph of C fail.
    ValueError
        A shape of an input that does not exist, or another ending of the path than .tmfile.
    """
    if format_of(path) != "tengine":
        raise InvalidValueError(f"'{os.fspath(path)}': the file name must end in .tmfile")
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    options = {} if options is None else dict(options)
    options.update({"model.keep_parts": 1, "model.keep_host_parts": keep_host})
    with tempfile.TemporaryDirectory() as folder:
        if find_format(model) != "tengine":
            # Nodes keep their names, for affinities and reports.
            converted = pathlib.Path(folder) / "model.tmfile"
            with Graph.open(model, options={"model.fold_activations": 0}) as graph:
                _set_shapes(graph, shapes)
                graph.save(converted)
            model = converted
        with Session(model, devices=devices, precision=precision, threads=threads, shapes=shapes,
                     options=options, affinity=affinity) as session:
            session.prepare()
            session.graph.save(path, "tengine")
            return session.report()


def _set_shapes(graph, shapes):
    handles = {info.name: lib.tengine_graph_get_input(graph.handle, index)
               for index, info in enumerate(graph.inputs)}
    for name, shape in (shapes or {}).items():
        if name not in handles:
            raise InvalidValueError(f"input '{name}' does not exist: expected "
                                    f"{', '.join(map(repr, handles))}")
        check(lib.set_tensor_shape(handles[name], ffi.new("int[]", list(shape) or 1), len(shape)))
