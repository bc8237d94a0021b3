# SPDX-License-Identifier: Apache-2.0
"""Sessions: runs, shapes, types, bindings, and what they say about themselves."""
import asyncio
import concurrent.futures
import gc
import json
import pickle
import subprocess
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from conftest import DIGITS, make_pictures
from onnx_bytes import FLOAT, INT64, model, node, sequence, value

import tengine
from tengine._library import ffi, lib


def run_in_c(pictures):
    """The results of the C functions, without the package's session."""
    context = lib.create_context(ffi.NULL, 0)
    graph = lib.create_graph(context, b"onnx", str(DIGITS).encode())
    tensor = lib.tengine_graph_get_input(graph, 0)
    assert lib.set_tensor_shape(tensor, list(pictures.shape), 4) == 0
    assert lib.set_tensor_buffer(tensor, ffi.from_buffer(pictures), pictures.nbytes) == 0
    assert lib.prerun_graph(graph) == 0 and lib.run_graph(graph, 1) == 0
    result = np.empty((len(pictures), 10), np.float32)
    output = lib.tengine_graph_get_output(graph, 0)
    assert lib.get_tensor_data(output, ffi.from_buffer(result), result.nbytes) == 0
    lib.destroy_graph(graph)
    lib.destroy_context(context)
    return result


def test_every_way_gives_the_results_of_c(digits):
    """Calls, runs by name, futures, coroutines and bindings."""
    for number in (1, 7, 13, 1, 7):
        pictures = make_pictures(number, seed=number)
        expected = run_in_c(pictures)
        results = [digits(pictures), digits(image=pictures), digits.run(pictures)[0],
                   digits.run(None, {"image": pictures})[0],
                   digits.run(["probabilities"], {"image": pictures})[0],
                   digits.submit(pictures).result(),
                   asyncio.run(digits.run_async(pictures))]
        binding = digits.bind({"image": pictures})
        binding.run()
        results.append(binding.outputs["probabilities"])
        for result in results:
            assert result.dtype == np.float32
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("model", [str(DIGITS), DIGITS, DIGITS.read_bytes(),
                                   memoryview(DIGITS.read_bytes()),
                                   bytearray(DIGITS.read_bytes())],
                         ids=["str", "path", "bytes", "memoryview", "bytearray"])
def test_kinds_of_models(model, picture):
    """Paths and contents."""
    with tengine.Session(model) as session:
        np.testing.assert_array_equal(session(picture), run_in_c(picture))


def test_tmfile_in_memory(tmp_path, picture):
    """The session keeps the bytes of a tmfile, which are used in place."""
    with tengine.Session(DIGITS, shapes={"image": (1, 1, 8, 8)}) as session:
        session.graph.save(tmp_path / "digits.tmfile")
    session = tengine.Session((tmp_path / "digits.tmfile").read_bytes())
    gc.collect()
    np.testing.assert_allclose(session(picture), run_in_c(picture), rtol=1e-5, atol=1e-7)


def test_results_are_the_callers(digits, picture):
    """A result stays as it is when the session runs again and ends."""
    first = digits(picture)
    kept = first.copy()
    digits(1 - picture)
    digits(make_pictures(3))
    digits.close()
    np.testing.assert_array_equal(first, kept)
    first[:] = 0


def test_changed_data_in_the_same_array(digits, picture):
    """The array is lent, so that its new values count."""
    array = picture.copy()
    digits(array)
    array[:] = make_pictures(1, seed=8)
    np.testing.assert_array_equal(digits(array), run_in_c(array))


