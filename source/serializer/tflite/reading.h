// SPDX-License-Identifier: Apache-2.0
// Reads a .tflite into a source graph, whose nodes stay TensorFlow Lite's operators. The parts:
// reader.cc (frame), tensors.cc, operators.cc.
//
// FlatBuffers' verifier checks the tables first, with 64 levels and a million tables at most; after
// it every offset and vector lies in the file and is aligned. Options are checked field by field
// where they are read, since the schema does not have them. Indices and sizes are checked where
// they are used.
#pragma once

#include "base/containers.hpp"
#include "base/file_image.hpp"
#include "base/load_budget.hpp"
#include "base/print_text.hpp"
#include "schema_generated.h"
#include "tengine/ir.h"

namespace tengine::tflite {

// The state that the parts of the reader share.
struct Reading
{
    Reading(struct graph* to, FileImage* from) : graph(to), image(from), budget(from->size()) {}

    struct graph* graph;
    FileImage* image;
    Budget budget;
    const file::Model* model = nullptr;
    const file::Subgraph* subgraph = nullptr;
    const file::Signature* signature = nullptr;  // of the subgraph; null: none
    Vector<char> is_written;  // by tensor: whether an operator or the program gives its values
};

// Fills the empty `graph` from the image, in which its constants lie. The file may be hostile.
// TENGINE_EFORMAT (damaged), TENGINE_EGRAPH (records that are not a graph), TENGINE_EOPERATOR,
// TENGINE_ENOTSUP, TENGINE_EDTYPE, TENGINE_ERANGE, TENGINE_ELIMIT, TENGINE_ENOMEM.
TENGINE_MUST_USE int read_model(struct graph* graph, FileImage* image);

// Adds all tensors of the subgraph, those with values as constants, and its inputs.
TENGINE_MUST_USE int add_tensors(Reading& reading);
// Adds the nodes, each named as its first output.
TENGINE_MUST_USE int add_operators(Reading& reading);

// create_ir_...() return NULL after setting the error.
inline int last_error()
{
    const int code = tengine_error_code();
    return code < 0 ? code : TENGINE_ENOMEM;
}

// The elements of a vector, which may be absent.
template <class Vector>
uint32_t count(const Vector* vector)
{
    return vector ? vector->size() : 0;
}

inline std::string_view text_of(const flatbuffers::String* text)
{
    return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

}  // namespace tengine::tflite
