// SPDX-License-Identifier: Apache-2.0
// The smallest program: load a model, set its input, run it, print its output. classify.c beside it
// does the same for image files.
#include <stdio.h>

#include "tengine/c_api.h"

static int fail(void)
{
    fprintf(stderr, "%s\n", get_tengine_error());
    return 1;
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

    if (init_tengine() < 0) return fail();
    graph_t graph = create_graph(NULL, "onnx", "examples/data/digits.onnx");
    if (graph == NULL) return fail();

    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    const int shape[] = {1, 1, 8, 8};
    if (set_tensor_shape(input, shape, 4) < 0 ||
        set_tensor_buffer(input, image, sizeof image) < 0 || prerun_graph(graph) < 0 ||
        run_graph(graph, 1) < 0)
        return fail();

    const float* probability = get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    for (int digit = 0; digit < 10; ++digit)
        printf("%d %5.1f %%\n", digit, 100 * probability[digit]);

    destroy_graph(graph);
    release_tengine();
    return 0;
}
