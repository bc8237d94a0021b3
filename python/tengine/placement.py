# SPDX-License-Identifier: Apache-2.0
"""Hints and variants of a model (docs/hints.md, docs/compiled-parts.md)."""
import dataclasses

from . import _constants
from ._library import ffi, lib, text
from .errors import check

_PREFIX = "TENGINE_MODE_"
_PRECISIONS = {mode: name[len(_PREFIX):].lower() for name, mode in vars(_constants).items()
               if name.startswith(_PREFIX)}


@dataclasses.dataclass(frozen=True)
class Hint:
    """An affinity of the model for `nodes`, or its value of an `option`; the other one is "".
    `reason` tells why it is not used."""

    nodes: str
    option: str
    value: str
    node_number: int
    is_used: bool
    reason: str


@dataclasses.dataclass(frozen=True)
class Variant:
    """For whom compiled parts of the model are. `reason` tells why it is taken or not."""

    name: str
    devices: list
    chip: str
    driver: str
    precision: str
    options: str
    part_number: int
    bytes: int
    is_usable: bool
    is_taken: bool
    reason: str


def read_hints(graph):
    """The hints of a graph_t."""
    hints = []
    read = ffi.new("struct tengine_hint*")
    for index in range(check(lib.tengine_graph_get_hint_number(graph))):
        check(lib.tengine_graph_get_hint(graph, index, read, ffi.sizeof(read[0])))
        hints.append(Hint(text(read.nodes), text(read.option), text(read.value), read.node_number,
                          bool(read.is_used), text(read.reason)))
    return hints


def read_variants(graph):
    """The variants of a graph_t."""
    variants = []
    read = ffi.new("struct tengine_variant*")
    for index in range(check(lib.tengine_graph_get_variant_number(graph))):
        check(lib.tengine_graph_get_variant(graph, index, read, ffi.sizeof(read[0])))
        variants.append(Variant(text(read.name), text(read.devices).split(","), text(read.chip),
                                text(read.driver), _PRECISIONS[read.precision],
                                text(read.options), read.part_number, read.bytes,
                                bool(read.is_usable), bool(read.is_taken),
                                text(read.reason)))
    return variants
