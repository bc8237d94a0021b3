# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from os import PathLike
from typing import Tuple, Union

@dataclass(frozen=True)
class TraceLane:
    name: str
    clock: str

@dataclass(frozen=True)
class TraceEvent:
    name: str
    lane: int
    kind: str
    begin_ns: int
    end_ns: int
    node: int
    part: int
    run: int
    bytes: int
    status: int

@dataclass(frozen=True)
class Trace:
    lanes: Tuple[TraceLane, ...]
    events: Tuple[TraceEvent, ...]
    def save(self, path: Union[str, "PathLike[str]"]) -> None: ...

def read_trace(graph: object) -> Trace: ...
