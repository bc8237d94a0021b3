// SPDX-License-Identifier: Apache-2.0
// Strings: the elements of tensors of TENGINE_DT_STRING are pointers into the pool. Equal strings
// of a graph are one pointer, and moving elements moves pointers.
//
// A source graph has a pool, which its execution graphs, parts and bodies share. A constant's
// string lives as long as the pool, any other until a run begins and no input has it. Any thread,
// unless said otherwise.
#pragma once

#include "base/minimal.h"
#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

struct ir_strings;

#define IR_HAS_STRINGS (!IS_MINIMAL)

#ifdef TENGINE_MINIMAL
// Stand-ins for a build without strings.
static inline int join_ir_strings(struct graph* graph, const struct graph* other)
{
    (void)graph;
    (void)other;
    return TENGINE_OK;
}
static inline void release_ir_strings(struct ir_strings* strings)
{
    (void)strings;
}
static inline void keep_ir_strings(const struct graph* graph, const struct tensor* tensor)
{
    (void)graph;
    (void)tensor;
}
static inline void forget_ir_strings(const struct graph* source)
{
    (void)source;
}
static inline int intern_ir_string(const struct graph* graph, const char* text, size_t length,
                                   const char** out_string)
{
    (void)graph;
    (void)text;
    (void)length;
    (void)out_string;
    return tengine_error_set(TENGINE_ENOTSUP, "a minimal build has no strings");
}
static inline int keep_ir_string(const struct graph* graph, const char* text, size_t length,
                                 const char** out_string)
{
    return intern_ir_string(graph, text, length, out_string);
}
static inline int check_ir_text(const char* text, size_t length, const char* owner, int64_t index)
{
    (void)index;
    return tengine_error_set(TENGINE_ENOTSUP, "%s: '%.*s': a minimal build has no strings", owner,
                             (int)length, text);
}
#else
// Makes the graph share the pool of the other one; its own must be empty.
TENGINE_MUST_USE int join_ir_strings(struct graph* graph, const struct graph* other);
void release_ir_strings(struct ir_strings* strings);  // NULL is allowed

// Keeps the strings of a tensor, or those of a sequence, as those of a constant.
void keep_ir_strings(const struct graph* graph, const struct tensor* tensor);
// Frees the strings of a source graph that neither a constant nor an input has. None of its runs
// may be in flight.
void forget_ir_strings(const struct graph* source);

// TENGINE_EINVAL unless the string is valid UTF-8 (RFC 3629) without a NUL; `owner` and `index`
// name the element in the message.
TENGINE_MUST_USE int check_ir_text(const char* text, size_t length, const char* owner,
                                   int64_t index);

// The pool's pointer to a string that passes the check. TENGINE_ERANGE for more than 2^30 bytes;
// TENGINE_ELIMIT when the strings would exceed the graph's limit (preparation.h).
TENGINE_MUST_USE int intern_ir_string(const struct graph* graph, const char* text, size_t length,
                                      const char** out_string);
TENGINE_MUST_USE int keep_ir_string(const struct graph* graph, const char* text, size_t length,
                                    const char** out_string);

// Whether the pool has a string at this address; any address is allowed.
bool is_ir_string(const struct graph* graph, const char* address);
#endif

TENGINE_EXTERN_C_END
