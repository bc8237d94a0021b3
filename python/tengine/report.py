# SPDX-License-Identifier: Apache-2.0
"""The placement of a session: where each node runs, why, and how long it takes.

The members have the names and meanings of the JSON of `tengine inspect` and `tengine run`
(docs/report.md).
"""
import dataclasses
import html

from . import _constants as c
from ._library import ffi, lib, text
from .errors import check

_ORIGINS = {c.TENGINE_PART_COMPILED: "compiled", c.TENGINE_PART_FROM_MODEL: "model",
            c.TENGINE_PART_FROM_CACHE: "cache"}


@dataclasses.dataclass(frozen=True)
class Refusal:
    """The reason why a device did not get a node; strings that do not apply are ""."""

    device: str
    code: str
    attribute: str
    value: str
    message: str


@dataclasses.dataclass(frozen=True)
class ReportNode:
    """A node that a device runs. measured_ms is None while it is not known."""

    name: str
    op: str
    domain: str
    device: str
    part: int
    macs: int
    predicted_ms: float
    measured_ms: float
    kernel: str
    kernel_reason: str
    refused: tuple


@dataclasses.dataclass(frozen=True)
class Counter:
    """A figure that a device counted in the last run."""

    name: str
    unit: str
    value: float


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of the graph, which one device runs. measured_ms is None before its first run."""

    id: int
    device: str
    group: int
    nodes: int
    inputs: int
    outputs: int
    macs: int
    bytes_in: int
    bytes_out: int
    predicted_ms: float
    measured_ms: float
    origin: str
    redone: int
    counters: tuple


@dataclasses.dataclass(frozen=True)
class Report:
    """The placement of a graph, at the time when it was read."""

    nodes: tuple
    parts: tuple
    macs: int
    parameters: int
    arena: int
    threads: int
    scheduler: str

    @property
    def devices(self):
        """The devices that have nodes, in the order of their first part."""
        return tuple(dict.fromkeys(part.device for part in self.parts))

    def to_dict(self):
        """Lists and dicts of it, with the keys of the JSON."""
        return dataclasses.asdict(self)

    def to_pandas(self):
        """The nodes as a pandas.DataFrame, one row each.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas
        return pandas.DataFrame([self._row(node) for node in self.nodes])

    @staticmethod
    def _row(node):
        row = {field.name: getattr(node, field.name) for field in dataclasses.fields(node)}
        row["refused"] = "; ".join(f"{refusal.device}: {refusal.message}"
                                   for refusal in node.refused)
        return row

    def summary(self):
        """"TPU 41 nodes, CPU 6"."""
        counts = {}
        for node in self.nodes:
            counts[node.device] = counts.get(node.device, 0) + 1
        parts = [f"{device} {count}" for device, count in counts.items()]
        if parts:
            parts[0] += " node" if next(iter(counts.values())) == 1 else " nodes"
        return ", ".join(parts)

    def _cells(self):
        columns = ("name", "op", "device", "part", "macs", "predicted_ms", "measured_ms",
                   "kernel", "refused")
        rows = []
        for node in self.nodes:
            row = self._row(node)
            rows.append([_format_cell(row[column]) for column in columns])
        return columns, rows

    def __str__(self):
        columns, rows = self._cells()
        table = [columns, *rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(columns))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                 for row in table]
        return "\n".join(lines)

    def _repr_html_(self):
        columns, rows = self._cells()
        head = "".join(f"<th>{column}</th>" for column in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                       for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _format_cell(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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


def _read_node(graph, index):
    node = ffi.new("struct tengine_execution_node*")
    check(lib.tengine_graph_get_execution_node(graph, index, node))
    kernel = ffi.new("struct tengine_node_kernel*")
    check(lib.tengine_graph_get_execution_kernel(graph, index, kernel, ffi.sizeof(kernel[0])))
    return ReportNode(text(node.name), text(node.op), text(node.domain), text(node.device),
                      node.subgraph, node.mac_number, node.predicted_ms, _known(node.measured_ms),
                      text(node.kernel) or text(kernel.name), text(kernel.reason),
                      _read_refusals(graph, index, node.refusal_number))


def _read_counters(graph, index):
    number = check(lib.tengine_graph_get_counters(graph, index, ffi.NULL, 0))
    counters = ffi.new("struct tengine_counter[]", number or 1)
    check(lib.tengine_graph_get_counters(graph, index, counters, number))
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
                part.redo_number, _read_counters(graph, index))


def read_report(graph, is_placed=False):
    """The report of a graph that is prepared, or only placed: then it has no scheduler, ""."""
    stats = ffi.new("struct tengine_graph_stats*")
    check(lib.tengine_graph_get_stats(graph, stats))
    nodes = [_read_node(graph, i)
             for i in range(check(lib.tengine_graph_get_execution_node_number(graph)))]
    parts = [_read_part(graph, i) for i in range(stats.subgraph_number)]
    return Report(tuple(nodes), tuple(parts), stats.mac_number, stats.parameter_number,
                  stats.arena_bytes, check(lib.tengine_graph_get_thread_number(graph)),
                  "" if is_placed else text(check(lib.tengine_graph_get_scheduler(graph))))
