// SPDX-License-Identifier: Apache-2.0
// Reads a tmfile into a source graph, whose nodes stay Tengine's operators. The parts: tensors.cc,
// nodes.cc with parameters.cc (operators' records) and extension.cc, parts.cc (models split ahead
// of time), layout.cc (models in NHWC).
#pragma once

#include "base/file_image.hpp"
#include "serializer/tmfile/file_view.h"
#include "serializer/tmfile/format.h"
#include "tengine/ir.h"

namespace tengine::tmfile {

// The state that the parts of the reader share.
struct Reading
{
    Reading(struct graph* to, FileImage* from)
        : graph(to), image(from), file(from->bytes(), from->size()), budget(from->size())
    {
    }

    // The reading of a body of a node that `outer` reads.
    Reading(struct graph* body, const Reading& outer)
        : graph(body),
          image(outer.image),
          file(outer.file),
          budget(outer.budget),
          depth(outer.depth + 1)
    {
    }

    // The reading of an execution graph, whose constants lie in `bytes` or in its source graph.
    Reading(struct graph* execution, const char* bytes, size_t size)
        : graph(execution), image(nullptr), file(bytes, size), budget(size), depth(1)
    {
    }

    bool has_nhwc_shapes() const { return subgraph.model_layout == TENGINE_LAYOUT_NHWC; }
    bool has_nhwc_parameters() const { return subgraph.graph_layout == TENGINE_LAYOUT_NHWC; }

    struct graph* graph;
    FileImage* image;  // null: that of an execution graph
    FileView file;
    Budget budget;
    SubgraphRecord subgraph = {};
    uint32_t subgraph_offset = 0;
    int depth = 0;  // graphs around it
};

// Fills the empty `graph` from the image, in which its constants lie, with the entry of this name;
// "": the first one. The file may be hostile. TENGINE_ENOENT (no such entry), TENGINE_EFORMAT
// (damaged), TENGINE_EGRAPH (records that are not a graph), TENGINE_EOPERATOR, TENGINE_ENOTSUP,
// TENGINE_EDTYPE, TENGINE_ERANGE, TENGINE_ELIMIT, TENGINE_ENOMEM.
TENGINE_MUST_USE int read_model(struct graph* graph, FileImage* image, const char* entry);

// The image of a graph that was loaded from a tmfile; NULL for other graphs.
const FileImage* find_image(const struct graph& graph);

// create_ir_...() return NULL after setting the error.
inline int last_error()
{
    const int code = tengine_error_code();
    return code < 0 ? code : TENGINE_ENOMEM;
}

}  // namespace tengine::tmfile
