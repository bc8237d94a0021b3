# SPDX-License-Identifier: Apache-2.0
"""The statements of models about themselves."""
import numpy as np
import pytest
from conftest import DIGITS
from onnx_bytes import FLOAT, field, fields, graph, node, value

import tengine
import tengine.onnxruntime as facade


def make_model():
    """A model with all statements."""
    content = graph([node("Relu", ["x"], ["y"], "n") + field(6, "a rectifier")],
                    [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]) + field(10, "of a graph")
    properties = [field(1, key) + field(2, text)
                  for key, text in (("author", "someone"), ("labels", "é,b"), ("author", "again"))]
    opsets = [field(1, "") + field(2, 17), field(1, "ai.onnx.ml") + field(2, 3)]
    return (field(1, 8) + field(2, "producer") + field(3, "1.2") + field(4, "org.example") +
            field(5, 7) + field(6, "of a model") + field(7, content) + fields(8, opsets) +
            fields(14, properties))


@pytest.mark.parametrize("format", [None, "onnx", "tengine"])
def test_metadata(tmp_path, format):
    """As the file has it, also after it was written in both formats."""
    with tengine.Graph.open(make_model()) as graph:
        if format is not None:
            graph.save(tmp_path / "model", format)
            graph = tengine.Graph.open(tmp_path / "model", format=format)
        found = graph.metadata
        assert (found.producer_name, found.producer_version, found.domain) == (
            "producer", "1.2", "org.example")
        assert (found.doc_string, found.graph_doc_string) == ("of a model", "of a graph")
        assert found.model_version == 7
        assert found.properties == {"author": "someone", "labels": "é,b"}
        if format is None:
            assert (found.graph_name, found.ir_version) == ("graph", 8)
            assert found.opsets == {"": 17, "ai.onnx.ml": 3}
            assert {entry.doc_string for entry in graph.nodes} == {"", "a rectifier"}


def test_names_of_onnxruntime():
    """get_modelmeta has the same data."""
    found = facade.InferenceSession(make_model()).get_modelmeta()
    assert (found.producer_name, found.domain, found.description, found.graph_description,
            found.graph_name, found.version) == ("producer", "org.example", "of a model",
                                                 "of a graph", "graph", 7)
    assert found.custom_metadata_map["author"] == "someone"


def test_a_model_that_says_little():
    """Strings are empty and numbers 0."""
    with tengine.Graph.open(DIGITS) as graph:
        assert graph.metadata.producer_name == "pytorch"
        assert (graph.metadata.properties, graph.metadata.graph_doc_string) == ({}, "")
    with tengine.Session(DIGITS) as session:
        assert session(np.zeros((1, 1, 8, 8), np.float32)).shape == (1, 10)
