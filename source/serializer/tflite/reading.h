// SPDX-License-Identifier: Apache-2.0
// Reads a .tflite into a source graph, whose nodes stay TensorFlow Lite's operators. The parts:
// reader.cc (frame), tensors.cc, values.cc, sparse.cc, operators.cc, custom.cc, byte_code.cc
// (DISPATCH_OP), control.cc (subgraphs that operators call), states.cc (variables).
//
// FlatBuffers' verifier checks the tables first, with 64 levels and a million tables at most; after
// it every offset and vector lies in the file and is aligned. Options are checked field by field
// where they are read, since the schema does not have them. Indices and sizes are checked where
// they are used.
#pragma once

#include "base/containers.hpp"
#include "base/file_image.hpp"
#include "base/load_budget.hpp"
#include "base/maps.hpp"
#include "base/print_text.hpp"
#include "graph/bucket.h"
#include "graph/hint.h"
#include "schema_generated.h"
#include "tengine/ir.h"

namespace tengine::tflite {

constexpr unsigned kMostLevels = 64;
constexpr unsigned kMostTables = 1000000;
constexpr uint32_t kVersion = 3;
// Offsets in a flatbuffer are signed numbers of 32 bits.
constexpr size_t kMostBytes = INT32_MAX;

constexpr int32_t kAbsentTensor = -1;  // the index of an optional one

// A value that the model keeps from run to run, or a hash table.
struct Variable
{
    bool is_resource = false;  // named by operators, else a tensor
    String container;
    String name;
    struct tensor* first = nullptr;  // what stands for the value before a run; null: not used yet
    struct tensor* now = nullptr;    // and what has it after the operators read so far
    Vector<uint8_t> first_value;     // or one element of it; empty: zeros
    int once = -1;                   // the subgraph of CALL_ONCE that assigns it; -1: none
    bool is_table = false;           // a resource that nothing changes after it got these
    const struct tensor* keys = nullptr;
    const struct tensor* values = nullptr;
};

// The state that the parts of the reader share: one subgraph, which becomes nodes of `graph`.
struct Reading
{
    // `of_model`: null where only options and constants are read.
    Reading(struct graph* to, FileImage* from, Budget* whole, Vector<Variable>* of_model = nullptr)
        : graph(to), image(from), budget(*whole), variables(of_model)
    {
    }
    // A subgraph that an operator of `outer` calls; `name` is the operator's.
    Reading(const Reading& outer, struct graph* to, const file::Subgraph* called, const char* name)
        : graph(to),
          image(outer.image),
          budget(outer.budget),
          variables(outer.variables),
          model(outer.model),
          subgraph(called),
          prefix(String(name) + "/"),
          depth(outer.depth + 1),
          body_depth(outer.body_depth)
    {
    }

    struct graph* graph;
    FileImage* image;
    Budget& budget;
    Vector<Variable>* variables;
    const file::Model* model = nullptr;
    const file::Subgraph* subgraph = nullptr;
    const file::Signature* signature = nullptr;  // of the subgraph; null: none
    Vector<char> is_written;  // by tensor: whether an operator or the program gives its values
    // The tensors of the graph by their index in the subgraph; -1 before add_tensors(), which
    // leaves out those that are there already.
    Vector<int32_t> tensors;
    Map<int32_t, size_t> resources;  // by tensor of the subgraph: its variable
    String prefix;                   // of names
    int depth = 0;                   // number of subgraphs around it
    int body_depth = 0;              // and of these that are bodies
};

// Fills the empty `graph` from the image, in which its constants lie, with the signature of this
// key; "": the first one. The file may be hostile. TENGINE_ENOENT (no such key), TENGINE_EFORMAT
// (damaged), TENGINE_EGRAPH (records that are not a graph), TENGINE_EOPERATOR, TENGINE_ENOTSUP,
// TENGINE_EDTYPE, TENGINE_ERANGE, TENGINE_ELIMIT, TENGINE_ENOMEM.
TENGINE_MUST_USE int read_model(struct graph* graph, FileImage* image, std::string_view key);

// The tensor of the graph for one of the subgraph; null: the subgraph has none.
struct tensor* find_tensor(const Reading& reading, int32_t index);

// Adds all tensors of the subgraph, those with values as constants, and its inputs.
TENGINE_MUST_USE int add_tensors(Reading& reading);
// Adds the nodes, each named as its first output.
TENGINE_MUST_USE int add_operators(Reading& reading);

// The signature with this key, or the first one; null: there is none.
const file::Signature* find_signature(const file::Model& model, std::string_view key);

// The code of an operator; -1: the model has no such entry.
int find_code(const Reading& reading, const file::Operator& record);

// body.cc: the function of two values (operator/tflite/body.h) that a subgraph is. EFORMAT: there
// is no such subgraph. ENOTSUP: it is another one.
TENGINE_MUST_USE int find_body(const Reading& reading, const struct node* node, int32_t number,
                               int* out_body);

// biases.cc: gives the bias of the node, an operator of this code, the scales of its sum.
TENGINE_MUST_USE int settle_bias(Reading& reading, struct node* node, int code);

// code_names.cc: its name.
const char* find_code_name(int code);

// Fails with a message about operator `index` of its subgraph; returns the status.
template <class... Arguments>
int fail_operator(int status, uint32_t index, int code, const char* format, Arguments... arguments)
{
    const String fault = print_text(format, arguments...);
    return tengine_error_set(status, "operator %u, %s: %s", index, find_code_name(code),
                             fault.c_str());
}

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

// Whether a property, or metadata, with this name is a hint (graph/hint.h) or a bucket
// (graph/bucket.h).
inline bool is_kept_property(std::string_view name)
{
    const auto begins = [&](std::string_view prefix) {
        return name.substr(0, prefix.size()) == prefix;
    };
    return begins(IR_AFFINITY_HINT) || begins(IR_OPTION_HINT) || begins(IR_BUCKET_KEY);
}

// The hints and buckets that one entry of several has are metadata with these names.
constexpr std::string_view kEntryProperty = "tengine.entry.";

inline String name_entry_property(const char* entry, const char* property)
{
    return String(kEntryProperty) + entry + "/" + property;
}

inline bool is_entry_property(std::string_view name)
{
    return name.substr(0, kEntryProperty.size()) == kEntryProperty;
}

inline std::string_view text_of(const flatbuffers::String* text)
{
    return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

}  // namespace tengine::tflite
