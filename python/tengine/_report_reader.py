# SPDX-License-Identifier: Apache-2.0
"""Reads a report (report.py) by the functions of inspect.h."""
from . import _constants as c
from . import _types
from ._library import ffi, lib, text
from .errors import check
from .report import (Arena, Block, Counter, MemoryUse, Part, Plan, Refusal, Report, ReportNode,
                     ReportTensor)

_ORIGINS = {c.TENGINE_PART_COMPILED: "compiled", c.TENGINE_PART_FROM_MODEL: "model",
            c.TENGINE_PART_FROM_CACHE: "cache"}


def _known(value):
    """A time, None for -1."""
    return None if value < 0 else value


def _read_refusals(graph, index, number):
    refusal = ffi.new("struct tengine_refusal*")
    found = []
    for i in range(number):
        check(lib.tengine_graph_get_refusal(graph, index, i, refusal))
        found.append(Refusal(text(refusal.device), text(refusal.reason), text(refusal.attribute),
                             text(refusal.value), text(refusal.message)))
    return tuple(found)


def _read_list(read, *arguments):
    """A tuple of ints that a function fills."""
    number = check(read(*arguments, ffi.NULL, 0))
    values = ffi.new("int[]", number or 1)
    check(read(*arguments, values, number))
    return tuple(values[0:number])


def _read_attributes(graph, index, number):
    attribute = ffi.new("struct tengine_node_attribute*")
    found = {}
    for i in range(number):
        check(lib.tengine_graph_get_execution_attribute(graph, index, i, attribute,
                                                        ffi.sizeof(attribute[0])))
        found[text(attribute.name)] = text(attribute.value)
    return found


def _read_node(graph, index):
    node = ffi.new("struct tengine_execution_node*")
    check(lib.tengine_graph_get_execution_node(graph, index, node))
    kernel = ffi.new("struct tengine_node_kernel*")
    check(lib.tengine_graph_get_execution_kernel(graph, index, kernel, ffi.sizeof(kernel[0])))
    detail = ffi.new("struct tengine_node_detail*")
    check(lib.tengine_graph_get_execution_detail(graph, index, detail, ffi.sizeof(detail[0])))
    name = ffi.string(node.name)
    return ReportNode(text(node.name), text(node.op), text(node.domain), text(node.device),
                      node.subgraph, node.mac_number, node.predicted_ms, _known(node.measured_ms),
                      text(node.kernel) or text(kernel.name), text(kernel.reason),
                      _read_refusals(graph, index, node.refusal_number),
                      _read_list(lib.tengine_graph_get_execution_inputs, graph, index),
                      _read_list(lib.tengine_graph_get_execution_outputs, graph, index),
                      name[:detail.scope_length].decode(errors="replace"),
                      _types.name_of(detail.precision),
                      _read_attributes(graph, index, detail.attribute_number),
                      _read_counters(lib.tengine_graph_get_node_counters, graph, index))


def _read_counters(read, graph, index):
    number = check(read(graph, index, ffi.NULL, 0))
    counters = ffi.new("struct tengine_counter[]", number or 1)
    check(read(graph, index, counters, number))
    return tuple(Counter(text(counters[i].name), text(counters[i].unit), counters[i].value)
                 for i in range(number))


def _read_part(graph, index):
    part = ffi.new("struct tengine_subgraph*")
    check(lib.tengine_graph_get_subgraph(graph, index, part))
    group = ffi.new("int*")
    check(lib.tengine_graph_get_subgraph_group(graph, index, group))
    origin = ffi.new("int*")
    check(lib.tengine_graph_get_subgraph_origin(graph, index, origin))
    return Part(index, text(part.device), group[0], part.node_number, part.input_number,
                part.output_number, part.mac_number, part.bytes_in, part.bytes_out,
                part.predicted_ms, _known(part.measured_ms), _ORIGINS[origin[0]],
                part.redo_number,
                _read_counters(lib.tengine_graph_get_counters, graph, index))


