# SPDX-License-Identifier: Apache-2.0
"""Processes: exit, fork, Ctrl-C, and memory after many runs."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import DIGITS, make_pictures
from onnx_bytes import BOOL, FLOAT, INT64, graph, model, node, tensor, value

import tengine


def make_loop(rounds):
    """A model that doubles x `rounds` times."""
    body = graph([node("Add", ["v", "v"], ["w"], "double"), node("Identity", ["c"], ["d"], "go")],
                 [value("i", INT64, []), value("c", BOOL, []), value("v", FLOAT, [1000])],
                 [value("d", BOOL, []), value("w", FLOAT, [1000])])
    return model([node("Loop", ["rounds", "", "x"], ["y"], "loop", body=body)],
                 [value("x", FLOAT, [1000])], [value("y", FLOAT, [1000])],
                 [tensor("rounds", np.array(rounds))])


START = f"""
import os, sys, threading, time
import numpy as np
import tengine
x = np.ones((1, 1, 8, 8), np.float32)
session = tengine.Session({str(DIGITS)!r})
first = session(x)
def forever():
    while True:
        session(x)
def long():
    sys.path.insert(0, {os.path.dirname(__file__)!r})
    from test_life import make_loop
    other = tengine.Session(make_loop(10**9))
    other(np.zeros(1000, np.float32))
"""

EXITS = {
    "nothing": "",
    "closed": "session.close()",
    "daemon": "threading.Thread(target=forever, daemon=True).start(); time.sleep(0.1)",
    "daemons": """
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)""",
    "long run": "threading.Thread(target=long, daemon=True).start(); time.sleep(1)",
    "futures": "futures = [session.submit(x) for _ in range(1000)]",
    "bound": "binding = session.bind({'image': x}); binding.run()",
    "log": "import logging; logging.basicConfig(level=10); tengine.set_log_level('debug');"
           "session.reshape({'image': (1, 1, 8, 8)}); session.place()",
    "exception": "session.extra = [session]; raise SystemExit(0)",
    "operator that does not end": """
operator = tengine.custom_op("", "Relu", version=(1, 22))(lambda i, a: time.sleep(1000))
tengine._process.PATIENCE = 0.5
threading.Thread(target=tengine.Session(session._arguments[0]), args=(x,), daemon=True).start()
time.sleep(0.3)""",
    "module": "sys.modules.clear()",
    "os._exit": "threading.Thread(target=forever, daemon=True).start(); os._exit(0)",
    "fork": """
for _ in range(3):
    child = os.fork()
    if child == 0:
        session(x)
        tengine.Session(session._arguments[0])(x)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0""",
    "fork with threads": """
