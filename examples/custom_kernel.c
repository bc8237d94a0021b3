// SPDX-License-Identifier: Apache-2.0
// A kernel of the program in a network: y = Relu(x) becomes y = min(max(x, 0), ceiling), and the
// program counts how often the ceiling is hit. A program runs operators that the library does not
// know in the same way: their nodes are "Generic", and need a kernel with infer_shape.
#include <stdio.h>
#include <stdlib.h>

#include "tengine/c_api.h"

// The library knows the first member only; every function gets its address back.
struct ceiling_kernel
{
    struct custom_kernel_ops ops;
    float ceiling;
    int hit_num;
};

static int bind(struct custom_kernel_ops* ops, const struct custom_kernel_tensor* inputs[],
                int input_num, const struct custom_kernel_tensor* outputs[], int output_num)
{
    (void)ops, (void)outputs;
    return input_num == 1 && output_num == 1 && inputs[0]->data_type == TENGINE_DT_FP32 ? 0 : -1;
}

static int run(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[], int input_num,
               struct custom_kernel_tensor* outputs[], int output_num)
{
    struct ceiling_kernel* kernel = (struct ceiling_kernel*)ops;
    const float* input = inputs[0]->data;
    float* output = outputs[0]->data;
    (void)input_num, (void)output_num;
    for (int i = 0; i < outputs[0]->element_num; ++i) {
        output[i] = input[i] > 0 ? input[i] : 0;
        if (output[i] > kernel->ceiling) {
            output[i] = kernel->ceiling;
            ++kernel->hit_num;
        }
    }
    return 0;
}

// The output may be in the input's memory: each element is read before it is written.
static int inplace_info(struct custom_kernel_ops* ops, int output_idx)
{
    (void)ops;
    return output_idx == 0 ? 0 : -1;
}

static void release(struct custom_kernel_ops* ops)
{
    printf("kernel '%s' is released\n", ops->kernel_name);
}

// A failed call has logged the reason on standard error.
static void check(int is_good)
{
    if (!is_good) exit(EXIT_FAILURE);
}

// Builds an input "x" of six numbers and a node "y".
static graph_t build(void)
{
    const char* names[] = {"x", "y"};
    const int dims[] = {6};
    graph_t graph = create_graph(NULL, NULL, NULL);
    check(graph != NULL);
    node_t input = create_graph_node(graph, "x", "InputOp");
    node_t relu = create_graph_node(graph, "y", "Relu");
    tensor_t x = create_graph_tensor(graph, "x", TENGINE_DT_FP32);
    tensor_t y = create_graph_tensor(graph, "y", TENGINE_DT_FP32);
    check(input && relu && x && y);
    check(set_node_output_tensor(input, 0, x, TENSOR_TYPE_INPUT) == 0);
    check(set_tensor_shape(x, dims, 1) == 0);
    check(set_node_output_tensor(relu, 0, y, TENSOR_TYPE_VAR) == 0);
    check(set_node_input_tensor(relu, 0, x) == 0);
    check(set_graph_input_node(graph, &names[0], 1) == 0);
    check(set_graph_output_node(graph, &names[1], 1) == 0);
    return graph;
}

int main(void)
{
    float values[6] = {-2, 0.5f, 3, 9, 4, 100};
    struct ceiling_kernel kernel = {.ops = {.kernel_name = "ceiling",
                                            .op = "Relu",
                                            .bind = bind,
                                            .inplace_info = inplace_info,
                                            .run = run,
                                            .release = release},
                                    .ceiling = 4};
    check(init_tengine() == 0);
    graph_t graph = build();
    check(set_custom_kernel(get_graph_node(graph, "y"), NULL, &kernel.ops) == 0);

    tensor_t x = get_graph_input_tensor(graph, 0, 0);
    check(set_tensor_buffer(x, values, sizeof values) == 0);
    check(prerun_graph(graph) == 0);
    check(run_graph(graph, 1) == 0);
    const float* result = get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    check(result != NULL);
    for (int i = 0; i < 6; ++i)
        printf("%g -> %g\n", (double)values[i], (double)result[i]);
    printf("%d values were above the ceiling\n", kernel.hit_num);

    destroy_graph(graph);
    release_tengine();
    return 0;
}
