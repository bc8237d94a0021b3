// SPDX-License-Identifier: Apache-2.0
// Runs a model in an arena, with one thread and with all memory in one array:
//     run_in_arena MODEL IMAGES LABELS
// IMAGES are 8x8 pixels in float, LABELS a byte each, both after the 128 bytes of an .npy header. A
// model in int8 or uint8 gets the pixels in its own scale. Prints how many it decides as LABELS do.
#include <math.h>
#include <stdio.h>

#include "tengine/c_api.h"

enum
{
    kPixels = 64,
    kClasses = 10,
    kHeader = 128
};

static char memory[512 << 10];

static int fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, get_tengine_error());
    return 1;
}

static void quantize(const float* pixels, float scale, int zero_point, int is_signed,
                     unsigned char* out_bytes)
{
    const float low = is_signed ? -128 : 0;
    for (int i = 0; i < kPixels; ++i) {
        const float step = nearbyintf(pixels[i] / scale) + (float)zero_point;
        out_bytes[i] = (unsigned char)(int)fminf(fmaxf(step, low), low + 255);
    }
}

static int decide(const float* scores)
{
    int best = 0;
    for (int i = 1; i < kClasses; ++i)
        if (scores[i] > scores[best]) best = i;
    return best;
}

static int run(const char* model, FILE* images, FILE* labels)
{
    const int shape[] = {1, 1, 8, 8};
    float pixels[kPixels], scale = 1;
    unsigned char bytes[kPixels];
    int zero_point = 0, number = 0, right = 0, label;
    graph_t graph = create_graph(NULL, "tengine", model);
    if (!graph) return fail("create_graph");
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    tensor_t output = get_graph_output_tensor(graph, 0, 0);
    const int type = get_tensor_data_type(input);
    if (set_tensor_shape(input, shape, 4) < 0 || prerun_graph(graph) < 0)
        return fail("prerun_graph");
    if (type != TENGINE_DT_FP32 && get_tensor_quant_param(input, &scale, &zero_point, 1) < 0)
        return fail("get_tensor_quant_param");
    if (get_tensor_data_type(output) != TENGINE_DT_FP32) return fail("the output is not in float");
    while (fread(pixels, sizeof pixels, 1, images) == 1 && (label = getc(labels)) != EOF) {
        quantize(pixels, scale, zero_point, type == TENGINE_DT_INT8, bytes);
        const int status = type == TENGINE_DT_FP32 ? set_tensor_buffer(input, pixels, sizeof pixels)
                                                   : set_tensor_buffer(input, bytes, sizeof bytes);
        if (status < 0 || run_graph(graph, 1) < 0) return fail("run_graph");
        right += decide(get_tensor_buffer(output)) == label;
        ++number;
    }
    printf("%s: %d of %d right, input in type %d", model, right, number, type);
    destroy_graph(graph);
    return 0;
}

int main(int argc, char** argv)
{
    size_t used, peak;
    FILE* images = argc == 4 ? fopen(argv[2], "rb") : NULL;
    FILE* labels = argc == 4 ? fopen(argv[3], "rb") : NULL;
    if (!images || !labels || fseek(images, kHeader, SEEK_SET) || fseek(labels, kHeader, SEEK_SET))
        return fprintf(stderr, "usage: run_in_arena MODEL IMAGES LABELS\n"), 2;
    if (tengine_arena_set(memory, sizeof memory) < 0 || init_tengine() < 0) return fail("start");
    if (run(argv[1], images, labels) != 0) return 1;
    release_tengine();
    tengine_arena_get_use(&used, &peak);
    printf(", %zu bytes at most, %zu left\n", peak, used);
    return used == 0 ? 0 : 1;
}
