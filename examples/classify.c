// SPDX-License-Identifier: Apache-2.0
// Classifies image files: prints the most probable classes of each, and the time. The command line
// is in arguments.c, the names of classes are read in labels.c; a smaller program is hello.c. The
// library has logged the reason of each failure.
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "labels.h"
#include "tengine/image.h"

struct classifier
{
    context_t context;
    graph_t graph;
    tensor_t input;
    struct tengine_image_settings settings;
    float* probabilities;  // one for each class
    int* ranking;          // class numbers, most probable first
    int class_count;
};

static int fail(const char* format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("classify: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    return -1;
}

static int open_context(char* devices, struct classifier* classifier)
{
    classifier->context = create_context("classify", devices != NULL);
    if (!classifier->context) return -1;
    if (!devices) return 0;
    for (char* name = strtok(devices, ","); name; name = strtok(NULL, ","))
        if (add_context_device(classifier->context, name) < 0) return -1;
    return 0;
}

static const char* format_of(const char* path)
{
    const char* ending = strrchr(path, '.');
    return ending && strcmp(ending, ".tmfile") == 0 ? "tengine" : "onnx";
}

// The settings beside the model, and those of the command line, which come first.
static int choose_settings(const struct arguments* arguments,
                           struct tengine_image_settings* out_settings)
{
    if (tengine_image_settings_init(out_settings, sizeof *out_settings) < 0) return -1;
    if (tengine_image_settings_load_beside(arguments->model, out_settings) < 0) return -1;
    for (int c = 0; c < 3; ++c) {
        if (arguments->has_mean) out_settings->mean[c] = arguments->mean[c];
        if (arguments->has_scale) out_settings->scale[c] = arguments->scale[c];
    }
    if (arguments->height > 0) out_settings->height = arguments->height;
    if (arguments->width > 0) out_settings->width = arguments->width;
    return 0;
}

static int size_output(const char* model, struct classifier* classifier)
{
    tensor_t output = tengine_graph_get_output(classifier->graph, 0);
    if (!output) return -1;
    const int bytes = get_tensor_buffer_size(output);
    const int data_type = get_tensor_data_type(output);
    if (bytes < 0 || data_type < 0) return -1;
    if (data_type != TENGINE_DT_FP32)
        return fail("%s: the output has data type %d, expected float32 (%d)", model, data_type,
                    TENGINE_DT_FP32);
    classifier->class_count = bytes / (int)sizeof(float);
    if (classifier->class_count == 0) return fail("%s: the output is empty", model);
    classifier->probabilities = calloc((size_t)classifier->class_count, sizeof(float));
    classifier->ranking = calloc((size_t)classifier->class_count, sizeof(int));
    if (!classifier->probabilities || !classifier->ranking)
        return fail("%s: out of memory for %d classes", model, classifier->class_count);
    return 0;
}

static int open_classifier(const struct arguments* arguments, struct classifier* classifier)
{
    const char* model = arguments->model;
    if (choose_settings(arguments, &classifier->settings) < 0) return -1;
    if (open_context(arguments->devices, classifier) < 0) return -1;
    classifier->graph = create_graph(classifier->context, format_of(model), model);
    if (!classifier->graph) return -1;
    classifier->input = tengine_graph_get_input(classifier->graph, 0);
    return classifier->input ? 0 : -1;
}

static int print_placement(graph_t graph)
{
    const int count = get_graph_node_num(graph);
    if (count < 0) return -1;
    for (int i = 0; i < count; ++i) {
        node_t node = get_graph_node_by_idx(graph, i);
        if (!node) return -1;
        const char* device = get_node_device(node);
        const char* operator_name = get_node_op(node);
        const char* name = get_node_name(node);
        if (!device || !operator_name || !name) return -1;
        printf("%-8s %-20s %s\n", device, operator_name, name);
    }
    return 0;
}

// Converts values to probabilities. Models end in a softmax or leave it to the program: values that
// are not a distribution are taken for logits.
static void to_probabilities(float* values, int count)
{
    float sum = 0.0f;
    float least = FLT_MAX;
    float greatest = -FLT_MAX;
    for (int i = 0; i < count; ++i) {
        sum += values[i];
        least = fminf(least, values[i]);
        greatest = fmaxf(greatest, values[i]);
    }
    if (least >= 0.0f && fabsf(sum - 1.0f) < 1e-2f) return;
    sum = 0.0f;
    for (int i = 0; i < count; ++i)
        sum += values[i] = expf(values[i] - greatest);
    for (int i = 0; i < count; ++i)
        values[i] /= sum;
}

// Writes the indices of the `wanted` largest values, largest first, and returns their number.
// Insertion sort, because the list is short.
static int rank(const float* values, int count, int wanted, int* out_ranking)
{
    int ranked = 0;
    for (int i = 0; i < count; ++i) {
        if (ranked == wanted && values[i] <= values[out_ranking[ranked - 1]]) continue;
        int place = ranked < wanted ? ranked++ : ranked - 1;
        for (; place > 0 && values[out_ranking[place - 1]] < values[i]; --place)
            out_ranking[place] = out_ranking[place - 1];
        out_ranking[place] = i;
    }
    return ranked;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static int run_timed(graph_t graph, int repeat, double* out_least, double* out_average)
{
    double total = 0.0;
    *out_least = HUGE_VAL;
    for (int i = 0; i < repeat; ++i) {
        const double start = milliseconds();
        if (run_graph(graph, 1) < 0) return -1;
        const double elapsed = milliseconds() - start;
        total += elapsed;
        *out_least = fmin(*out_least, elapsed);
    }
    *out_average = total / repeat;
    return 0;
}

static void print_classes(const struct classifier* classifier, const struct labels* labels,
                          int top_k)
{
    const float* probabilities = classifier->probabilities;
    const int count = rank(probabilities, classifier->class_count, top_k, classifier->ranking);
    for (int i = 0; i < count; ++i) {
        const int best = classifier->ranking[i];
        printf("  %6.2f %%  ", 100.0 * probabilities[best]);
        if (best < labels->count)
            printf("%s\n", labels->lines[best]);
        else
            printf("class %d\n", best);
    }
}

// Prepares the graph for the first picture. Later ones prepare it again only if the model leaves
// height or width free and they differ.
static int prepare(const struct tengine_image* image, const struct arguments* arguments,
                   struct classifier* classifier)
{
    const struct options options = {arguments->threads, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
    if (tengine_image_set_input_shape(classifier->input, image, 1, &classifier->settings) < 0)
        return -1;
    if (prerun_graph_multithread(classifier->graph, options) < 0) return -1;
    if (classifier->probabilities) return 0;
    if (size_output(arguments->model, classifier) < 0) return -1;
    return arguments->verbose ? print_placement(classifier->graph) : 0;
}

static int feed(const char* path, const struct arguments* arguments, struct classifier* classifier)
{
    struct tengine_image image;
    if (tengine_image_load(path, 0, &image) < 0) return -1;
    int status = prepare(&image, arguments, classifier);
    if (status == 0)
        status = tengine_image_set_input(classifier->input, &image, 1, &classifier->settings);
    tengine_image_free(&image);
    return status;
}

static int classify(const char* path, const struct arguments* arguments,
                    const struct labels* labels, struct classifier* classifier)
{
    double least, average;
    if (feed(path, arguments, classifier) < 0) return -1;
    if (run_timed(classifier->graph, arguments->repeat, &least, &average) < 0) return -1;

    tensor_t output = tengine_graph_get_output(classifier->graph, 0);
    const int bytes = classifier->class_count * (int)sizeof(float);
    if (get_tensor_data(output, classifier->probabilities, bytes) < 0) return -1;
    to_probabilities(classifier->probabilities, classifier->class_count);

    printf("%s: min %.3f ms, avg %.3f ms, runs %d\n", path, least, average, arguments->repeat);
    print_classes(classifier, labels, arguments->top_k);
    return 0;
}

static int classify_all(const struct arguments* arguments, struct labels* labels,
                        struct classifier* classifier)
{
    if (arguments->labels && labels_read(arguments->labels, labels) < 0)
        return fail("%s: cannot read the labels", arguments->labels);
    if (open_classifier(arguments, classifier) < 0) return -1;
    for (int i = 0; i < arguments->image_count; ++i)
        if (classify(arguments->images[i], arguments, labels, classifier) < 0) return -1;
    if (postrun_graph(classifier->graph) < 0) return -1;
    return 0;
}

static void close_classifier(struct classifier* classifier)
{
    if (classifier->graph) destroy_graph(classifier->graph);
    destroy_context(classifier->context);
    free(classifier->probabilities);
    free(classifier->ranking);
}

int main(int argc, char** argv)
{
    struct arguments arguments;
    struct labels labels = {0};
    struct classifier classifier = {0};
    arguments_parse(argc, argv, &arguments);
    if (init_tengine() < 0) return EXIT_FAILURE;
    const int status = classify_all(&arguments, &labels, &classifier);
    close_classifier(&classifier);
    labels_free(&labels);
    release_tengine();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
