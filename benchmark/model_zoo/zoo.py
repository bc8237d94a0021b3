# SPDX-License-Identifier: Apache-2.0
# The common part of the model zoo's families: a file for each theme has a function build_NAME(path)
# for each model, which writes path and the description of its inputs. docs/model_zoo.md has the
# format.
import importlib
import inspect
import json
import pathlib
import sys
import warnings

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import export_models  # noqa: E402

THEMES = ("vision", "yolo", "detection", "rt_detr", "language", "audio", "voice", "tabular")


def default_folder():
    return export_models.default_folder().parent / "model_zoo"


def models():
    """The function that builds each model, by its name, in the order of the files."""
    table = {}
    for theme in THEMES:
        module = importlib.import_module(theme)
        for name, build in vars(module).items():
            if name.startswith("build_") and inspect.isfunction(build):
                table[name[len("build_"):]] = build
    return table


def settle(network, inputs, last=()):
    """Gives batch normalisation variances that fit these inputs, and what the `last` layers compute
    mean 0 and deviation 0.3. So values differ from place to place as after training, and the order of
    scores is not one of rounding errors. The mean of what is normalised counts as variance: were it
    taken away, small differences would grow from layer to layer, and rounding errors with them."""
    def fit(layer, arguments):
        layer.running_mean[:] = 0
        layer.running_var[:] = arguments[0].square().mean((0, 2, 3))

    def normalize(layer, _, output):
        factor, mean = 0.3 / output.std(), output.mean()
        layer.weight *= factor
        layer.bias[:] = (layer.bias - mean) * factor

    hooks = [module.register_forward_pre_hook(fit) for module in network.modules()
             if isinstance(module, nn.BatchNorm2d)]
    with torch.no_grad():
        network.eval()(*inputs)
        hooks += [layer.register_forward_hook(normalize) for layer in last]
        network(*inputs)
    for hook in hooks:
        hook.remove()


def export(module, path, inputs, outputs, axes, opset=17):
    """Traces the module with inputs, tensors by their names; axes names the free dimensions."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer makes these values constants, as intended
        torch.onnx.export(module.eval(), tuple(inputs.values()), str(path), opset_version=opset,
                          input_names=list(inputs), output_names=list(outputs), dynamic_axes=axes)


def numbers(element_type, shape, low, high):
    """An input of uniform random numbers, with integers both limits included."""
    return {"type": element_type, "shape": list(shape), "low": low, "high": high}


def describe(path, *sizes):
    """Writes the description of the model's inputs in each size: by their names."""
    lines = ",\n".join("  {" + ",\n   ".join(f"{json.dumps(name)}: {json.dumps(each)}"
                                             for name, each in size.items()) + "}"
                       for size in sizes)
    path.with_suffix(".json").write_text('{"sizes": [\n' + lines + "\n]}\n")


def build(name, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    models()[name](path)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    sys.stdout.flush()
