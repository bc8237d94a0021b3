// SPDX-License-Identifier: Apache-2.0
// Reads a picture of a digit from standard input, eight lines of eight characters in which # is
// ink, and prints the most probable digit. The model is part of the program: see model.S.
#include <stdio.h>
#include <stdlib.h>

#include "tengine/c_api.h"

enum
{
    kSide = 8,
    kPixels = kSide * kSide,
    kDigits = 10
};

extern const char model_begin[], model_end[];

static int read_picture(float* pixels)
{
    int count = 0;
    for (int c = getchar(); c != EOF; c = getchar()) {
        if (c == '\n') continue;
        if (count < kPixels) pixels[count] = c == '#';
        ++count;
    }
    if (count == kPixels) return 0;
    fprintf(stderr, "read_digit: the picture has %d characters instead of %d\n", count, kPixels);
    return -1;
}

static void print_digits(const float* probability)
{
    int best = 0;
    for (int digit = 1; digit < kDigits; ++digit) {
        if (probability[digit] > probability[best]) best = digit;
    }
    int second = best == 0;
    for (int digit = 0; digit < kDigits; ++digit) {
        if (digit != best && probability[digit] > probability[second]) second = digit;
    }
    printf("%d with %.1f %%, or else %d with %.1f %%\n", best, 100 * probability[best], second,
           100 * probability[second]);
}

static int run(graph_t graph, float* pixels)
{
    const int shape[] = {1, 1, kSide, kSide};
    float probability[kDigits];
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    tensor_t output = get_graph_output_tensor(graph, 0, 0);
    // For any MODEL: a buffer that does not match the shape, or an output of another size, fails.
    // The library logs each failure.
    if (!input || !output || set_tensor_shape(input, shape, 4) < 0 ||
        set_tensor_buffer(input, pixels, kPixels * (int)sizeof *pixels) < 0 ||
        prerun_graph(graph) < 0 || run_graph(graph, 1) < 0 ||
        get_tensor_data(output, probability, sizeof probability) < 0)
        return -1;
    print_digits(probability);
    return 0;
}

int main(void)
{
    float pixels[kPixels];
    if (read_picture(pixels) < 0) return EXIT_FAILURE;
    if (init_tengine() < 0) return EXIT_FAILURE;
    // "view": the program owns the bytes, and the graph uses them in place.
    graph_t graph = create_graph(NULL, "tengine:view", model_begin, (int)(model_end - model_begin));
    const int status = graph ? run(graph, pixels) : -1;
    if (graph) destroy_graph(graph);
    release_tengine();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
