# SPDX-License-Identifier: Apache-2.0
"""The names of ONNX Runtime's Python API, for programs that are written for it:

    import tengine.onnxruntime as ort

docs/from-onnxruntime.md lists them. A name or a setting that has no meaning here is an error.
"""
import contextlib
import enum
import json
import os
import time

import numpy as np

from . import devices as _devices
from . import set_log_level as _set_log_level
from . import version as _version
from ._arguments import choose
from .errors import Error, FileError, InvalidValueError, NotSupportedError
from .session import Session

__version__ = _version

# ONNX Runtime's exceptions; ours are also ValueError, FileNotFoundError and so on.
Fail = Error
InvalidArgument = InvalidValueError
NoSuchFile = FileError
NotImplemented = NotSupportedError

_TYPES = {
    "fp32": "float", "fp64": "double", "fp16": "float16", "bf16": "bfloat16", "complex64":
    "complex64", "complex128": "complex128",
}
_SEVERITIES = ("debug", "info", "warning", "error", "error")
_SUFFIX = "ExecutionProvider"


def __getattr__(name):
    raise AttributeError(f"tengine.onnxruntime has no '{name}': docs/from-onnxruntime.md lists its "
                         "names")


def _refuse(what, expected):
    raise NotSupportedError(f"{what}: expected {expected}")


class GraphOptimizationLevel(enum.Enum):
    """The levels; tengine has one."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.Enum):
    """One node after the other, or branches at the same time."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


def get_available_providers():
    """The devices; the CPU has ONNX Runtime's name for it."""
    return [_provider_of(name) for name in _devices()]


get_all_providers = get_available_providers


def get_device():
    """"CPU", as of a build of ONNX Runtime for CPUs."""
    return "CPU"


def set_default_logger_severity(severity):
    """0 (verbose) to 4 (fatal), for the whole process."""
    if severity not in range(5):
        raise InvalidValueError(f"severity {severity!r}: expected 0 to 4")
    _set_log_level(_SEVERITIES[severity])


def _provider_of(device):
    return f"CPU{_SUFFIX}" if device == "CPU" else device


def _device_of(provider):
    device = provider[:-len(_SUFFIX)] if provider.endswith(_SUFFIX) else provider
    if device not in _devices():
        raise InvalidValueError(f"unknown provider '{provider}': expected "
                                f"{', '.join(get_available_providers())}")
    return device


class SessionOptions:
    """Settings of a session. Each has an effect, or takes only the value that is true here."""

    _FIXED = {
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "enable_mem_pattern": True,
        "enable_cpu_mem_arena": True,
        "enable_mem_reuse": True,
        "inter_op_num_threads": 1,
        "use_deterministic_compute": False,
    }
    _FREE = {
        "intra_op_num_threads": 0,
        "enable_profiling": False,
        "profile_file_prefix": "onnxruntime_profile_",
        "log_severity_level": None,
        "optimized_model_filepath": "",
    }

    def __init__(self):
        self.__dict__.update(self._FIXED, **self._FREE)
        self.__dict__.update(_entries={}, _sizes={})

    def __setattr__(self, name, value):
        if name in self._FIXED:
            same = value == self._FIXED[name] or name == "inter_op_num_threads" and value == 0
            if not same:
                _refuse(f"{name} = {value}", f"{self._FIXED[name]}, which always holds here")
        elif name not in self._FREE:
            _refuse(f"SessionOptions has no '{name}'", ", ".join({**self._FIXED, **self._FREE}))
        elif name == "optimized_model_filepath" and value:
            _refuse(f"{name} = {value!r}", "Graph.save of tengine, which writes models")
        self.__dict__[name] = value

    def add_session_config_entry(self, key, value):
        """Sets an option by key: one of docs/options.md, or session.disable_cpu_ep_fallback."""
        key = {"session.disable_cpu_ep_fallback": "split.fail_on_fallback"}.get(key, key)
        self._entries[key] = value

    def get_session_config_entry(self, key):
        """The value that has been set."""
        key = {"session.disable_cpu_ep_fallback": "split.fail_on_fallback"}.get(key, key)
        if key not in self._entries:
            raise InvalidValueError(f"the session's options have no entry '{key}'")
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name, size):
        """Sets the size of a free dimension."""
        self._sizes[name] = size


