# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

@dataclass(frozen=True)
class Refusal:
    device: str
    code: str
    attribute: str
    value: str
    message: str

@dataclass(frozen=True)
class ReportNode:
    name: str
    op: str
    domain: str
    device: str
    part: int
    macs: int
    predicted_ms: float
    measured_ms: Optional[float]
    kernel: str
    kernel_reason: str
    refused: Tuple[Refusal, ...]
    inputs: Tuple[int, ...]
    outputs: Tuple[int, ...]
    scope: str
    precision: str
    attributes: Dict[str, str]
    counters: Tuple[Counter, ...]

@dataclass(frozen=True)
class Counter:
    name: str
    unit: str
    value: float

@dataclass(frozen=True)
class Part:
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
    measured_ms: Optional[float]
    origin: str
    redone: int
    counters: Tuple[Counter, ...]

@dataclass(frozen=True)
class ReportTensor:
    name: str
    type: str
    shape: Optional[Tuple[int, ...]]
    bytes: int
    producer: int
    constant: bool
    part: int
    arena: Optional[int]
    offset: Optional[int]

@dataclass(frozen=True)
class Arena:
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
    steps: Tuple[int, ...]

@dataclass(frozen=True)
class Block:
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

@dataclass(frozen=True)
class MemoryUse:
    name: str
    memory_bytes: int
    ns_per_kib: float
    used: int
    moved_bytes: int
    saved_ns: float

@dataclass(frozen=True)
class Plan:
    memories: Tuple[MemoryUse, ...]
    arenas: Tuple[Arena, ...]
    blocks: Tuple[Block, ...]

@dataclass(frozen=True)
class Report:
    nodes: Tuple[ReportNode, ...]
    parts: Tuple[Part, ...]
    tensors: Tuple[ReportTensor, ...]
    plan: Plan
    macs: int
    parameters: int
    arena: int
    threads: int
    scheduler: str
    @property
    def devices(self) -> Tuple[str, ...]: ...
    def to_dict(self) -> Dict[str, Any]: ...
    def to_pandas(self) -> Any: ...
    def summary(self) -> str: ...
