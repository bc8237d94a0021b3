// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX model with an If that is decided before the run and whose result is a constant of
// its branch: y = c ? -3 : -4, z = Abs(y), where c is a constant and true.
#include <stdio.h>

#include "tengine/c_api.h"

// Messages of onnx.proto, each preceded by its length: \012 is 10, of field 1 and kind 2.

// graph { name: "b", initializer { dims: 1, data_type: FLOAT, name, raw_data }, output { name } }
#define BRANCH(name, number) \
    "\022\001b"              \
    "\052\015\010\001\020\001\102\001" name "\112\004\000\000" number "\142\003\012\001" name
// attribute { name, g, type: GRAPH }, whose name has eleven characters
#define BRANCH_ATTRIBUTE(name, branch) "\052\051\012\013" name "\062\027" branch "\240\001\005"
// value_info { name, type { tensor_type { elem_type: FLOAT, shape { dim { dim_value: 1 } } } } }
#define VALUE(name) "\012\001" name "\022\012\012\010\010\001\022\004\012\002\010\001"

// node { input: "c", output: "y", op_type: "If", … }
#define NODE_IF "\012\140\012\001c\022\001y\042\002If"
// node { input: "y", output: "z", op_type: "Abs" }
#define NODE_ABS "\012\013\012\001y\022\001z\042\003\101bs"
// initializer { data_type: BOOL, name: "c", raw_data }
#define TRUE_CONSTANT "\052\010\020\011\102\001\143\112\001\001"

// model { ir_version: 8, opset_import { version: 18 }, graph { node, name: "g", … } }
static const char model[] = "\010\010\102\002\020\022\072\236\001"    //
    NODE_IF BRANCH_ATTRIBUTE("then_branch", BRANCH("t", "\100\300"))  // -3
    BRANCH_ATTRIBUTE("else_branch", BRANCH("e", "\200\300"))          // -4
    NODE_ABS "\022\001g" TRUE_CONSTANT                                //
             "\132\017" VALUE("x")                                    // input
    "\142\017" VALUE("z");                                            // output

static int fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, get_tengine_error());
    return 1;
}

int main(void)
{
    static float x[1];
    if (init_tengine() < 0) return fail("init_tengine");
    graph_t graph = create_graph(NULL, "onnx:m", model, (int)sizeof model - 1);
    if (!graph) return fail("create_graph");
    if (set_tensor_buffer(get_graph_input_tensor(graph, 0, 0), x, sizeof x) < 0) return fail("x");
    if (prerun_graph(graph) < 0) return fail("prerun_graph");
    if (run_graph(graph, 1) < 0) return fail("run_graph");
    const float* z = get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    if (*z != 3) return fprintf(stderr, "z is %g, expected 3\n", *z), 1;
    postrun_graph(graph);
    destroy_graph(graph);
    release_tengine();
    return 0;
}