class NodeArg:
    """An input or output: name, shape (a list) and type ("tensor(float)")."""

    def __init__(self, info):
        self.name = info.name
        self.shape = list(info.shape or ())
        self.type = _describe_type(info.type)

    def __str__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"

    __repr__ = __str__


def _describe_type(name):
    if name.startswith(("sequence(", "optional(")):
        outer, inner = name[:-1].split("(", 1)
        return f"{'seq' if outer == 'sequence' else outer}({_describe_type(inner)})"
    return f"tensor({_TYPES.get(name, name)})"


class ModelMetadata:
    """Producer, documentation and properties of a model, with ONNX Runtime's names."""

    def __init__(self, metadata):
        self.custom_metadata_map = dict(metadata.properties)
        self.description = metadata.doc_string
        self.domain = metadata.domain
        self.graph_description = metadata.graph_doc_string
        self.graph_name = metadata.graph_name
        self.producer_name = metadata.producer_name
        self.version = metadata.model_version


class InferenceSession:
    """A model, prepared for runs."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None):
        options = sess_options or SessionOptions()
        self._providers = _join_options(providers, provider_options)
        if options.log_severity_level is not None:
            set_default_logger_severity(options.log_severity_level)
        self._options = options
        self._session = Session(
            path_or_bytes, threads=options.intra_op_num_threads, options=options._entries,
            profile=options.enable_profiling,
            devices=[(_device_of(name), settings) for name, settings in self._providers.items()])
        self._begin = time.time()
        self._session.fix_dimensions(options._sizes)

    def run(self, output_names, input_feed, run_options=None):
        """A list of the outputs; None: all."""
        if run_options is not None:
            _refuse("run_options", "None")
        return self._session.run(output_names or None, input_feed)

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Calls callback(results, user_data, error) on another thread; `error` is "" or a
        message."""
        if run_options is not None:
            _refuse("run_options", "None")

        def work():
            try:
                results, error = self.run(output_names, input_feed), ""
            except Exception as failure:
                results, error = [], str(failure)
            callback(results, user_data, error)

        self._session.call_later(work)

    def get_inputs(self):
        """The inputs."""
        return [NodeArg(info) for info in self._session.inputs]

    def get_outputs(self):
        """The outputs; shapes are known after the preparation."""
        return [NodeArg(info) for info in self._session.outputs]

    def get_modelmeta(self):
        """The statements of the model about itself."""
        return ModelMetadata(self._session.graph.metadata)

    def get_providers(self):
        """The devices of the session, best first."""
        names = list(self._providers)
        return names + [name for name in (f"CPU{_SUFFIX}",) if name not in names]

    def get_provider_options(self):
        """The options of the devices, by device."""
        return {name: dict(self._providers.get(name, {})) for name in self.get_providers()}

    def get_session_options(self):
        """The options given to the session."""
        return self._options

    def io_binding(self):
        """Arrays that are bound to inputs and outputs."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """A run on the bound arrays."""
        if run_options is not None:
            _refuse("run_options", "None")
        iobinding._run()

    def end_profiling(self):
        """Writes the times of the last run as events of Chrome's trace format; the file's name."""
        if not self._options.enable_profiling:
            raise Error("the session does not measure: expected enable_profiling = True")
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(self._begin))
        path = f"{self._options.profile_file_prefix}_{stamp}.json"
        events = []
        begin = 0.0
        for node in self._session.report().nodes:
            length = (node.measured_ms or 0.0) * 1000
            events.append({"cat": "Node", "name": f"{node.name}_kernel_time", "ph": "X",
                           "ts": begin, "dur": length, "pid": os.getpid(), "tid": 0,
                           "args": {"op_name": node.op, "provider": _provider_of(node.device)}})
            begin += length
        with open(path, "w", encoding="utf-8") as file:
            json.dump(events, file)
        return path

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"InferenceSession has no '{name}' here: docs/from-onnxruntime.md lists "
                             "its names")


def _join_options(providers, provider_options):
    """{provider: options} of ONNX Runtime's two forms."""
    if isinstance(providers, str):
        raise InvalidValueError(f"providers is '{providers}': expected a list")
    providers = [f"CPU{_SUFFIX}"] if providers is None else list(providers)
    if provider_options is not None and len(provider_options) != len(providers):
        raise InvalidValueError(f"{len(provider_options)} provider_options, expected "
                                f"{len(providers)}, one for each of providers")
    joined = {}
    for index, entry in enumerate(providers):
        name, options = (entry, {}) if isinstance(entry, str) else entry
        joined[name] = dict(provider_options[index] if provider_options else options)
    return joined


