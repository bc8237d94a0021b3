// SPDX-License-Identifier: Apache-2.0
// The smallest program: loads a model, sets its input, runs it, prints its output. classify.c does
// the same for image files.
#include <stdio.h>
#include <stdlib.h>

#include "tengine/c_api.h"

// A failed call has logged the reason on standard error.
static void check(int is_good)
{
    if (!is_good) exit(EXIT_FAILURE);
}

int main(void)
{
    static const char picture[] =
        "  ##### "
        "  ##### "
        "  ##    "
        "  ####  "
        "     ## "
        "     ## "
        "  #  ## "
        "  ####  ";
    float image[64];
    for (int i = 0; i < 64; ++i)
        image[i] = picture[i] == '#';

    check(init_tengine() == 0);
    graph_t graph = create_graph(NULL, "onnx", "examples/data/digits.onnx");
    check(graph != NULL);

    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    const int shape[] = {1, 1, 8, 8};
    check(set_tensor_shape(input, shape, 4) == 0);
    check(set_tensor_buffer(input, image, sizeof image) == 0);
    check(prerun_graph(graph) == 0);
    check(run_graph(graph, 1) == 0);

    const float* probability = get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    check(probability != NULL);
    for (int digit = 0; digit < 10; ++digit)
        printf("%d %5.1f %%\n", digit, 100 * probability[digit]);

    destroy_graph(graph);
    release_tengine();
    return 0;
}
