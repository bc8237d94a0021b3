# SPDX-License-Identifier: Apache-2.0
"""The statements of a model about itself (docs/metadata.md)."""
import dataclasses

from ._library import ffi, lib, text
from .errors import check


@dataclasses.dataclass(frozen=True)
class Metadata:
    """Strings are "" and numbers 0 where the model says nothing. `properties` has the strings that
    a program stored with the model, `opsets` the versions of operators by domain."""

    graph_name: str
    producer_name: str
    producer_version: str
    domain: str
    doc_string: str
    graph_doc_string: str
    model_version: int
    ir_version: int
    properties: dict
    opsets: dict


def _read_pairs(graph, number, get, kinds):
    first, second = (ffi.new(kind) for kind in kinds)
    pairs = {}
    for index in range(number):
        check(get(graph, index, first, second))
        value = second[0]
        # A key that comes again keeps its first value, as tengine_graph_find_property has it.
        pairs.setdefault(text(first[0]), value if isinstance(value, int) else text(value))
    return pairs


def read_metadata(graph):
    """The metadata of a graph_t."""
    read = ffi.new("struct tengine_metadata*")
    check(lib.tengine_graph_get_metadata(graph, read, ffi.sizeof(read[0])))
    properties = _read_pairs(graph, read.property_number, lib.tengine_graph_get_property,
                             ("const char**", "const char**"))
    opsets = _read_pairs(graph, read.opset_number, lib.tengine_graph_get_opset,
                         ("const char**", "int64_t*"))
    return Metadata(text(read.graph_name), text(read.producer_name), text(read.producer_version),
                    text(read.domain), text(read.doc_string), text(read.graph_doc_string),
                    read.model_version, read.ir_version, properties, opsets)
