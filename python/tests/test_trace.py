# SPDX-License-Identifier: Apache-2.0
"""The events of preparations and runs."""
import json

import pytest
from conftest import DIGITS, make_pictures

import tengine


@pytest.mark.parametrize("arguments", [
    {}, {"devices": ["TPU"], "precision": "bf16", "options": {"split.prune": 0}}, {"threads": 2},
    {"options": {"scheduler": "pipeline"}}])
def test_events(tmp_path, arguments):
    """Runs contain parts, which contain steps of nodes; the file has all events."""
    options = {**arguments.pop("options", {}), "run.trace": 5000}
    with tengine.Session(DIGITS, options=options, **arguments) as session:
        for _ in range(3):
            session(make_pictures(1))
        trace = session.trace(tmp_path / "trace.json")
        nodes = session.report().nodes
    runs = [event for event in trace.events if event.kind == "run"]
    parts = [event for event in trace.events if event.kind == "part"]
    steps = [event for event in trace.events if event.kind == "step"]
    assert len(runs) == 3 and [event.run for event in runs] == [0, 1, 2]
    assert len(parts) >= 3 and steps and all(event.end_ns >= event.begin_ns for event in parts)
    assert all(runs[part.run].begin_ns <= part.begin_ns for part in parts
               if not trace.lanes[part.lane].clock)
    assert {event.node for event in steps} <= {-1, *range(len(nodes))}
    rows = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    written = [row for row in rows if row["ph"] == "X"]
    assert len(written) == len(trace.events)
    assert written[0]["ts"] == trace.events[0].begin_ns / 1e3
    names = {row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    assert names == {lane.name for lane in trace.lanes}


def test_without_the_option():
    """The message names the option."""
    with tengine.Session(DIGITS) as session:
        session(make_pictures(1))
        with pytest.raises(ValueError, match="run.trace"):
            session.trace()
    with tengine.Session(DIGITS, options={"run.trace": 10}) as session:
        with pytest.raises(tengine.Error):
            session.trace()