class OrtValue:
    """An array, or a list of them, in the memory of the host."""

    def __init__(self, value):
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        """A value that refers to the array."""
        _check_host(device_type, device_id)
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """A value with memory of its own, which is not initialised."""
        _check_host(device_type, device_id)
        return OrtValue(np.empty(shape, element_type))

    def numpy(self):
        """The array, not a copy."""
        return self._value

    def shape(self):
        """The shape as a list."""
        return list(self._value.shape)

    def element_type(self):
        """numpy's type."""
        return self._value.dtype

    @staticmethod
    def device_name():
        """The place of the memory."""
        return "cpu"

    def is_tensor(self):
        """False for a sequence, and for an optional value that is absent."""
        return isinstance(self._value, np.ndarray)

    def is_tensor_sequence(self):
        """Whether the value is a list of arrays."""
        return isinstance(self._value, list)

    def has_value(self):
        """False for an optional value that is absent."""
        return self._value is not None


def _check_host(device_type, device_id):
    if device_type.lower() != "cpu" or device_id != 0:
        _refuse(f"memory of '{device_type}' {device_id}", "'cpu' 0: devices copy what they need")


class IOBinding:
    """Arrays for the inputs and outputs of a session."""

    def __init__(self, session):
        self._session = session._session
        self.clear_binding_inputs()
        self.clear_binding_outputs()

    def bind_cpu_input(self, name, array):
        """Makes runs read the array."""
        self._inputs[name] = array
        self._binding = None

    def bind_ortvalue_input(self, name, value):
        """Makes runs read the value."""
        self.bind_cpu_input(name, value.numpy())

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None,
                    buffer_ptr=None):
        """Makes runs return the output, in memory of the binding's own."""
        _check_host(device_type, device_id)
        if buffer_ptr is not None or element_type is not None or shape is not None:
            _refuse("memory by its address", "bind_ortvalue_output, with a value of an array")
        self._outputs[name] = None
        self._binding = None

    def bind_ortvalue_output(self, name, value):
        """Makes runs write into the array of the value."""
        self._outputs[name] = value.numpy()
        self._binding = None

    def clear_binding_inputs(self):
        """Binds no inputs."""
        self._inputs = {}
        self._binding = self._results = None

    def clear_binding_outputs(self):
        """Binds no outputs."""
        self._outputs = {}
        self._binding = self._results = None

    def _run(self):
        if self._binding is None:
            choose(self._session._outputs, self._outputs)
            given = {name: array for name, array in self._outputs.items() if array is not None}
            # Strings, sequences and results whose shape depends on data cannot be lent.
            with contextlib.suppress(InvalidValueError):
                self._binding = self._session.bind(self._inputs, given)
        if self._binding is not None:
            self._binding.run()
            self._results = [self._binding.outputs[name] for name in self._outputs]
            return
        self._results = self._session.run(list(self._outputs), self._inputs)
        for index, array in enumerate(self._outputs.values()):
            if array is not None:
                np.copyto(array, self._results[index], casting="no")
                self._results[index] = array

    def get_outputs(self):
        """The values of the bound outputs after a run."""
        return [OrtValue(value) for value in self._results or ()]

    def copy_outputs_to_cpu(self):
        """Copies of the bound outputs after a run."""
        return [value.copy() if isinstance(value, np.ndarray) else value
                for value in self._results or ()]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"IOBinding has no '{name}' here: docs/from-onnxruntime.md lists its "
                             "names")
