# SPDX-License-Identifier: Apache-2.0
"""The placement of a session: where each node runs, why, and how long it takes.

The members have the names and meanings of the JSON of `tengine inspect` and `tengine run`
(docs/report.md).
"""
import dataclasses
import html


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
    """A node that a device runs. measured_ms is None while it is not known; `inputs` and `outputs`
    are indices in Report.tensors, -1 for an absent one."""

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
    inputs: tuple
    outputs: tuple
    scope: str
    precision: str
    attributes: dict
    counters: tuple


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
class ReportTensor:
    """A tensor of the nodes. shape is None without a rank, arena and offset without memory in the
    plan."""

    name: str
    type: str
    shape: tuple
    bytes: int
    producer: int
    constant: bool
    part: int
    arena: int
    offset: int


@dataclasses.dataclass(frozen=True)
class Arena:
    """Planned memory: of boundary tensors (device "") or of a part."""

    device: str
    part: int
    bytes: int
    copies: int
    memory: int
    name: str
    memory_bytes: int
    ns_per_kib: float
    moved_bytes: int
    saved_ns: float
    kept: bool
    steps: tuple


@dataclasses.dataclass(frozen=True)
class Block:
    """A tensor in an arena, -1 for scratch, from the step that writes it to the last that reads
    it."""

    tensor: int
    arena: int
    block: int
    offset: int
    bytes: int
    first: int
    last: int
    reason: str
    reason_bytes: int
    moved_bytes: int


@dataclasses.dataclass(frozen=True)
class MemoryUse:
    """The use of a memory of the board."""

    name: str
    memory_bytes: int
    ns_per_kib: float
    used: int
    moved_bytes: int
    saved_ns: float


@dataclasses.dataclass(frozen=True)
class Plan:
    """The memory plan."""

    memories: tuple
    arenas: tuple
    blocks: tuple


@dataclasses.dataclass(frozen=True)
class Report:
    """The placement of a graph, at the time when it was read."""

    nodes: tuple
    parts: tuple
    tensors: tuple
    plan: Plan
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
        row["counters"] = ", ".join(f"{entry.name} {entry.value:g} {entry.unit}".rstrip()
                                    for entry in node.counters)
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
