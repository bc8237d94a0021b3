# SPDX-License-Identifier: Apache-2.0
"""Operators, devices and handlers of signals that use the session that is running."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import DIGITS, make_pictures
from onnx_bytes import FLOAT, model, node, value
from test_life import START

import tengine

X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
SOURCE = model([node("Hook", ["x"], ["a"], "hook", "com.example"), node("Relu", ["a"], ["y"])],
               [value("x", FLOAT, [2, 3])], [value("y", FLOAT, [2, 3])], domains=["com.example"])

USES = {
    "call": lambda session: session(X),
    "run": lambda session: session.run(None, X),
    "submit": lambda session: session.submit(X),
    "bind": lambda session: session.bind({"x": X.copy()}),
    "prepare": lambda session: session.prepare(),
    "reshape": lambda session: session.reshape({"x": (2, 3)}),
    "place": lambda session: session.place(),
    "clone": lambda session: session.clone(),
    "close": lambda session: session.close(),
    "close the graph": lambda session: session.graph.close(),
}


@pytest.fixture
def hook():
    """Calls a function from an operator, and gives the session with this operator."""
    calls = []

    @tengine.custom_op("com.example", "Hook")
    def run_hook(inputs, attributes):
        for function in calls:
            function()
        return [inputs[0].copy()]

    session = tengine.Session(SOURCE)
    yield session, calls
    session.close()
    run_hook.unregister()


@pytest.mark.parametrize("brief", [False, True], ids=["first run", "later run"])
@pytest.mark.parametrize("use", USES)
def test_an_operator_uses_its_session(use, brief, hook):
    """It gets an error, and the run continues."""
    session, calls = hook
    failures = []

    def fail():
        try:
            USES[use](session)
        except tengine.Error as error:
            failures.append(error.name)

    if brief:
        session(X)
    calls.append(fail)
    np.testing.assert_array_equal(session(X), np.maximum(X, 0))
    # Calls of submit wait for the session on their own thread.
    assert failures == ([] if brief and use == "submit" else ["TENGINE_ESTATE"])
    calls.clear()
    np.testing.assert_array_equal(session(X), np.maximum(X, 0))


@pytest.mark.parametrize("options", [{}, {"scheduler": "pipeline"}], ids=["sync", "pipeline"])
def test_a_device_uses_its_session(options):
    """As an operator, also on threads of the library."""
    failures = []

    class Own(tengine.Device):
        """Closes the session."""

        name = "OWN"
        operators = ["Relu"]

        def run(self, part, inputs):
            """Rectifies."""
            with pytest.raises(tengine.Error) as error:
                session.close()
            failures.append(error.value.name)
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
            return [np.maximum(x, 0) for x in inputs.values()]

    device = Own()
    device.register()
    source = model([node("Relu", ["x"], ["y"])], [value("x", FLOAT, [2, 3])],
                   [value("y", FLOAT, [2, 3])])
    with tengine.Session(source, devices=["OWN"], options={"split.prune": 0, **options}) as session:
        for _ in range(2):
            np.testing.assert_array_equal(session(X), np.maximum(X, 0))
    assert failures == ["TENGINE_ESTATE"] * 2
    device.unregister()


def test_an_operator_uses_other_sessions(hook):
    """Those are free."""
    session, calls = hook
    results = []
    with tengine.Session(DIGITS) as other:
        calls.append(lambda: results.append(other(make_pictures(1))))
        for _ in range(2):
            session(X)
        calls.clear()
        for result in results:
            np.testing.assert_array_equal(result, other(make_pictures(1)))
    assert len(results) == 2


@pytest.mark.parametrize("brief", [False, True], ids=["first run", "later run"])
def test_an_operator_forks(brief, hook):
    """The child may use other sessions, and not the one that runs."""
    session, calls = hook
    states = []

    def fork():
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(tengine.Error):
                    session(X)
                os._exit(len(tengine.Session(DIGITS)(make_pictures(3))))
            finally:
                os._exit(1)
        states.append(os.waitpid(child, 0)[1])

    if brief:
        session(X)
    calls.append(fork)
    np.testing.assert_array_equal(session(X), np.maximum(X, 0))
    assert [os.waitstatus_to_exitcode(state) for state in states] == [3]


@pytest.mark.parametrize("use", ["call", "bind", "prepare", "reshape", "place", "close"])
def test_a_handler_uses_the_session_that_runs(use, hook):
    """It gets an error, and the run continues."""
    session, calls = hook
    failures = []

    def handle(*unused):
        with pytest.raises(tengine.Error) as error:
            USES[use](session)
        failures.append(error.value.name)

    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        end = time.monotonic() + 60
        while not failures and time.monotonic() < end:
            time.sleep(0.001)

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        calls.append(interrupt)
        np.testing.assert_array_equal(session(X), np.maximum(X, 0))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert failures == ["TENGINE_ESTATE"]
    calls.clear()
    np.testing.assert_array_equal(session(X), np.maximum(X, 0))


def interrupt_twice():
    """Presses Ctrl-C, and again."""
    for _ in range(2):
        time.sleep(0.5)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_two_interrupts(hook):
    """The second ends the wait for an operator that takes long; the session is running until it
    returns."""
    session, calls = hook
    calls.append(lambda: time.sleep(3))
    interrupts = threading.Thread(target=interrupt_twice)
    begin = time.monotonic()
    interrupts.start()
    with pytest.raises(KeyboardInterrupt):
        session(X)
    interrupts.join()
    assert time.monotonic() - begin < 2.5
    for call in (lambda: session(X), session.close):
        with pytest.raises(tengine.Error) as error:
            call()
        assert error.value.name == "TENGINE_ESTATE"
    calls.clear()
    while time.monotonic() - begin < 60:
        try:
            result = session(X)
            break
        except tengine.Error:
            time.sleep(0.1)
    np.testing.assert_array_equal(result, np.maximum(X, 0))


def test_exit_after_two_interrupts():
    """The interpreter ends while the operator still runs."""
    program = START + """
from test_reentry import interrupt_twice
operator = tengine.custom_op("", "Relu", version=(1, 22))(lambda i, a: time.sleep(1000))
tengine._process.PATIENCE = 0.5
threading.Thread(target=interrupt_twice).start()
try:
    tengine.Session(session._arguments[0])(x)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True,
                          text=True, check=False, cwd=os.path.dirname(__file__))
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
