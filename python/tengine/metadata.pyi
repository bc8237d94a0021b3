# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from typing import Dict

@dataclass(frozen=True)
class Metadata:
    graph_name: str
    producer_name: str
    producer_version: str
    domain: str
    doc_string: str
    graph_doc_string: str
    model_version: int
    ir_version: int
    properties: Dict[str, str]
    opsets: Dict[str, int]

def read_metadata(graph: object) -> Metadata: ...
