// SPDX-License-Identifier: Apache-2.0
// Buckets: shapes of inputs for which a model is prepared, or compiled ahead of time, and in which
// smaller inputs run, too. docs/buckets.md has programs. Results, errors, ownership and threads are
// as c_api.h says.
//
// prerun_graph for inputs that a bucket holds, but does not have, prepares the smallest such bucket
// in which padding is exact. Runs copy the inputs to the begin of each axis of the bucket's, whose
// other elements are zeros, and copy the results from there: the program sees its own shapes alone.
// Padding is exact if each element of each result is computed from the same elements by the same
// operators as in a graph of the inputs' own shapes, whatever the padding holds; the library finds
// that out by comparing both graphs node by node. Kernels may differ, since they are chosen by
// shape. Where it is not exact, the graph is prepared for the inputs' own shapes.
//
// A bucket is a property of the model, "tengine.bucket.<any name>", which save_graph writes. The
// option "run.buckets" turns buckets off. Minimal builds have none.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Adds a bucket: "INPUT=SHAPE[,INPUT=SHAPE]...", such as "x=4x3x224x224,mask=4x10". An input that
// it does not name has the shape of each request. The graph must be prepared again. Fails with
// TENGINE_EHANDLE, TENGINE_EINVAL (NULL, no such list, an input or a rank that the graph does not
// have, a state, more than 256 buckets), TENGINE_ESTATE (runs are in flight), TENGINE_ENOMEM and,
// in a minimal build, TENGINE_ENOTSUP.
TENGINE_API int tengine_graph_add_bucket(graph_t graph, const char* shapes);

// The number of buckets; TENGINE_EHANDLE.
TENGINE_API int tengine_graph_get_bucket_number(graph_t graph);

// The text of a bucket, valid until the graph changes. NULL with TENGINE_EHANDLE or TENGINE_ERANGE.
TENGINE_API const char* tengine_graph_get_bucket(graph_t graph, int index);

// For a prepared graph, the reason why its inputs run in the bucket *bucket, such as "input 'x' of
// 3x10 is padded to 4x10", or in no bucket (-1), such as "no bucket: node 'softmax1' (Softmax)
// mixes positions along axis 0 of 'x'". "" if the inputs have the shapes of that bucket, or if
// there are no buckets. It is valid until the graph is prepared again or changes. NULL with
// TENGINE_EHANDLE, TENGINE_EINVAL (`bucket` is NULL) or TENGINE_ESTATE (the graph is not prepared).
TENGINE_API const char* tengine_graph_explain_bucket(graph_t graph, int* bucket);

TENGINE_EXTERN_C_END
