// SPDX-License-Identifier: Apache-2.0
// The room in a build for compiled files (TENGINE_RUNTIME_ONLY): execution graphs are read from the
// model's file, see graph/prepared.cc, and there are no passes.
#include "base/guard.hpp"
#include "graph/core.h"
#include "graph/model_part.h"
#include "graph/subgraph.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

int fail_absent(const char* what)
{
    return tengine_error_set(TENGINE_ENOTSUP, "this build runs compiled files only: it cannot %s",
                             what);
}

int create_for_run(const graph& source, const ir_run_options_t& options, graph** out_graph)
{
    if (count_ir_model_preparations(&source) == 0)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "graph '%s': this build runs compiled files only: the model was "
                                 "not loaded from one that `tengine compile` has written",
                                 source.name);
    GraphPointer made;
    TENGINE_RETURN_IF_ERROR(read_prepared(source, options, &made));
    *out_graph = made.release();
    return TENGINE_OK;
}

}  // namespace
}  // namespace tengine

using tengine::fail_absent;

int create_execution_graph(struct graph* source, const ir_run_options_t* options,
                           struct graph** out_graph)
{
    return tengine::guarded([&] { return tengine::create_for_run(*source, *options, out_graph); },
                            "graph '%s': out of memory while preparing it", source->name);
}

int create_saved_graph(const struct graph*, const char*, struct graph**)
{
    return fail_absent("write models");
}

int create_bundled_graph(const struct graph*, struct graph**)
{
    return fail_absent("write models");
}

int create_quantized_graph(const struct graph*, const struct tengine_quantization*, struct graph**)
{
    return fail_absent("quantise models");
}

int create_instance_graph(const struct graph*, struct graph**)
{
    return fail_absent("make another instance of a model; load the file again");
}

int judge_ir_variant(const struct graph*, int, int, char[], size_t)
{
    return fail_absent("judge variants");
}

int halve_ir_subgraph(struct graph*, int)
{
    return fail_absent("divide a part that its device does not load");
}

int redirect_ir_subgraph(struct graph*, int, int, const char* message)
{
    return tengine_error_set(TENGINE_ENOTSUP,
                             "%s; this build runs compiled files only: it cannot give the part to "
                             "another device",
                             message);
}

int join_ir_default_subgraphs(struct graph* execution)
{
    return connect_ir_subgraphs(execution);
}

int64_t predict_ir_node(struct node*)
{
    return 0;
}

int explain_ir_inputs(const struct graph*, int status)
{
    return status;
}

void report_ir_split(const struct graph*) {}
