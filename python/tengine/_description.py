# SPDX-License-Identifier: Apache-2.0
"""A session in words."""
import os

from .graph import describe_tensor, format_shape


def describe_input(tensor):
    """The Info of an input, with names of the dimensions that are free."""
    info = describe_tensor(tensor.handle)
    if tensor.pattern is not None and info.shape is not None and \
            len(tensor.pattern) == len(info.shape):
        info.shape = tuple(name if size is None else size
                           for name, size in zip(tensor.dim_names, tensor.pattern))
    return info


def describe_session(session):
    """The model, its inputs and outputs, and the devices of its nodes, in one line."""
    model = session._arguments[0]
    title = f"'{os.fspath(model)}'" if isinstance(model, (str, os.PathLike)) else "of a model"
    if session._closed:
        return f"<tengine.Session {title}, closed>"
    inputs = ", ".join(f"{info.name} {format_shape(info.shape)} {info.dtype or info.type}"
                       for info in session.inputs)
    outputs = ", ".join(f"{info.name} {format_shape(info.shape)}" for info in session.outputs)
    placed = session.report().summary() if session._ready else "not prepared"
    return f"<tengine.Session {title} {inputs} -> {outputs}, {placed}>"