threads = [threading.Thread(target=forever, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
wide = tengine.Session(session._arguments[0], threads=2, options={'scheduler': 'pipeline'})
expected = wide(x)
for _ in range(5):
    child = os.fork()
    if child == 0:
        for _ in range(3):
            assert np.array_equal(wide(x), expected) and np.array_equal(session(x), first)
        assert np.array_equal(session.submit(x).result(), first)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0""",
    "multiprocessing": """
import multiprocessing
with multiprocessing.get_context('fork').Pool(2) as pool:
    assert len(pool.map(session, [x] * 20)) == 20""",
}


@pytest.mark.parametrize("way", EXITS)
def test_exit(way):
    """The interpreter ends with status 0, whatever is in flight."""
    done = subprocess.run([sys.executable, "-c", START + EXITS[way]], timeout=60,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "Fatal" not in done.stderr


def test_exit_while_a_future_runs():
    """The interpreter waits for it; another Ctrl-C ends it."""
    program = START + """
from test_life import make_loop
other = tengine.Session(make_loop(10**9))
future = other.submit(np.zeros(1000, np.float32))
print("begun", flush=True)
future.result()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=os.path.dirname(__file__)) as process:
        assert process.stdout.readline() == b"begun\n"
        for _ in range(2):
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert b"Fatal" not in errors and process.returncode == -signal.SIGINT


def test_ctrl_c_ends_a_run(caplog):
    """A run of minutes ends with KeyboardInterrupt, and the session runs again."""
    with tengine.Session(make_loop(10**9)) as session:
        other = make_loop(3)
        subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -INT {os.getpid()}"])
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            session(np.ones(1000, np.float32))
        assert time.monotonic() - begin < 20
        assert session.report().nodes[0].op == "Loop"
        while not caplog.records and time.monotonic() - begin < 60:
            time.sleep(0.01)  # lines of the log come on another thread, before the next test
    with tengine.Session(other) as session:
        np.testing.assert_array_equal(session(np.ones(1000, np.float32)), np.full(1000, 8.0))


@pytest.mark.parametrize("options", [{}, {"scheduler": "pipeline"}], ids=["sync", "pipeline"])
def test_cancel(options, caplog):
    """Another thread ends a run; the session runs again. A call that finds nothing logs nothing."""
    with tengine.Session(make_loop(10**9), options=options) as session:
        assert session.cancel() is False
        time.sleep(0.1)  # lines of the log come on another thread
        assert not caplog.records
        session.prepare()
        for _ in range(2):
            future = session.submit(np.ones(1000, np.float32))
            end = time.monotonic() + 60
            while not session.cancel() and time.monotonic() < end:
                time.sleep(0.01)
            with pytest.raises(tengine.CanceledError):
                future.result(60)
    assert session.cancel() is False


def test_cancel_while_sessions_are_closed():
    """It never meets a graph that has ended."""
    sessions = [tengine.Session(DIGITS) for _ in range(50)]
    done = threading.Event()

    def cancel_all():
        while not done.is_set():
            for session in sessions:
                session.cancel()

    threads = [threading.Thread(target=cancel_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for session in sessions:
        try:
            session(make_pictures(1))
        except tengine.CanceledError:
            pass
        session.close()
    done.set()
    for thread in threads:
        thread.join()


def test_no_thread_can_be_started(monkeypatch):
    """Runs do not need one."""
    def fail(*unused):
        raise RuntimeError("can't start new thread")

    expected = tengine.Session(DIGITS)(make_pictures(2))
    monkeypatch.setattr("threading.Thread.start", fail)
    with tengine.Session(DIGITS) as session:
        np.testing.assert_array_equal(session(make_pictures(2)), expected)
        with pytest.raises(tengine.Error):
            session.reshape({"image": (1, 3, 8, 8)})
            session(np.zeros((1, 3, 8, 8), np.float32))


def test_deadline_ends_a_run():
    """The option run.deadline_ms, and the session afterwards."""
    with tengine.Session(make_loop(10**9), options={"run.deadline_ms": 100}) as session:
        for _ in range(2):
            begin = time.monotonic()
            with pytest.raises(tengine.CanceledError):
                session(np.ones(1000, np.float32))
            assert time.monotonic() - begin < 20


def test_handlers_of_programs_run():
    """A handler that does not raise runs while the library does, and the run continues."""
    calls = []
    before = signal.signal(signal.SIGUSR1, lambda *unused: calls.append(time.monotonic()))
    try:
        with tengine.Session(make_loop(300000)) as session:
            process = subprocess.Popen(["sh", "-c", f"sleep 0.05; kill -USR1 {os.getpid()}"])
            session(np.zeros(1000, np.float32))
            process.wait()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(calls) == 1


def resident_kib():
    """The memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


@pytest.mark.parametrize("work", ["run", "shapes", "sessions", "failures", "bindings"])
def test_memory_is_flat(work, digits):
    """Many runs hold no more memory than a few."""
    pictures = [make_pictures(number) for number in (1, 2, 3, 4, 5, 6, 7)]

    def once(index):
        if work == "run":
            digits(make_pictures(1))
        elif work == "shapes":
            digits(pictures[index % 7])
        elif work == "sessions":
            tengine.Session(DIGITS)(pictures[0])
        elif work == "failures":
            with pytest.raises(ValueError):
                digits(pictures[0][:, :, 1:])
        else:
            digits.bind({"image": pictures[index % 2]}).run()

    number = {"run": 2000, "failures": 2000, "bindings": 500}.get(work, 200)
    for index in range(number):
        once(index)
    before = resident_kib()
    for index in range(number):
        once(index)
    assert resident_kib() - before < 2000
