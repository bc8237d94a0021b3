# SPDX-License-Identifier: Apache-2.0
"""A model that is prepared and run: Session, and Binding for runs without copies."""
import asyncio
import concurrent.futures
import contextlib
import os
import threading
import weakref

import numpy as np

from . import _constants as c
from . import _watch
from ._arguments import bytes_of, choose, make_plan, place_model, shape_of, take_graph
from ._bucket import Buckets
from ._entry import Entries
from ._inspection import Inspection
from ._library import ffi, lib, text
from ._pipeline import Pipeline
from ._picture import read_pictures
from ._process import sessions
from ._report_reader import read_report
from ._state import States
from ._tensor import Input, Output
from .binding import Binding
from .errors import Error, InvalidValueError, check, keep_failure
from .graph import Graph

_ndarray = np.ndarray
_from_buffer = ffi.from_buffer


class Session(States, Buckets, Entries, Inspection):
    """A model, prepared for runs.

    Parameters
    ----------
    model : str, os.PathLike, bytes-like, onnx.ModelProto, or tengine.Graph
        As Graph.open takes it. A Graph has one session at a time, and its devices and options.
    devices : list, optional
        As of Graph.open: names, best first, or pairs of a name and the device's options.
    threads : int, optional
        Threads of the CPU, 0: one for each core. None: 1.
    precision : str
        "fp32" (every node in the model's types), "fp16", "bf16", "int8", "uint8", "hybrid_int8".
    shapes : dict, optional
        Shapes of inputs by name, as `reshape` sets them.
    options : dict, optional
        Options by key (docs/options.md).
    affinity : dict, optional
        Devices by nodes: {"op:Softmax": "CPU"}, as tengine_graph_set_affinity takes them.
    cpus : iterable of int, optional
        The CPUs that the threads may use, 0 to 63. None: those of the fastest cores.
    profile : bool
        Devices measure each node, for `report`.

    Raises
    ------
    tengine.Error
        As create_graph and prerun_graph_multithread of C fail; the message is theirs.
    ValueError
        Another precision, an input that does not exist.

    Notes
    -----
    The model is prepared at once if the shapes of its inputs are known, else by the first run, and
    again when shapes change, which takes no time for the shapes that it was prepared for last (the
    option run.shape_cache). One thread at a time runs a session; others wait.
    """

    def __init__(self, model, *, devices=None, threads=None, precision="fp32", shapes=None,
                 options=None, affinity=None, cpus=None, profile=False):
        self._closed = True
        self._arguments = (model, {"devices": devices, "threads": threads, "precision": precision,
                                   "shapes": shapes, "options": options, "affinity": affinity,
                                   "cpus": cpus, "profile": profile})
        self._plan = make_plan(threads, precision, cpus)
        owns_graph = not isinstance(model, Graph)
        self._use(take_graph(model, devices, options), owns_graph)
        with self._closing_on_failure():
            self._configure(None if owns_graph else options, affinity, profile)
            if shapes:
                self.reshape(shapes)
            self._prepare_early()

    def _use(self, graph, owns_graph):
        """Makes the graph the session's."""
        self._graph = graph
        self._owns_graph = owns_graph
        self._lock = graph.lock
        self._executor = None
        self._binding = None
        self._pipeline = None
        self._ready = False
        self._run = _watch.run
        self._closed = False
        graph.user = weakref.ref(self)
        with self._closing_on_failure():
            self._read_model()
        sessions.add(self)

    @contextlib.contextmanager
    def _closing_on_failure(self):
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _prepare_early(self):
        if all(tensor.shape is not None for tensor in self._inputs):
            self.prepare()

    def _read_model(self):
        handle = self._graph.handle
        self._handle = handle
        self._inputs = [Input(lib.tengine_graph_get_input(handle, i))
                        for i in range(check(lib.tengine_graph_get_input_number(handle)))]
        self._outputs = [Output(lib.tengine_graph_get_output(handle, i))
                         for i in range(check(lib.tengine_graph_get_output_number(handle)))]
        self._by_name = {tensor.name: tensor for tensor in self._inputs}
        self._only_input = self._inputs[0] if len(self._inputs) == 1 else None
        self._only_output = self._outputs[0] if len(self._outputs) == 1 else None

    def _configure(self, options, affinity, profile):
        for key, value in ({} if options is None else options).items():
            self._graph.set_option(key, value)
        if profile:
            self._graph.set_option("run.profile", 1)
        for nodes, names in (affinity or {}).items():
            check(lib.tengine_graph_set_affinity(self._handle, nodes.encode(), names.encode()))

    # ---- runs ----

    def __call__(self, /, *arrays, **named):
        """Runs the model: s(x), s(x, mask), s(image=x).

        Parameters
        ----------
        *arrays, **named : array
            The inputs in the model's order, or by name. A dense array of the model's type is lent
            to the library and must not change during the run; another layout is copied. Lists and
            numbers get the model's type. Sequences are lists of arrays, optional values arrays or
            None, strings arrays of str or bytes.

        Returns
        -------
        numpy.ndarray, or a tuple of them when the model has several outputs
            New arrays.

        Raises
        ------
        ValueError
            Inputs that are missing or unknown; another type or shape than the model's.
        tengine.Error
            As prerun_graph_multithread and run_graph of C fail.
        """
        lock = self._lock
        if not lock.try_acquire(False):
            lock.acquire()
        try:
            self._feed(arrays if not named else self._order(arrays, named))
            self._run(self)
            return self._read_outputs()
        finally:
            lock.release()

    def _read_outputs(self):
        output = self._only_output
        if output is not None:
            return output.view.copy() if output.is_fixed else output.read()
        return tuple([output.read() for output in self._outputs])

    def run(self, outputs=None, feed=None, *, cast=False):
        """Runs the model.

        Parameters
        ----------
        outputs : list of str, optional
            The names of the outputs to return. None: all, in the model's order.
        feed : dict or array
            The inputs by name; an array for a model with one input.
        cast : bool
            Converts arrays of other types to the model's.

        Returns
        -------
        list
            New arrays, in the order asked for.

        Raises
        ------
        As __call__, and KeyError for an output that the model does not have.
        """
        if feed is None and not isinstance(outputs, (list, tuple)):
            outputs, feed = None, outputs
        if feed is None:
            feed = {}
        chosen = self._outputs if outputs is None else choose(self._outputs, outputs)
        with self._lock:
            arrays = self._order((), feed) if isinstance(feed, dict) else (feed,)
            self._feed(arrays, cast)
            self._run(self)
            return [output.read() for output in chosen]

    def _order(self, arrays, named):
        """The inputs in the model's order."""
        if len(arrays) > len(self._inputs):
            raise self._wrong_count(len(arrays))
        given = {tensor.name: array for tensor, array in zip(self._inputs, arrays)}
        for name, array in named.items():
            if name not in self._by_name or name in given:
                fault = "is given twice" if name in given else "does not exist"
                raise InvalidValueError(f"input '{name}' {fault}: expected "
                                        f"{', '.join(repr(n) for n in self._by_name)}")
            given[name] = array
        for name in self._by_name:
            if name not in given:
                raise InvalidValueError(f"input '{name}' is missing")
        return [given[name] for name in self._by_name]

    def _wrong_count(self, count):
        return InvalidValueError(f"{count} inputs, expected {len(self._inputs)}: "
                                 f"{', '.join(repr(n) for n in self._by_name)}")

    def _feed(self, arrays, cast=False):
        """Lends the arrays to the library, and prepares the graph when shapes change."""
        inputs = self._inputs
        if len(arrays) != len(inputs):
            raise self._wrong_count(len(arrays))
        if not self._is_fed_at_once(arrays):
            self._feed_slowly(arrays, cast)
            return
        for tensor, array in zip(inputs, arrays):
            try:
                pointer = _from_buffer(array)
            except (ValueError, BufferError):
                self._feed_slowly(arrays, cast)
                return
            if pointer != tensor.pointer:
                if not array.flags.aligned:
                    self._feed_slowly(arrays, cast)
                    return
                tensor.pointer = None
                tensor.pointer = tensor.lend(array)
                tensor.array = array

    def _is_fed_at_once(self, arrays):
        """Whether the graph is prepared for arrays that can be lent if they are dense."""
        if not self._ready or self._binding is not None:
            return False
        for tensor, array in zip(self._inputs, arrays):
            if (type(array) is not _ndarray or array.dtype is not tensor.lent_dtype
                    or array.shape != tensor.shape):
                return False
        return True

    def _feed_slowly(self, arrays, cast):
        self._check_open()
        self._release_binding()
        values = [tensor.convert(array, cast) for tensor, array in zip(self._inputs, arrays)]
        for tensor, value in zip(self._inputs, values):
            if tensor.fill(value):
                self._ready = False
        if not self._ready:
            self.prepare()

    # ---- preparation ----

    def prepare(self):
        """Prepares the model for the present shapes, which the first run does otherwise.

        Raises
        ------
        tengine.Error
            As prerun_graph_multithread of C fails.
        """
        with self._lock:
            self._check_idle()
            self._ready = False
            for output in self._outputs:
                output.reset()
            _watch.call(self, lib.prerun_graph_multithread, self._handle, self._plan[0])
            # Each of several runs in flight has results of its own.
            moves = text(check(lib.tengine_graph_get_scheduler(self._handle))) != "sync"
            for output in self._outputs:
                output.prepared(moves)
            self._run = _watch.run
            self._ready = True

    def reshape(self, shapes):
        """Sets the shapes of inputs, also those that the model states, for the next run.

        Parameters
        ----------
        shapes : dict
            Shapes by the input's name: {"image": (8, 3, 224, 224)}.

        Raises
        ------
        ValueError
            An input that does not exist, or a shape with dimensions below 0 or too many of them.
        """
        with self._lock:
            self._check_idle()
            self._release_binding()
            for name, shape in shapes.items():
                if name not in self._by_name:
                    raise InvalidValueError(f"input '{name}' does not exist: expected "
                                            f"{', '.join(repr(n) for n in self._by_name)}")
                self._by_name[name].declare(shape_of(shape))
                self._ready = False

    def fix_dimensions(self, sizes):
        """Sets the sizes of free dimensions by the model's names for them: {"batch": 4}.

        Raises
        ------
        ValueError
            The inputs have no free dimension of a name.
        """
        with self._lock:
            self._check_open()
            known = {name for tensor in self._inputs for name in tensor.dim_names if name}
            for name in sizes:
                if name not in known:
                    raise InvalidValueError(f"the inputs have no free dimension '{name}': expected "
                                            f"{', '.join(map(repr, sorted(known))) or 'none'}")
            for tensor in self._inputs:
                shape = tensor.fix_dimensions(sizes)
                if shape is not None:
                    self.reshape({tensor.name: shape})

    def place(self, devices=None):
        """Decides where each node would run, and compiles nothing.

        Parameters
        ----------
        devices : list, optional
            Other devices than those of the session, as of Graph.open; needs a model that can be
            loaded again. None: those of the session.

        Returns
        -------
        Report
            Its predicted times are those of the devices; nothing is measured. The next run prepares
            the session again.

        Raises
        ------
        tengine.Error
            As tengine_graph_place of C fails, with an input without complete shape among others.
        """
        if devices is not None:
            model, arguments = self._arguments
            return place_model(model, devices, arguments["options"], self._inputs, self._plan[0])
        with self._lock:
            self._check_idle()
            self._release_binding()
            self._ready = False
            check(lib.tengine_graph_place(self._handle, self._plan[0]))
            return read_report(self._handle, is_placed=True)

    def clone(self):
        """Another session of the model, for another thread: the weights are shared.

        Raises
        ------
        tengine.Error
            As tengine_graph_share of C fails.
        """
        with self._lock:
            self._check_open()
            session = Session.__new__(Session)
            session._arguments = self._arguments
            session._plan = self._plan
            session._use(self._graph.share(), owns_graph=True)
            for tensor, other in zip(session._inputs, self._inputs):
                tensor.pattern, tensor.dim_names = other.pattern, other.dim_names
                tensor.shape = other.shape
        with session._closing_on_failure():
            session._prepare_early()
        return session

    def read_pictures(self, *sources, input=None, settings=None):
        """An array of pictures for an input: decoded, resized and normalised.

        Parameters
        ----------
        *sources : str, os.PathLike, bytes-like, or array
            Files, their content (PNG, JPEG, BMP, PGM, PPM), or arrays of uint8: height x width, or
            height x width x 3 in RGB. One for each of the batch.
        input : str, optional
            The name of the input. None: the first.
        settings : dict, str or os.PathLike, optional
            The settings of docs/pictures.md, or a JSON file with them. None: the file beside the
            model, such as net.preprocess.json, else the defaults.

        Raises
        ------
        tengine.Error
            As the functions of image.h fail.
        ValueError
            An input that does not exist, or an array that is not a picture.
        """
        with self._lock:
            self._check_open()
            if input is not None and input not in self._by_name:
                raise InvalidValueError(f"input '{input}' does not exist: expected "
                                        f"{', '.join(map(repr, self._by_name))}")
            tensor = self._inputs[0] if input is None else self._by_name[input]
            array = read_pictures(tensor, sources, settings, self._arguments[0])
            # The shape of the tensor has been set.
            self._ready = not tensor.take_shape(array.shape) and self._ready
            return array

    # ---- runs without copies, and beside the caller ----

    def bind(self, inputs, outputs=None):
        """Lends arrays to the library for many runs.

        Parameters
        ----------
        inputs : dict
            Arrays of the inputs by name: dense, of the model's types.
        outputs : dict, optional
            Arrays, by name, into which runs write; dense, writable, of the shapes of the results.
            Binding.outputs has new ones for the others.

        Returns
        -------
        Binding
            Its `run` neither copies nor allocates.

        Raises
        ------
        ValueError
            An array that cannot be lent, a name that does not exist, an output whose shape depends
            on data.
        tengine.Error
            As prerun_graph_multithread of C fails.
        """
        return Binding(self, inputs, {} if outputs is None else outputs)

    def _release_binding(self):
        """Gives outputs memory of the session again."""
        if self._binding is None:
            return
        self._check_idle()
        self._binding = None
        for tensor in self._inputs:
            tensor.pointer = tensor.array = None
        for output in self._outputs:
            output.take_back()

    def submit(self, /, *arrays, **named):
        """Runs the model on a thread of the session.

        Returns
        -------
        concurrent.futures.Future
            Its result is that of __call__, its exception a failure of the run. Runs are made in the
            order of the calls. With the scheduler "pipeline" as many are in flight as the option
            pipeline.frames says, and none can be cancelled by Ctrl-C.
        """
        if self._graph.get_option("scheduler") != "pipeline":
            return self.call_later(self, *arrays, **named)
        future = concurrent.futures.Future()
        with self._lock:
            self._check_open()
            if self._pipeline is None:
                self._pipeline = Pipeline(self)
                # The next run reads the states that the one before it writes.
                has_states = check(lib.tengine_graph_get_state_number(self._handle)) > 0
                self.frames = 1 if has_states else int(self._graph.get_option("pipeline.frames"))
        self._pipeline.add(future, arrays, named)
        self.call_later(self._pipeline.work)
        return future

    def call_later(self, function, /, *arguments, **named):
        """Calls a function on the thread of the session, after the calls before; a Future."""
        with self._lock:
            self._check_open()
            if self._executor is None:
                self._executor = concurrent.futures.ThreadPoolExecutor(1, "tengine-session")
            return self._executor.submit(function, *arguments, **named)

    async def run_async(self, /, *arrays, **named):
        """Runs the model on a thread of the session; the result is that of __call__."""
        return await asyncio.wrap_future(self.submit(*arrays, **named))

    def cancel(self):
        """Ends the preparation or the run that another thread makes, also by `submit`; with the
        scheduler "pipeline" all that are in flight. Their calls and futures raise CanceledError, and
        the session can be used again. Any thread may call this, also while the session is closed.
        It does not wait.

        Returns
        -------
        bool
            False: there was nothing to cancel.
        """
        return self._graph.cancel()

    # ---- end ----

    def _check_open(self):
        if self._closed:
            raise Error("the session is closed", c.TENGINE_ESTATE)

    def _check_idle(self):
        """Fails in an operator, a device or a handler of signals that the thread calls in a run."""
        self._check_open()
        if check(lib.get_graph_exec_status(self._handle)) == c.GRAPH_STAT_RUNNING:
            raise Error("the session is running", c.TENGINE_ESTATE)

    def close(self):
        """Frees the session, after the runs in flight. Calls of `submit` that have not begun are
        cancelled. Another call does nothing.

        Raises
        ------
        tengine.Error
            The session is running: an operator or a device calls this, or the handler of a signal.
        """
        if self._closed:
            return
        executor, self._executor = self._executor, None
        if executor is not None:
            # The thread may be the one that closes the session.
            own = getattr(threading.current_thread(), "name", "").startswith("tengine-session")
            executor.shutdown(wait=not own, cancel_futures=True)
        if self._pipeline is not None:
            self._pipeline.cancel()
        with self._lock:
            if self._owns_graph:
                self._graph.close()
            elif self._graph.is_open:
                check(lib.postrun_graph(self._handle))
                for tensor in (*self._inputs, *self._outputs):
                    tensor.reset()
            self._closed = True
            self._ready = False
            self._binding = None
            self._graph.user = None
            self._handle = ffi.NULL

    def __del__(self):
        # The program's graph, which lives on, must not refer to arrays of this session.
        if not getattr(self, "_closed", True) and not self._owns_graph and \
                lib.tengine_is_initialised():
            with keep_failure():
                self.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __reduce__(self):
        model, arguments = self._arguments
        if isinstance(model, Graph):
            raise TypeError("a session of a tengine.Graph cannot be pickled: expected one of a file "
                            "or of bytes")
        model = model if isinstance(model, (str, os.PathLike)) else bytes_of(model)
        return _restore, (model, arguments)


def _restore(model, arguments):
    return Session(model, **arguments)
