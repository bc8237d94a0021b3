# SPDX-License-Identifier: Apache-2.0
"""Programs that are written for ONNX Runtime, with one import changed."""
import inspect
import json
import pathlib
import textwrap
import threading

import numpy as np
import pytest
from conftest import DIGITS, make_pictures
from onnx_bytes import FLOAT, INT64, STRING, model, node, sequence, value

import tengine
import tengine.onnxruntime as facade

STRINGS = model([node("StringNormalizer", ["x"], ["y"], case_change_action="UPPER")],
                [value("x", STRING, ["n"])], [value("y", STRING, ["n"])], opset=10)
SEQUENCES = model([node("SequenceInsert", ["s", "x"], ["t"])],
                  [sequence("s", FLOAT), value("x", FLOAT, [2])], [sequence("t", FLOAT)])
FREE = model([node("NonZero", ["x"], ["y"])], [value("x", FLOAT, ["height", "width"])],
             [value("y", INT64, None)])


# Each is a program of its own: `ort` is the module that it imports.

def classification(ort, folder):
    """A picture, its class."""
    session = ort.InferenceSession(str(DIGITS), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    result = session.run(None, {name: make_pictures(1)})
    assert result[0].shape == (1, 10) and abs(result[0].sum() - 1) < 1e-5
    assert session.get_inputs()[0].type == "tensor(float)"
    assert session.get_inputs()[0].shape == ["N", 1, 8, 8]
    assert [output.name for output in session.get_outputs()] == ["probabilities"]


def batches(ort, folder):
    """Batches of all sizes, in one session."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(DIGITS.read_bytes(), sess_options=options)
    for number in (1, 8, 3, 8):
        scores, = session.run(["probabilities"], {"image": make_pictures(number)})
        assert scores.shape == (number, 10)


def detection(ort, folder):
    """Results whose number depends on the picture."""
    session = ort.InferenceSession(FREE)
    x = np.zeros((3, 4), np.float32)
    for places in ([], [(0, 1)], [(1, 1), (2, 3)]):
        x[:] = 0
        for place in places:
            x[place] = 1
        found, = session.run(None, {"x": x})
        assert found.T.tolist() == [list(place) for place in places]


def io_binding(ort, folder):
    """Arrays that are bound once, for many runs."""
    session = ort.InferenceSession(str(DIGITS))
    picture = make_pictures(2)
    scores = ort.OrtValue.ortvalue_from_shape_and_type([2, 10], np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("image", picture)
    binding.bind_ortvalue_output("probabilities", scores)
    for seed in (1, 2):
        picture[:] = make_pictures(2, seed)
        session.run_with_iobinding(binding)
        expected, = session.run(None, {"image": make_pictures(2, seed)})
        np.testing.assert_array_equal(scores.numpy(), expected)
    binding.clear_binding_outputs()
    binding.bind_output("probabilities")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], expected)
    np.testing.assert_array_equal(binding.get_outputs()[0].numpy(), expected)


def io_binding_of_free_results(ort, folder):
    """Results whose shape is not known before."""
    session = ort.InferenceSession(FREE)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(np.eye(3, dtype=np.float32)))
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == [[0, 1, 2], [0, 1, 2]]


def providers(ort, folder):
    """Devices by name and with options."""
    assert "CPUExecutionProvider" in ort.get_available_providers()
    chosen = [(name, {}) for name in ort.get_available_providers()
              if name != "CPUExecutionProvider"]
    session = ort.InferenceSession(str(DIGITS), providers=[*chosen, "CPUExecutionProvider"])
    assert session.get_providers()[-1] == "CPUExecutionProvider"
    assert set(session.get_provider_options()) == set(session.get_providers())
    assert session.run(None, {"image": make_pictures(1)})[0].shape == (1, 10)


def profiling(ort, folder):
    """A file with the time of each node."""
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    session = ort.InferenceSession(str(DIGITS), options)
    session.run(None, {"image": make_pictures(1)})
    path = session.end_profiling()
    events = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    nodes = [event for event in events if event["cat"] == "Node"]
    assert sum(event["dur"] for event in nodes) > 0
    assert "Conv" in {event["args"]["op_name"] for event in nodes}


def strings(ort, folder):
    """Arrays of str."""
    session = ort.InferenceSession(STRINGS)
    assert session.get_inputs()[0].type == "tensor(string)"
    result, = session.run(None, {"x": np.array(["monday", "été"])})
    assert result.tolist() == ["MONDAY", "ÉTÉ"]
    result, = session.run(None, {"x": np.array(["a", "b", "c"], object)})
    assert result.tolist() == ["A", "B", "C"]


def sequences(ort, folder):
    """Lists of arrays."""
    session = ort.InferenceSession(SEQUENCES)
    assert session.get_inputs()[0].type == "seq(tensor(float))"
    pair = [np.ones(2, np.float32), np.zeros((3, 1), np.float32)]
    for elements in ([], pair, pair[:1]):
        result, = session.run(None, {"s": elements, "x": np.full(2, 7, np.float32)})
        assert [array.shape for array in result] == [*(e.shape for e in elements), (2,)]


def dynamic_shapes(ort, folder):
    """Free dimensions, and one that is fixed by name."""
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("N", 4)
    session = ort.InferenceSession(str(DIGITS), options)
    assert session.get_inputs()[0].shape == [4, 1, 8, 8]
    assert session.run(None, {"image": make_pictures(4)})[0].shape == (4, 10)
    with pytest.raises(Exception, match="expected"):
        session.run(None, {"image": make_pictures(3)})


def asynchronous(ort, folder):
    """A callback with the results, and with an error."""
    session = ort.InferenceSession(str(DIGITS))
    done = threading.Event()
    got = []

    def callback(results, user_data, error):
        got.append((len(results), user_data, error))
        done.set()

    session.run_async(None, {"image": make_pictures(1)}, callback, "data")
    assert done.wait(30) and got == [(1, "data", "")]
    done.clear()
    session.run_async(None, {"image": make_pictures(1)[:, :, 1:]}, callback, 5)
    assert done.wait(30) and got[1][:2] == (0, 5) and "image" in got[1][2]


def errors(ort, folder):
    """Exceptions by kind."""
    with pytest.raises(ort.NoSuchFile):
        ort.InferenceSession("absent.onnx")
    with pytest.raises(ort.Fail):
        ort.InferenceSession(b"no model")
    session = ort.InferenceSession(str(DIGITS))
    with pytest.raises(ort.InvalidArgument):
        session.run(None, {"image": make_pictures(1).astype(np.float64)})
    with pytest.raises(ValueError):
        session.run(None, {})


SCRIPTS = [classification, batches, detection, io_binding, io_binding_of_free_results, providers,
           profiling, strings, sequences, dynamic_shapes, asynchronous, errors]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_scripts(script, tmp_path):
    """Each, as a program that imports ONNX Runtime's names from here."""
    lines = "".join(inspect.getsource(script).splitlines(keepends=True)[1:])
    program = "import tengine.onnxruntime as ort\n" + textwrap.dedent(lines)
    exec(compile(program, script.__name__, "exec"), {**globals(), "folder": tmp_path})


@pytest.mark.parametrize("name,wrong,expected", [
    ("graph_optimization_level", facade.GraphOptimizationLevel.ORT_DISABLE_ALL, "ORT_ENABLE_ALL"),
    ("execution_mode", facade.ExecutionMode.ORT_PARALLEL, "ORT_SEQUENTIAL"),
    ("enable_mem_pattern", False, "True"),
    ("inter_op_num_threads", 4, "1"),
    ("optimized_model_filepath", "x.onnx", "Graph.save"),
    ("no_such_setting", 1, "intra_op_num_threads"),
])
def test_settings_without_effect_are_refused(name, wrong, expected):
    """A setting that would be ignored is an error."""
    options = facade.SessionOptions()
    with pytest.raises(NotImplementedError, match=expected):
        setattr(options, name, wrong)


@pytest.mark.parametrize("call,message", [
    (lambda: facade.InferenceSession(str(DIGITS), providers="TPU"),
     "providers is 'TPU': expected a list"),
    (lambda: facade.InferenceSession(str(DIGITS), providers=["CUDAExecutionProvider"]),
     "unknown provider 'CUDAExecutionProvider': expected .*CPUExecutionProvider"),
    (lambda: facade.InferenceSession(str(DIGITS), providers=["TPU"], provider_options=[{}, {}]),
     "2 provider_options, expected 1"),
    (lambda: facade.TrainingSession, "has no 'TrainingSession'"),
    (lambda: facade.InferenceSession(str(DIGITS)).set_providers, "has no 'set_providers'"),
    (lambda: facade.InferenceSession(str(DIGITS)).io_binding().bind_input, "has no 'bind_input'"),
    (lambda: facade.InferenceSession(str(DIGITS)).run(None, {}, object()), "run_options"),
    (lambda: facade.OrtValue.ortvalue_from_numpy(np.zeros(1), "cuda", 0), "memory of 'cuda' 0"),
    (lambda: facade.InferenceSession(str(DIGITS)).end_profiling(), "enable_profiling"),
    (lambda: facade.set_default_logger_severity(9), "expected 0 to 4"),
])
def test_refusals_say_why(call, message):
    """An absent name or form has a message of its own."""
    with pytest.raises((tengine.Error, AttributeError), match=message):
        call()


def test_outputs_that_do_not_exist_are_not_bound():
    """The message names those that do."""
    session = facade.InferenceSession(str(DIGITS))
    binding = session.io_binding()
    binding.bind_cpu_input("image", make_pictures(1))
    binding.bind_output("scores")
    with pytest.raises(KeyError, match="no output 'scores': expected 'probabilities'"):
        session.run_with_iobinding(binding)


def test_entries_are_options():
    """Keys of docs/options.md, and one of ONNX Runtime's."""
    options = facade.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    assert options.get_session_config_entry("session.disable_cpu_ep_fallback") == "1"
    session = facade.InferenceSession(str(DIGITS), options, providers=["TPU"])
    with pytest.raises(tengine.Error) as info:
        session.run(None, {"image": make_pictures(1)})
    assert info.value.name == "TENGINE_EFALLBACK"
    options = facade.SessionOptions()
    options.add_session_config_entry("session.no_such_key", "1")
    with pytest.raises(tengine.Error, match="session.no_such_key"):
        facade.InferenceSession(str(DIGITS), options)
