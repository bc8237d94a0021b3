# SPDX-License-Identifier: Apache-2.0
"""The last events of a session, each with begin and end (trace.h)."""
import dataclasses
import json

from ._library import ffi, lib, text
from .errors import check


@dataclasses.dataclass(frozen=True)
class TraceLane:
    """A row of a trace. `clock` is "" for the monotonic clock of the machine, else the simulated
    device by whose clock the lane is."""

    name: str
    clock: str


@dataclasses.dataclass(frozen=True)
class TraceEvent:
    """An event in a lane, an index. Members that do not apply are "", -1 or 0."""

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


@dataclasses.dataclass(frozen=True)
class Trace:
    """The events by begin, those of simulated devices last, and the lanes."""

    lanes: tuple
    events: tuple

    def save(self, path):
        """Writes Chrome's trace format, which Perfetto and chrome://tracing show."""
        clocks = list(dict.fromkeys(lane.clock for lane in self.lanes))
        rows = []
        for index, lane in enumerate(self.lanes):
            place = {"ph": "M", "pid": clocks.index(lane.clock), "tid": index}
            rows.append({**place, "name": "thread_name", "args": {"name": lane.name}})
            rows.append({**place, "name": "process_name",
                         "args": {"name": lane.clock or "this machine"}})
        for event in self.events:
            rows.append({
                "ph": "X", "name": event.name or event.kind, "cat": event.kind,
                "pid": clocks.index(self.lanes[event.lane].clock), "tid": event.lane,
                "ts": event.begin_ns / 1e3, "dur": (event.end_ns - event.begin_ns) / 1e3,
                "args": {"node": event.node, "part": event.part, "run": event.run,
                         "bytes": event.bytes, "status": event.status}})
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": rows}, file)


def read_trace(graph):
    """The trace of a graph_t."""
    lanes, events = [], []
    lane = ffi.new("struct tengine_trace_lane*")
    for index in range(check(lib.tengine_graph_get_trace_lane_number(graph))):
        check(lib.tengine_graph_get_trace_lane(graph, index, lane, ffi.sizeof(lane[0])))
        lanes.append(TraceLane(text(lane.name), text(lane.clock)))
    event = ffi.new("struct tengine_trace_event*")
    for index in range(check(lib.tengine_graph_get_trace_event_number(graph))):
        check(lib.tengine_graph_get_trace_event(graph, index, event, ffi.sizeof(event[0])))
        events.append(TraceEvent(
            text(event.name), event.lane, text(lib.tengine_trace_kind_get_name(event.kind)),
            event.begin_ns, event.end_ns, event.node, event.part, event.run, event.bytes,
            event.status))
    return Trace(tuple(lanes), tuple(events))
