# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from os import PathLike
from typing import Any, Callable, Dict, Iterable, Optional, Sequence, Tuple, Union

from . import Graph

@dataclass(frozen=True)
class FloatNode:
    name: str
    op: str
    reason: str

@dataclass(frozen=True)
class QuantizedTensor:
    name: str
    scale: Optional[float]
    zero_point: Optional[int]
    low: float
    high: float
    snr_db: Optional[float]

@dataclass(frozen=True)
class QuantizationReport:
    samples: int
    nodes: int
    quantized_nodes: int
    layers: int
    kept_float: Tuple[FloatNode, ...]
    tensors: Tuple[QuantizedTensor, ...]
    decisions: int
    same_decisions: int
    labels: int
    right_in_float: int
    right_quantized: int
    output_snr_db: Dict[str, Optional[float]]

@dataclass
class Quantized:
    graph: Graph
    report: QuantizationReport
    def save(self, path: Union[str, "PathLike[str]"], format: Optional[str] = ..., *,
             opset: Optional[int] = ...) -> None: ...

def quantize(model: Any, samples: Optional[Iterable[Any]] = ..., *, method: str = ...,
             percentile: Optional[float] = ..., per_channel: bool = ..., activations: str = ...,
             keep_float: Sequence[str] = ..., max_drop: Optional[float] = ..., labels: Any = ...,
             compare: bool = ..., dynamic: bool = ..., threads: int = ...,
             progress: Optional[Callable[[int, int], Any]] = ...) -> Quantized: ...
