// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself: producer, documentation, properties, opsets; and outputs
// whose shape depends on data. Results, errors, ownership and threads are as c_api.h says. Strings
// are the bytes of the file up to the first NUL, not checked to be UTF-8, and live until
// destroy_graph.
//
// The readers of ONNX files and of tmfiles keep all of these, save_graph writes them to both
// formats, and tengine_graph_quantize hands them on. docs/metadata.md lists the exceptions.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Strings are "" and numbers 0 where the model says nothing, and for a graph built by hand.
struct tengine_metadata
{
    const char* graph_name;
    const char* producer_name;     // the program that wrote the model ("pytorch")
    const char* producer_version;  // and its version ("2.4.0")
    const char* domain;            // a name space of models ("org.example")
    const char* doc_string;        // documentation of the model
    const char* graph_doc_string;  // and of its graph
    int64_t model_version;
    int64_t ir_version;   // of the ONNX file; 0 of other formats
    int property_number;  // of tengine_graph_get_property
    int opset_number;     // of tengine_graph_get_opset
};

// `size` is the sizeof of the structure: later versions of the library may add members at its end.
// Fails with TENGINE_EINVAL (NULL, a size of 0).
TENGINE_API int tengine_graph_get_metadata(graph_t graph, struct tengine_metadata* out_metadata,
                                           size_t size);

// ONNX's metadata_props, in the order of the file. Fails with TENGINE_EINVAL (NULL) and
// TENGINE_ERANGE.
TENGINE_API int tengine_graph_get_property(graph_t graph, int index, const char** out_key,
                                           const char** out_value);
// The value of the first property with this key; answers NULL with TENGINE_ENOENT without one.
// Fails with TENGINE_EINVAL (NULL).
TENGINE_API const char* tengine_graph_find_property(graph_t graph, const char* key);

// A domain of operators ("" or "ai.onnx" is ONNX's) and its version, as the ONNX file imports them;
// other formats import none. tengine_node_get_version returns the version of a node. Fails with
// TENGINE_EINVAL (NULL) and TENGINE_ERANGE.
TENGINE_API int tengine_graph_get_opset(graph_t graph, int index, const char** out_domain,
                                        int64_t* out_version);

// The documentation of a node, "" without one.
TENGINE_API const char* tengine_node_get_doc_string(node_t node);

// The shape that the model declares for an input or an output: writes the dimensions, -1 for a free
// one, whose name tengine_tensor_get_dim_name returns, and returns their count. Set shapes and
// those of results are get_tensor_shape's; they may differ, as the program permits. Answers -1 with
// TENGINE_ENOENT where the model declares none, as in tmfiles. Fails with TENGINE_EINVAL (NULL),
// TENGINE_ERANGE (`dim_number`, the size of `dims`, is too small).
TENGINE_API int tengine_tensor_get_declared_shape(tensor_t tensor, int dims[], int dim_number);

// 1 when the shape of this output of the graph depends on data, so that each run can give it
// another one: that of NonZero, of a Reshape to a shape that is an input, and of nodes that read
// such a tensor; 0 when prerun_graph or tengine_graph_place has determined the shape.
// get_tensor_shape returns that of the last run. Fails with TENGINE_EINVAL (not an output of the
// graph), TENGINE_ESTATE (not prepared, or running).
TENGINE_API int tengine_tensor_has_data_shape(tensor_t tensor);

TENGINE_EXTERN_C_END
