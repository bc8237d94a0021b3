# SPDX-License-Identifier: Apache-2.0
# One model made of two: an If with their graphs as branches, as exporters write decoders with and
# without a cache, and voice activity detectors for two sample rates. Needs python3-onnx.
from onnx import TensorProto, helper


def rename(graph, prefix, kept):
    """Puts the prefix before every name except those of inputs and outputs."""
    def renamed(name):
        return name if not name or name in kept else prefix + name
    for node in graph.node:
        node.name = prefix + node.name
        node.input[:] = [renamed(name) for name in node.input]
        node.output[:] = [renamed(name) for name in node.output]
    for tensor in graph.initializer:
        tensor.name = renamed(tensor.name)


def take_constants(graph, prefix, shared):
    """Out of the branch into the model, each once."""
    new_names = {}
    for tensor in graph.initializer:
        key = (tuple(tensor.dims), tensor.data_type, tensor.raw_data)
        if key not in shared:
            shared[key] = TensorProto.FromString(tensor.SerializeToString())
        new_names[tensor.name] = shared[key].name
    del graph.initializer[:]
    for node in graph.node:
        node.input[:] = [new_names.get(name, name) for name in node.input]


def add_empty_outputs(graph, outputs):
    """Outputs that a branch does not compute have no elements."""
    known = {value.name for value in graph.output}
    for value in outputs:
        if value.name in known:
            continue
        dims = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
        empty = helper.make_tensor("", TensorProto.FLOAT, [0] + dims[1:], [])
        graph.node.append(helper.make_node("Constant", [], [value.name], value=empty))
        graph.output.append(value)
    by_name = {value.name: value for value in graph.output}
    ordered = [by_name[value.name] for value in outputs]
    del graph.output[:]
    graph.output.extend(ordered)


def join(condition, inputs, then_model, else_model, nodes=()):
    """The condition is an input, or what the nodes before the If make of one."""
    shared = {}
    outputs = list(else_model.graph.output)
    kept = {value.name for value in [*inputs, *outputs]}
    for model, prefix in ((then_model, "then/"), (else_model, "else/")):
        rename(model.graph, prefix, kept)
        take_constants(model.graph, prefix, shared)
        del model.graph.input[:]
        add_empty_outputs(model.graph, outputs)
    choice = helper.make_node("If", [condition], [value.name for value in outputs], "choice",
                              then_branch=then_model.graph, else_branch=else_model.graph)
    graph = helper.make_graph([*nodes, choice], "joined", inputs, outputs, list(shared.values()))
    return helper.make_model(graph, opset_imports=then_model.opset_import)