def _read_tensor(graph, index, nodes, places):
    tensor = ffi.new("struct tengine_execution_tensor*")
    check(lib.tengine_graph_get_execution_tensor(graph, index, tensor))
    shape = tuple(tensor.dims[0:tensor.dim_number]) if tensor.dim_number >= 0 else None
    arena, offset = places.get(index, (None, None))
    kind = "" if tensor.data_type == c.TENGINE_DT_UNKNOWN else _types.name_of(tensor.data_type)
    return ReportTensor(text(tensor.name), kind, shape, tensor.bytes, tensor.producer,
                        tensor.type == c.TENSOR_TYPE_CONST,
                        nodes[tensor.producer].part if tensor.producer >= 0 else -1, arena, offset)


_PLACE_REASONS = {c.TENGINE_PLACE_CHOSEN: "chosen", c.TENGINE_PLACE_TOO_LARGE: "too large",
                 c.TENGINE_PLACE_NO_ROOM: "no room"}


def _sum_memories(arenas):
    uses = {}
    for arena in arenas:
        if arena.name:
            key = arena.name, arena.memory_bytes, arena.ns_per_kib
            uses.setdefault(key, []).append(arena)
    return tuple(map(_sum_memory, uses.values()))


def _sum_memory(arenas):
    """The use of a memory by all arenas in it: memory that parts share counts once."""
    shared = {}
    for arena in arenas:
        shared[arena.memory] = max(shared.get(arena.memory, 0), arena.bytes * arena.copies)
    first = arenas[0]
    return MemoryUse(first.name, first.memory_bytes, first.ns_per_kib, sum(shared.values()),
                     sum(arena.moved_bytes for arena in arenas),
                     sum(arena.saved_ns for arena in arenas))


def _read_plan(graph):
    arenas, blocks = [], []
    arena = ffi.new("struct tengine_plan_arena*")
    for index in range(check(lib.tengine_graph_get_plan_arena_number(graph))):
        check(lib.tengine_graph_get_plan_arena(graph, index, arena, ffi.sizeof(arena[0])))
        arenas.append(Arena(text(arena.device), arena.subgraph, arena.bytes, arena.copy_number,
                            arena.memory, text(arena.name), arena.memory_bytes,
                            arena.ns_per_kib, arena.moved_bytes,
                            arena.moved_bytes / 1024
                            * (arena.slowest_ns_per_kib - arena.ns_per_kib), arena.is_kept != 0,
                            _read_list(lib.tengine_graph_get_plan_steps, graph, index)))
    block = ffi.new("struct tengine_plan_block*")
    for index in range(check(lib.tengine_graph_get_plan_block_number(graph))):
        check(lib.tengine_graph_get_plan_block(graph, index, block, ffi.sizeof(block[0])))
        blocks.append(Block(block.tensor, block.arena, block.block, block.offset, block.bytes,
                            block.first, block.last, _PLACE_REASONS[block.reason],
                            block.reason_bytes, block.moved_bytes))
    return Plan(_sum_memories(arenas), tuple(arenas), tuple(blocks))


def read_report(graph, is_placed=False):
    """The report of a graph that is prepared, or only placed: then it has no scheduler, ""."""
    stats = ffi.new("struct tengine_graph_stats*")
    check(lib.tengine_graph_get_stats(graph, stats))
    nodes = [_read_node(graph, i)
             for i in range(check(lib.tengine_graph_get_execution_node_number(graph)))]
    parts = [_read_part(graph, i) for i in range(stats.subgraph_number)]
    plan = _read_plan(graph)
    places = {}
    for block in plan.blocks:
        places.setdefault(block.tensor, (block.arena, block.offset))
    tensors = [_read_tensor(graph, i, nodes, places)
               for i in range(check(lib.tengine_graph_get_execution_tensor_number(graph)))]
    return Report(tuple(nodes), tuple(parts), tuple(tensors), plan, stats.mac_number, stats.parameter_number,
                  stats.arena_bytes, check(lib.tengine_graph_get_thread_number(graph)),
                  "" if is_placed else text(check(lib.tengine_graph_get_scheduler(graph))))
