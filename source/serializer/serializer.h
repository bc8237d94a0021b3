// SPDX-License-Identifier: Apache-2.0
// The room serializer: model formats, a folder each, which do not see each other. They turn bytes
// into a source graph and back; shapes, folding and lowering are for passes, on a copy.
//
// The contract of a format. Its folder has <name>_serializer.{c,cc} with
// TENGINE_DEFINE_SERIALIZER(<name>, …); CMake finds it. The registry is in module/module.h.
//
// Entries marked (optional) may be NULL. The others return 0 or a negative TENGINE_E... code after
// tengine_error_set(). A model file is hostile: whatever its bytes, a loader ends with a status.
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include <sys/stat.h>

#include "base/mapped_file.h"
#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

typedef struct serializer
{
    // The format's name as create_graph() takes it ("onnx"). Constant, never NULL.
    const char* (*get_name)(struct serializer* serializer);
    // Fills the empty `ir_graph` from a file or from `size` bytes, 1 or more, at `addr`, which stay
    // the caller's and are not needed afterwards. After a failure the graph can only be destroyed.
    // `ap`: the arguments of create_graph() after those it knows.
    int (*load_model)(struct serializer* serializer, struct graph* ir_graph, const char* fname,
                      va_list ap);
    int (*load_mem)(struct serializer* serializer, struct graph* ir_graph, const void* addr,
                    size_t size);
    // (optional) Before the graph is destroyed: frees the loader's data in `s_priv`
    // (graph->serializer_privacy).
    int (*unload_graph)(struct serializer* serializer, struct graph* ir_graph, void* s_priv,
                        void* dev_priv);
    // (optional) Once at registration, once at unregistration.
    int (*init)(struct serializer* serializer);
    int (*release)(struct serializer* serializer);
    // (optional) Writes a graph in source form (a node for every input and constant), whose
    // operators are those of `dialect`: "" ONNX's, "tengine" Tengine's. A file that cannot be
    // written whole is removed.
    int (*save_model)(struct serializer* serializer, const struct graph* ir_graph,
                      const char* fname);
    const char* dialect;
    // (optional) The same for several graphs, the entries of one model (graph/entry.h). NULL: such
    // files have one graph.
    int (*save_entries)(struct serializer* serializer, const struct graph* const graphs[],
                        const char* const names[], int number, const char* fname);
    // (optional) As load_mem, without a copy: the bytes are part of the graph until unload_graph.
    // `owned`: the graph takes the block, which is malloc()'s, over and frees it in unload_graph;
    // else it stays the caller's and is only read. After a failure it is the caller's in any case.
    int (*load_block)(struct serializer* serializer, struct graph* ir_graph, void* block,
                      size_t size, bool owned);
    // (optional) The kind of memory of `data`, a constant's of the graph that the constant does not
    // own. NULL: every constant owns its memory.
    ir_data_place_t (*locate_data)(const struct serializer* serializer,
                                   const struct graph* ir_graph, const void* data);
    // (optional) Makes `ir_graph`, a changed copy of `parent`, one of this format, too: save_model
    // then also writes the contents of the file of `parent` that a graph does not hold. Its
    // constants are its own. After a failure the graph can only be destroyed.
    int (*inherit)(struct serializer* serializer, const struct graph* parent,
                   struct graph* ir_graph);
    // (optional) Makes `ir_graph`, another instance of the model of `parent`, one of this format,
    // too: the memory that their constants lie in stays until both are unloaded, on any thread.
    // NULL: every constant owns its memory. After a failure the graph can only be destroyed.
    int (*share)(struct serializer* serializer, const struct graph* parent, struct graph* ir_graph);
    // (optional) Fills the empty `ir_graph` with another entry (graph/entry.h) of the model of
    // `parent`, by its index, from the same memory. NULL: such models have none. After a failure
    // the graph can only be destroyed.
    int (*load_entry)(struct serializer* serializer, const struct graph* parent, int entry,
                      struct graph* ir_graph);
    // (optional) How the names of such files end (".onnx"). NULL: they have no ending of their own.
    const char* file_ending;
    // (optional) Whether the graph, which is of this format, or its parent was loaded from this
    // file, or from others beside it. NULL: not known.
    bool (*has_file)(const struct serializer* serializer, const struct graph* ir_graph,
                     const struct stat* file);
    // (optional) TENGINE_EIO when a file that constants lie in has changed in place since. NULL:
    // they lie in none.
    int (*check_files)(const struct serializer* serializer, const struct graph* ir_graph);
} serializer_t;

TENGINE_EXTERN_C_END