def test_arrays_that_cannot_be_lent(digits, picture):
    """Strided, unaligned, big-endian and read-only arrays give the results of dense ones."""
    expected = run_in_c(picture)
    wide = np.zeros((1, 1, 8, 16), np.float32)
    wide[..., ::2] = picture
    shifted = np.zeros(picture.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(picture.shape)
    shifted[:] = picture
    assert not shifted.flags.aligned
    fixed = picture.copy()
    fixed.flags.writeable = False
    for array in (wide[..., ::2], shifted, picture.astype(">f4"), fixed, picture.tolist(),
                  np.asfortranarray(picture), memoryview(picture)):
        np.testing.assert_array_equal(digits(array), expected)
        np.testing.assert_array_equal(digits(array), expected)


def test_mapped_file(digits, picture, tmp_path):
    """An array of a mapped file is an input."""
    np.save(tmp_path / "picture.npy", picture)
    mapped = np.load(tmp_path / "picture.npy", mmap_mode="r")
    np.testing.assert_array_equal(digits(mapped), run_in_c(picture))


def test_dlpack(digits, picture):
    """Objects of other libraries are inputs."""
    class Other:
        """An array that only speaks DLPack."""

        def __dlpack__(self, stream=None):
            return picture.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return picture.__dlpack_device__()

    np.testing.assert_array_equal(digits(Other()), run_in_c(picture))


def test_types_are_not_cast_silently(digits, picture):
    """Another type is refused, and converted on request."""
    with pytest.raises(ValueError, match="input 'image' is float64, expected float32; cast=True"):
        digits(picture.astype(np.float64))
    result, = digits.run(None, {"image": picture.astype(np.float64)}, cast=True)
    np.testing.assert_array_equal(result, run_in_c(picture))


@pytest.mark.parametrize("shape", [(1, 8, 8), (1, 1, 8, 9), (1, 2, 8, 8), (64,), ()])
def test_other_shapes_are_refused(digits, picture, shape):
    """A shape must match the model's; the session runs on."""
    with pytest.raises(ValueError, match="input 'image' has shape .*, expected"):
        digits(np.zeros(shape, np.float32))
    np.testing.assert_array_equal(digits(picture), run_in_c(picture))


def test_reshape(digits):
    """Shapes that the model states can be changed."""
    digits.reshape({"image": (2, 1, 16, 16)})
    assert digits(np.zeros((2, 1, 16, 16), np.float32)).shape == (2, 10)
    assert digits(np.zeros((3, 1, 16, 16), np.float32)).shape == (3, 10)
    with pytest.raises(ValueError, match="expected .x1x16x16"):
        digits(np.zeros((2, 1, 8, 8), np.float32))
    with pytest.raises(ValueError, match="input 'y' does not exist: expected 'image'"):
        digits.reshape({"y": (1,)})


@pytest.mark.parametrize("call,message", [
    (lambda s, x: s(), "input 'image' is missing|0 inputs, expected 1"),
    (lambda s, x: s(x, x), "2 inputs, expected 1: 'image'"),
    (lambda s, x: s(x, image=x), "input 'image' is given twice"),
    (lambda s, x: s(picture=x), "input 'picture' does not exist: expected 'image'"),
    (lambda s, x: s.run(None, {}), "input 'image' is missing"),
])
def test_wrong_inputs(digits, picture, call, message):
    """Messages name the inputs."""
    with pytest.raises(ValueError, match=message):
        call(digits, picture)


@pytest.mark.parametrize("options", [{}, {"scheduler": "pipeline"}])
def test_names_of_inputs_that_are_those_of_arguments(options):
    """Each name is an input's."""
    names = ["self", "function", "fn", "cast", "feed", "outputs"]
    source = model([node("Sum", names, ["y"])], [value(name, FLOAT, [2]) for name in names],
                   [value("y", FLOAT, [2])])
    feed = {name: np.full(2, index, np.float32) for index, name in enumerate(names)}
    with tengine.Session(source, options=options) as session:
        for result in (session(**feed), session.run(None, feed)[0],
                       session.submit(**feed).result(), asyncio.run(session.run_async(**feed))):
            np.testing.assert_array_equal(result, [15, 15])


@pytest.mark.parametrize("use", [
    tengine.Session, tengine.load_plugin, lambda path: tengine.Graph.open(DIGITS).save(path),
    lambda path: tengine.Session(DIGITS).read_pictures(path)],
    ids=["open", "load_plugin", "save", "read_pictures"])
def test_paths_with_nul(use, tmp_path):
    """C would end them there."""
    path = tmp_path / "digits.onnx"
    path.write_bytes(DIGITS.read_bytes())
    with pytest.raises(ValueError, match="expected one without NUL"):
        use(f"{path}\0.onnx")
    assert [found.name for found in tmp_path.iterdir()] == ["digits.onnx"]


def test_wrong_output(digits, picture):
    """Messages name the outputs."""
    with pytest.raises(KeyError, match="no output 'y': expected 'probabilities'"):
        digits.run(["y"], picture)


def test_a_text_is_no_list_of_outputs(digits, picture):
    """Its letters are no names."""
    with pytest.raises(TypeError, match="outputs is 'probabilities': expected a list of names"):
        digits.run("probabilities", {"image": picture})


def test_masks_are_not_ignored(digits, picture):
    """A masked array is an input while nothing is masked."""
    np.testing.assert_array_equal(digits(np.ma.masked_array(picture)), run_in_c(picture))
    with pytest.raises(ValueError, match="input 'image' has masked elements: expected"):
        digits(np.ma.masked_array(picture, mask=picture > 0.5))


def test_free_dimensions(digits):
    """Sizes by name, which may be set again; wrong ones change nothing."""
    digits.fix_dimensions({"N": 2})
    with pytest.raises(ValueError, match="has shape 3x1x8x8, expected 2x1x8x8"):
        digits(make_pictures(3))
    digits.fix_dimensions({"N": np.int64(3)})
    for wrong, error in ((2.5, TypeError), ("three", TypeError), (-1, ValueError),
                         (2**31, ValueError)):
        with pytest.raises(error):
            digits.fix_dimensions({"N": wrong})
    with pytest.raises(ValueError, match="no free dimension 'M': expected 'N'"):
        digits.fix_dimensions({"M": 1})
    np.testing.assert_array_equal(digits(make_pictures(3)), run_in_c(make_pictures(3)))


def test_description(digits, picture):
    """Names, shapes and types, before and after runs."""
    image, = digits.inputs
    assert (image.name, image.shape, image.dtype, image.type, image.bits, image.quant) == (
        "image", ("N", 1, 8, 8), np.float32, "fp32", 32, None)
    assert "not prepared" in repr(digits) and "Nx1x8x8" in repr(digits)
    digits(picture)
    assert digits.inputs[0].shape == ("N", 1, 8, 8)
    assert digits.outputs[0].shape == (1, 10)
    assert repr(digits).endswith("-> probabilities 1x10, CPU 16 nodes>")
    assert digits._repr_html_().count("<tr>") == 1 + len(digits.report().nodes)
    digits.close()
    assert repr(digits).endswith("closed>")


def test_binding_writes_into_the_callers_array(digits):
    """Arrays of both sides, changed between runs, with other runs between."""
    pictures = make_pictures(3)
    scores = np.zeros((3, 10), np.float32)
    binding = digits.bind({"image": pictures}, {"probabilities": scores})
    for seed in (1, 2, 3):
        pictures[:] = make_pictures(3, seed=seed)
        binding.run()
        np.testing.assert_array_equal(scores, run_in_c(pictures))
        kept = scores.copy()
        other = make_pictures(3, seed=9)
        np.testing.assert_array_equal(digits(other), run_in_c(other))
        np.testing.assert_array_equal(digits(make_pictures(2)), run_in_c(make_pictures(2)))
        np.testing.assert_array_equal(scores, kept)


@pytest.mark.parametrize("inputs,outputs", [
    ({}, {}),
    ({"image": make_pictures(1)[..., ::-1]}, {}),
    ({"image": make_pictures(1).astype(np.float64)}, {}),
    ({"image": make_pictures(1).tolist()}, {}),
    ({"image": make_pictures(1)}, {"probabilities": np.zeros((2, 10), np.float32)}),
    ({"image": make_pictures(1)}, {"probabilities": np.zeros((1, 10), np.float64)}),
    ({"image": make_pictures(1)}, {"probabilities": np.zeros((1, 20), np.float32)[:, ::2]}),
    ({"image": make_pictures(1)}, {"probabilities": bytes(40)}),
    ({"image": make_pictures(1)}, {"y": np.zeros((1, 10), np.float32)}),
])
def test_bindings_that_are_refused(digits, picture, inputs, outputs):
    """Only arrays that can be lent are bound."""
    with pytest.raises(ValueError):
        digits.bind(inputs, outputs)
    np.testing.assert_array_equal(digits(picture), run_in_c(picture))


def test_bindings_of_sequences_are_refused(picture):
    """Their elements are not memory of the graph."""
    source = model([node("Identity", ["s"], ["t"])], [sequence("s", FLOAT)], [sequence("t", FLOAT)])
    with tengine.Session(source) as session:
        with pytest.raises(ValueError, match=r"input 's' is sequence\(fp32\): expected a tensor"):
            session.bind({"s": [picture]})
        with pytest.raises(TypeError, match="expected dicts of arrays by name"):
            session.bind([[picture]])


def test_binding_allocates_nothing(digits, picture):
    """A bound run makes no object that stays."""
    binding = digits.bind({"image": picture})
    for _ in range(3):
        binding.run()
    tracemalloc.start()
    before = tracemalloc.take_snapshot()
    for _ in range(100):
        binding.run()
    growth = sum(entry.size_diff for entry in
                 tracemalloc.take_snapshot().compare_to(before, "filename")
                 if "tengine" in entry.traceback[0].filename)
    tracemalloc.stop()
    assert growth < 1000


def test_input_is_kept_while_it_is_lent(digits, picture):
    """The session holds the array until the next call."""
    array = picture.copy()
    held = weakref.ref(array)
    digits(array)
    del array
    assert held() is not None
    digits(picture)
    assert held() is None


def test_graph_is_shared_by_one_session_at_a_time(picture):
    """A Graph outlives its sessions, and has one at a time."""
    graph = tengine.Graph.open(DIGITS)
    with tengine.Session(graph) as session:
        np.testing.assert_array_equal(session(picture), run_in_c(picture))
        with pytest.raises(tengine.Error, match="another session"):
            tengine.Session(graph)
    with tengine.Session(graph) as session:
        np.testing.assert_array_equal(session(picture), run_in_c(picture))
    graph.close()
    with pytest.raises(tengine.Error, match="the graph is closed"):
        tengine.Session(graph)


def test_nodes_and_attributes():
    """The model's nodes, tensors and attributes."""
    with tengine.Graph.open(DIGITS) as graph:
        nodes = {node.name: node for node in graph.nodes}
        conv = nodes["/stem/Conv"]
        assert (conv.op, conv.domain, conv.inputs[0]) == ("Conv", "", "image")
        assert conv.attribute("kernel_shape") == [3, 3]
        assert conv.attribute("group") == 1
        assert conv.attribute("auto_pad") == "NOTSET"
        with pytest.raises(tengine.Error, match="kernel_shape"):
            conv.attribute("kernel")
        assert {tensor.name for tensor in graph.tensors} > set(conv.inputs)
    with pytest.raises(tengine.Error, match="the graph is closed"):
        conv.op  # pylint: disable=pointless-statement


def test_pickle(picture):
    """A session of a file or of bytes can be sent to another process."""
    for source in (DIGITS, DIGITS.read_bytes()):
        with tengine.Session(source, threads=2, options={"run.shape_cache": 1}) as session:
            copy = pickle.loads(pickle.dumps(session))
        np.testing.assert_array_equal(copy(picture), run_in_c(picture))
        copy.close()


def test_options_and_devices(picture):
    """Options take effect, and wrong ones are refused with the library's message."""
    with tengine.Session(DIGITS, options={"split.prune": False, "run.shape_cache": 7},
                         devices=[("CPU", {"kernels": "reference"})]) as session:
        np.testing.assert_allclose(session(picture), run_in_c(picture), rtol=1e-4)
        assert {node.kernel for node in session.report().nodes} == {"reference"}
    for arguments in ({"options": {"split.prume": 1}}, {"devices": ["XPU"]},
                      {"devices": [("CPU", {"fast": 1})]}):
        with pytest.raises(LookupError):
            tengine.Session(DIGITS, **arguments)
    with pytest.raises(ValueError, match="expected"):
        tengine.Session(DIGITS, options={"split.prune": 7})
    with pytest.raises(ValueError, match="precision 'fp8': expected 'fp32'"):
        tengine.Session(DIGITS, precision="fp8")
    for wrong in ("CPU", {"CPU": {"kernels": "reference"}}):
        with pytest.raises(TypeError, match="expected a list of names"):
            tengine.Session(DIGITS, devices=wrong)
    assert tengine.options()["split.prune"][0] == "1"
    assert "timing" in tengine.options("CPU")


def test_threads_wait_for_each_other(digits):
    """Several threads may call one session."""
    batches = [make_pictures(number, seed=number) for number in (1, 2, 3, 1)]
    expected = [run_in_c(batch) for batch in batches]
    failures = []

    def work(index):
        for _ in range(50):
            if not np.array_equal(digits(batches[index]), expected[index]):
                failures.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_profile_and_report(picture):
    """Times of nodes, with the option only."""
    with tengine.Session(DIGITS, profile=True) as session:
        with pytest.raises(tengine.Error) as error:
            session.report()
        assert error.value.name == "TENGINE_ESTATE"
        session(picture)
        assert any(node.measured_ms for node in session.report().nodes)
    with tengine.Session(DIGITS) as session:
        session(picture)
        assert {node.measured_ms for node in session.report().nodes} == {None}


def test_report_is_that_of_the_program(picture, tool):
    """The JSON of `tengine inspect` and the report agree."""
    command = [tool, "inspect", str(DIGITS), "--shape", "image=1x1x8x8", "--device", "TPU",
               "--json", "-"]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    with tengine.Session(DIGITS, devices=["TPU"], shapes={"image": picture.shape}) as session:
        session.prepare()
        report = session.report().to_dict()
    # Tuples are lists in JSON.
    report = json.loads(json.dumps(report))
    keys = set(expected["nodes"][0]) & set(report["nodes"][0])
    assert {"name", "op", "device", "part", "macs", "inputs", "attributes", "refused"} <= keys
    for mine, theirs in zip(report["nodes"], expected["nodes"], strict=True):
        # The bandwidth of memory, which each process measures, is in the predictions.
        assert mine.pop("predicted_ms") == pytest.approx(theirs["predicted_ms"], rel=2)
        same = keys - {"kernel", "predicted_ms"}
        assert {key: mine[key] for key in same} == {key: theirs[key] for key in same}
    assert report["tensors"] and report["plan"]["blocks"]
    assert report["tensors"] == expected["tensors"] and report["plan"] == expected["plan"]
    assert [part["device"] for part in report["parts"]] == [
        part["device"] for part in expected["parts"]]
    assert report["macs"] == expected["macs"] and report["threads"] == expected["threads"]


@pytest.mark.parametrize("options", [{}, {"scheduler": "pipeline"},
                                     {"scheduler": "pipeline", "pipeline.frames": 5}])
@pytest.mark.parametrize("threads", [1, 2])
def test_schedulers(options, threads):
    """Runs, bindings and shapes that change in turns, with every scheduler."""
    with tengine.Session(DIGITS, options=options, threads=threads) as session:
        for seed in range(20):
            pictures = make_pictures(1 + seed % 3, seed)
            expected = run_in_c(pictures)
            for _ in range(3):
                np.testing.assert_allclose(session(pictures), expected, rtol=1e-5, atol=1e-7)
            binding = session.bind({"image": pictures})
            for _ in range(3):
                binding.run()
            np.testing.assert_allclose(binding.outputs["probabilities"], expected, rtol=1e-5,
                                       atol=1e-7)
            if seed % 4 == 0:
                session.prepare()


@pytest.mark.parametrize("closes", [True, False])
def test_a_graph_outlives_lent_arrays(picture, closes):
    """A graph that its session has left runs in C without the session's arrays."""
    graph = tengine.Graph.open(DIGITS)
    session = tengine.Session(graph)
    session(picture.copy())
    session.bind({"image": picture.copy()}).run()
    if closes:
        session.close()
    del session
    gc.collect()
    assert lib.prerun_graph(graph.handle) == 0
    assert lib.run_graph(graph.handle, 1) < 0
    assert lib.get_tengine_errno() == tengine.InvalidValueError.code


def test_clones_share_weights(picture):
    """Clones run at the same time with the results of the first, which may be closed before."""
    with tengine.Session(DIGITS, threads=2) as session:
        session.reshape({"image": (1, 1, 16, 16)})
        assert session.clone().inputs[0].shape == ("N", 1, 16, 16)
        session.reshape({"image": (1, 1, 8, 8)})
        expected = session(picture)
        owned = session.memory["owned_bytes"]
        clones = [session.clone() for _ in range(3)]
        clones.append(clones[0].clone())
    assert sum(clone.memory["owned_bytes"] for clone in clones) <= owned * 1.1
    failures = []

    def work(clone):
        for _ in range(100):
            if not np.array_equal(clone(picture), expected):
                failures.append(clone)

    threads = [threading.Thread(target=work, args=(clone,)) for clone in clones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number in (2, 5):
        np.testing.assert_allclose(clones[1](make_pictures(number)),
                                   run_in_c(make_pictures(number)), rtol=1e-5, atol=1e-7)
    for clone in clones:
        clone.close()


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_futures_in_flight(frames):
    """Runs in flight, shapes that change between them, failures and other calls among them."""
    options = {"scheduler": "pipeline", "pipeline.frames": frames}
    with tengine.Session(DIGITS, options=options) as session:
        batches = [make_pictures(1 + index // 7 % 3, index) for index in range(60)]
        futures = []
        for index, batch in enumerate(batches):
            futures.append(session.submit(batch))
            if index == 20:
                wrong = session.submit(batch[:, :, 1:])
            if index == 40:
                now = session(batch)
        for batch, future in zip(batches, futures):
            np.testing.assert_allclose(future.result(), run_in_c(batch), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(now, run_in_c(batches[40]), rtol=1e-5, atol=1e-7)
        with pytest.raises(ValueError, match="shape"):
            wrong.result()
        result = session.submit(batches[0].tolist()).result()
        np.testing.assert_allclose(result, run_in_c(batches[0]), rtol=1e-5, atol=1e-7)
        rest = [session.submit(batch) for batch in batches]
    concurrent.futures.wait(rest, 60)
    assert all(future.done() for future in rest)


def test_place(picture):
    """Placements for the devices of the session and for others; later runs are as before."""
    with tengine.Session(DIGITS, shapes={"image": picture.shape}, precision="bf16",
                         options={"split.prune": 0}) as session:
        expected = session(picture)
        assert session.place().devices == ("CPU",)
        report = session.place(["TPU"])
        assert "TPU" in report.devices and report.scheduler == ""
        np.testing.assert_array_equal(session(picture), expected)
        with pytest.raises(LookupError):
            session.place(["XPU"])


def test_cpus_of_threads(picture):
    """CPUs by number."""
    with tengine.Session(DIGITS, cpus=range(2), threads=2) as session:
        assert session(picture).shape == (1, 10)
    with pytest.raises(ValueError, match="cpus has 64: expected 0 to 63"):
        tengine.Session(DIGITS, cpus=[64])


@pytest.mark.parametrize("options", [{}, {"scheduler": "pipeline"}])
def test_results_whose_shape_depends_on_data(options):
    """Each run has another shape, also among shapes of inputs that come again."""
    source = model([node("NonZero", ["x"], ["y"])], [value("x", FLOAT, ["height", "width"])],
                   [value("y", INT64, None)])
    random = np.random.default_rng(0)
    with tengine.Session(source, options=options) as session:
        for index in range(60):
            x = random.random([(3, 4), (5, 2), (3, 4), (7, 7)][index % 4])
            x = (x > random.random()).astype(np.float32)
            np.testing.assert_array_equal(session(x), np.argwhere(x).T)
            if index % 10 == 0:
                session.prepare()
