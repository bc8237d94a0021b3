// SPDX-License-Identifier: Apache-2.0
// Quantises a model from samples, as a board can with its camera:
//     calibrate MODEL.onnx IMAGES.npy INT8.onnx
// The samples are the rows of an array of floats, as numpy.save writes it. docs/quantize.md has the
// methods.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tengine/calibration.h"

// The stand-in for a camera.
struct camera
{
    FILE* file;
    long begin;  // of the first row
    float* frame;
    size_t size;  // bytes of a row
};

// A failed call of the library has logged the reason on standard error.
static void check(int is_good, const char* reason)
{
    if (is_good) return;
    fprintf(stderr, "calibrate: %s\n", reason);
    exit(EXIT_FAILURE);
}

static struct camera open_camera(const char* path, size_t size)
{
    unsigned char head[10];
    struct camera camera = {fopen(path, "rb"), 0, malloc(size), size};
    check(camera.file && camera.frame, "no array");
    check(fread(head, 1, sizeof head, camera.file) == sizeof head &&
              memcmp(head, "\x93NUMPY\x01", 7) == 0,
          "the array is not a file of numpy.save");
    camera.begin = (long)sizeof head + head[8] + 256L * head[9];
    return camera;
}

// A frame for the only input, as long as there are some. The model may leave the batch free.
static int read_frame(void* user, int64_t index, struct tengine_sample_input inputs[],
                      int input_number)
{
    struct camera* camera = user;
    if (input_number != 1) return -1;
    if (index == 0 && fseek(camera->file, camera->begin, SEEK_SET) != 0) return -1;
    inputs[0].dims[0] = 1;
    inputs[0].data = camera->frame;
    inputs[0].size = camera->size;
    return fread(camera->frame, camera->size, 1, camera->file) == 1;
}

// Bytes of a frame of floats.
static size_t frame_size(graph_t graph)
{
    int dims[MAX_SHAPE_DIM_NUM];
    size_t size = sizeof(float);
    const int dim_number =
        get_tensor_shape(tengine_graph_get_input(graph, 0), dims, MAX_SHAPE_DIM_NUM);
    for (int i = 1; i < dim_number; ++i)
        size *= dims[i] > 0 ? (size_t)dims[i] : 1;
    return size;
}

int main(int argc, char* argv[])
{
    check(argc == 4, "usage: calibrate MODEL.onnx IMAGES.npy INT8.onnx");
    check(init_tengine() == 0, "no library");
    graph_t graph = create_graph(NULL, "onnx", argv[1]);
    check(graph != NULL, "no model");

    struct camera camera = open_camera(argv[2], frame_size(graph));

    struct tengine_calibration_options how = {0};
    how.user = &camera;
    how.read_sample = read_frame;
    how.unsigned_activations = 1;
    tengine_calibration_t calibration = tengine_calibration_create(graph, &how, sizeof how);
    check(calibration && tengine_calibration_run(calibration) == 0, "no ranges");

    struct tengine_calibration_summary summary;
    check(tengine_calibration_compare(calibration, NULL, 0) == 0 &&
              tengine_calibration_get_summary(calibration, &summary, sizeof summary) == 0,
          "no comparison");
    printf("%lld samples, %d of %d nodes in uint8, %lld of %lld decisions as in float\n",
           (long long)summary.sample_number, summary.quantized_node_number, summary.node_number,
           (long long)summary.same_decision_number, (long long)summary.decision_number);

    graph_t quantized = tengine_calibration_quantize(calibration);
    check(quantized && save_graph(quantized, "onnx", argv[3]) == 0, "no quantised model");
    tengine_calibration_destroy(calibration);
    fclose(camera.file);
    free(camera.frame);
    release_tengine();
    return 0;
}
