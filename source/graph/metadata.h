// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself: producer, documentation, properties, opsets. A source
// graph has those of its file; copies of the graph share them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The values are those of the records in tmfiles (serializer/tmfile/format.h) and never reused.
typedef enum ir_metadata_kind
{
    IR_METADATA_PRODUCER_NAME = 1,
    IR_METADATA_PRODUCER_VERSION = 2,
    IR_METADATA_DOMAIN = 3,
    IR_METADATA_MODEL_VERSION = 4,  // the number
    IR_METADATA_DOC_STRING = 5,
    IR_METADATA_GRAPH_DOC_STRING = 6,
    IR_METADATA_PROPERTY = 7,    // several: key and text
    IR_METADATA_NODE = 8,        // several: the documentation of the node whose name is the key
    IR_METADATA_IR_VERSION = 9,  // of the ONNX file: the number
    IR_METADATA_OPSET = 10       // several, of the ONNX file: the key is the domain
} ir_metadata_kind_t;

// Strings end before the first NUL; one that does not apply is "".
typedef struct ir_metadata_entry
{
    int kind;
    int64_t number;
    const char* key;
    const char* text;
} ir_metadata_entry_t;

// The key of a property, and of the option that it is the value of.
#define IR_ROUNDING_KEY "precision.rounding"

struct ir_metadata;

// NULL when out of memory. The caller holds it.
struct ir_metadata* create_ir_metadata(void);
// Any thread; NULL is allowed. The last release frees it.
struct ir_metadata* hold_ir_metadata(struct ir_metadata* metadata);
void release_ir_metadata(struct ir_metadata* metadata);

// Gives the source graph metadata that no other graph holds: a copy, or empty ones. ENOMEM.
TENGINE_MUST_USE int own_ir_metadata(struct graph* source);

// While one caller holds it: appends a copy of the entry; ENOMEM. The other orders the entries of
// nodes, so that find_ir_node_doc_string() finds them, after the last entry.
TENGINE_MUST_USE int add_ir_metadata(struct ir_metadata* metadata,
                                     const ir_metadata_entry_t* entry);
void order_ir_metadata(struct ir_metadata* metadata);

// The metadata of a source graph, or of the one that a graph for a file was made of; NULL: none.
struct ir_metadata* find_ir_metadata(const struct graph* graph);

// The entries of a kind in the order of the file, those of nodes by name. NULL: no such entry; no
// `metadata` has none.
int count_ir_metadata(const struct ir_metadata* metadata, int kind);
const ir_metadata_entry_t* get_ir_metadata(const struct ir_metadata* metadata, int kind, int index);
// All entries in turn.
const ir_metadata_entry_t* get_any_ir_metadata(const struct ir_metadata* metadata, int index);

// The text of the first property with this key, "" without one.
const char* find_ir_property(const struct ir_metadata* metadata, const char* key);

// The rest of a property's key behind the prefix; NULL for other keys and entries.
const char* match_ir_property(const ir_metadata_entry_t* entry, const char* prefix);

// The documentation of the node with this name, "" without one.
const char* find_ir_node_doc_string(const struct ir_metadata* metadata, const char* node_name);

TENGINE_EXTERN_C_END
