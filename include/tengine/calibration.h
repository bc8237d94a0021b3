// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation from samples: the library runs a float graph on samples that a
// callback gives, chooses the range of each tensor, finds the nodes that must stay in float,
// compares the quantised graph with the float one, and makes the graph. `tengine quantize` is a
// client of these functions, and docs/quantize.md describes the methods. quantize.h quantises with
// ranges that a program has found itself.
//
//     struct tengine_calibration_options how = {0};
//     how.read_sample = read_next_frame;
//     tengine_calibration_t calibration = tengine_calibration_create(graph, &how, sizeof how);
//     if (calibration && tengine_calibration_run(calibration) == 0)
//         quantized = tengine_calibration_quantize(calibration);
//     tengine_calibration_destroy(calibration);
//
// Results, errors and ownership are as c_api.h says. Thread rule: a calibration and its graph are
// used by one thread at a time; different calibrations, of different graphs, by different threads
// at the same time. The functions that fail after they have called the program (run, search,
// compare) leave the calibration as the call before did, and may be called again; a run starts
// afresh.
//
// In a build without TENGINE_WITH_CALIBRATION, such as a minimal one, all functions fail with
// TENGINE_ENOTSUP.
#pragma once

#include "tengine/quantize.h"

TENGINE_EXTERN_C_BEGIN

typedef void* tengine_calibration_t;

// The value of one input in a sample. The library sets all members but `data` before it calls
// read_sample: name, type and shape of the graph's input, with -1 for a dimension that is free and
// dim_number -1 for a rank that is not known, and the bytes of that shape, 0 if it is not complete.
struct tengine_sample_input
{
    const char* name;
    const void* data;  // dense, row-major, packed as in a tensor; may be NULL if size is 0
    size_t size;       // bytes of `data`
    int data_type;     // TENGINE_DT_*
    int dim_number;    // of dims; 0: a scalar
    int dims[MAX_SHAPE_DIM_NUM];
};

// Values of tengine_calibrated_node.reason.
#define TENGINE_FLOAT_NOT 0         // the node is quantised
#define TENGINE_FLOAT_REQUESTED 1   // keep_float matches it
#define TENGINE_FLOAT_DROP 2        // tengine_calibration_search has returned its layer to float
#define TENGINE_FLOAT_NOT_FINITE 3  // it reads or computes a tensor with NaN or infinite values
#define TENGINE_FLOAT_NO_FORM 4     // it has no form in int8 at its place in the graph

// The samples and the method. Unused members are 0 or NULL.
struct tengine_calibration_options
{
    void* user;  // of the callbacks
    // Required, unless `dynamic` is set. Gives sample `index` of a pass: fills the `input_number`
    // inputs, in the order of the graph. Their type must stay; their shape may be any that the
    // graph takes, another one for each sample. The data is read in place and must stay valid until
    // the next call of read_sample, or the end of the function that has called it. Returns 1, 0
    // after the last sample, or a negative number, with which the calling function ends, with
    // TENGINE_ECANCELED.
    //
    // Indices count from 0. tengine_calibration_run makes one pass over all samples, so that a
    // camera or a generator is enough for it; tengine_calibration_search and _compare make further
    // passes, from 0 on, and must get the same samples.
    int (*read_sample)(void* user, int64_t index, struct tengine_sample_input inputs[],
                       int input_number);
    // NULL, or called after each sample of run and compare (`total` 0: not known yet), and before
    // each node of search. Any other result than 0 ends the calling function with
    // TENGINE_ECANCELED.
    int (*show_progress)(void* user, int64_t done, int64_t total);
    // "minmax" (or NULL), "percentile", "kl", "mse": docs/quantize.md.
    const char* method;
    double percentile;  // of "percentile": 50 to 100; 0: 99.99
    // As in struct tengine_quantization.
    int per_channel;
    int unsigned_activations;
    const char* const* keep_float;
    int keep_float_number;
    int thread_number;  // of the runs, as options.num_thread of c_api.h: 0 for all cores
    // 1: as in struct tengine_quantization. No samples are needed: read_sample is NULL, method and
    // percentile, per_channel, unsigned_activations, equalize and correct_bias are 0.
    // tengine_calibration_run then only chooses the nodes.
    int dynamic;
    // 0 or 1; not with `dynamic`. Channels between two convolutions are scaled so that the weights
    // on both sides have equal ranges; the mean error of the quantised weights is added to the
    // biases of convolutions. docs/quantize.md has the conditions. Figures of inner tensors are
    // then those of the equalised graph.
    int equalize;
    int correct_bias;
};

// A calibration of a float graph, which is not changed and must outlive it: functions on a
// calibration whose graph has been destroyed fail with TENGINE_EHANDLE. Options and strings are
// copied; `size` is sizeof *options, to which later versions may add members. Runs use the devices
// of the graph's context, in fp32.
//
// Fails with TENGINE_EINVAL (NULL, a size of 0, no read_sample, an unknown method, a percentile
// or per_channel that is not allowed, a member that must not be set with `dynamic`, a graph without
// inputs), TENGINE_EHANDLE, TENGINE_ENOTSUP (see above).
TENGINE_API tengine_calibration_t tengine_calibration_create(
    graph_t graph, const struct tengine_calibration_options* options, size_t size);

// Runs the float graph on all samples, counts the values of its tensors, and chooses a range for
// each. Tensors with NaN or infinite values in a sample have no range: layers that read or compute
// them stay in float. Memory: a histogram of 32 KiB for each tensor, and a graph whose inner values
// all stay in memory.
//
// Fails with TENGINE_EINVAL (no samples, or one of another type, number of bytes or shape: the
// message has the index and the input), TENGINE_ERANGE (a sample input with more than
// MAX_SHAPE_DIM_NUM dimensions, or with more bytes than memory has), TENGINE_ECANCELED,
// TENGINE_ENOTSUP (no node can be quantised: the message has the reason), and as
// tengine_graph_quantize, prerun_graph and run_graph do.
TENGINE_API int tengine_calibration_run(tengine_calibration_t calibration);

// Kinds of scales that devices may refuse, as in struct tengine_quantization.
struct tengine_calibration_scales
{
    int per_channel;
    int unsigned_activations;
};

// tengine_graph_choose_quantization of `placed`, with the ranges of the calibration and each of the
// `number` scales: the first of those with which the devices of `placed` take most work is that of
// the calibration from then on. `placed` is the same model as the calibration's graph, or that
// graph itself. `size` is sizeof *out_choice. A search or comparison before is void.
//
// Fails as tengine_graph_choose_quantization, and with TENGINE_ESTATE (no run yet, or `dynamic`).
TENGINE_API int tengine_calibration_choose(tengine_calibration_t calibration, graph_t placed,
                                           const struct tengine_calibration_scales scales[],
                                           int number,
                                           struct tengine_quantization_choice* out_choice,
                                           size_t size);

// Returns to float as many nodes as are needed so that at most `max_drop` percent of the decisions
// differ from those in float: docs/quantize.md defines decisions, and describes the search. It runs
// the graph on all samples several times, and keeps the float graph's outputs for all samples.
//
// Fails with TENGINE_EINVAL (max_drop is not in 0 to 100), TENGINE_ERANGE (max_drop is exceeded
// with the least harmful node as the only one in int8), TENGINE_ESTATE (no run yet, `dynamic`, or
// other samples than in the run), and as tengine_calibration_run.
TENGINE_API int tengine_calibration_search(tengine_calibration_t calibration, double max_drop);

// Runs the float graph and the quantised one on all samples: signal-to-noise ratios, decisions, and
// the accuracy of both, if `labels` has the correct class of each row of scores of the first fp32
// output, counted from 0, in the order of the samples. NULL and 0: no labels.
//
// Fails with TENGINE_EINVAL (another number of labels than rows), TENGINE_ESTATE (as
// tengine_calibration_search), and as tengine_calibration_run.
TENGINE_API int tengine_calibration_compare(tengine_calibration_t calibration,
                                            const int64_t labels[], int64_t label_number);

// A new quantised graph, as tengine_graph_quantize returns it, which may outlive the calibration.
// Each call makes one. Fails with TENGINE_ESTATE (no run yet), and as tengine_graph_quantize.
TENGINE_API graph_t tengine_calibration_quantize(tengine_calibration_t calibration);

// Does nothing for NULL, else fails with TENGINE_EHANDLE, and in a callback with TENGINE_ESTATE.
// Calibrations must be destroyed before release_tengine, which destroys the graphs that they own.
TENGINE_API int tengine_calibration_destroy(tengine_calibration_t calibration);

// ---- Results ----
//
// The getters fail with TENGINE_ESTATE before the first run, TENGINE_ERANGE (index), and
// TENGINE_EINVAL (NULL, a size of 0). `size` is the sizeof of the structure, to which later
// versions may add members. Strings are valid until the next call of run, choose, search, compare
// or destroy. Figures in dB are 10 log10(sum of float^2 / sum of (int8 - float)^2) over all
// samples: infinity without any difference, NaN if there is no figure.

struct tengine_calibration_summary
{
    int64_t sample_number;
    int folded_batch_norm_number;  // BatchNormalization merged into the convolution before
    int node_number;               // of the float graph after that: the items of get_node
    int quantized_node_number;
    int layer_number;  // of the getters below
    int tensor_number;
    int output_number;  // 0 before compare
    int per_channel;    // the scales, which tengine_calibration_choose may have changed
    int unsigned_activations;
    int thread_number;  // of the comparison's runs, 0 before
    // Decisions, 0 before compare: rows of scores of the first fp32 output, or samples.
    int64_t decision_number;
    int64_t same_decision_number;
    // Labels, and how many of them each model's decisions equal.
    int64_t label_number;
    int64_t right_in_float_number;
    int64_t right_quantized_number;
};

TENGINE_API int tengine_calibration_get_summary(tengine_calibration_t calibration,
                                                struct tengine_calibration_summary* out_summary,
                                                size_t size);

// Nodes that are quantised as one.
struct tengine_calibrated_layer
{
    const char* name;    // of the first node
    const char* op;      // "Conv+Relu"
    const char* tensor;  // the first result, also among the tensors
    int node_number;
};

TENGINE_API int tengine_calibration_get_layer(tengine_calibration_t calibration, int index,
                                              struct tengine_calibrated_layer* out_layer,
                                              size_t size);

// A node of the float graph in the order of the graph.
struct tengine_calibrated_node
{
    const char* name;
    const char* op;
    int reason;        // why it computes in float: TENGINE_FLOAT_*
    const char* text;  // the reason as text, "" for TENGINE_FLOAT_NOT
    // The first node of a layer that tengine_calibration_search has ranked: its place, the most
    // harmful layer first, and the outputs' figure if this layer alone is quantised. Others: -1,
    // NaN.
    int rank;
    double alone_snr_db;
};

TENGINE_API int tengine_calibration_get_node(tengine_calibration_t calibration, int index,
                                             struct tengine_calibrated_node* out_node, size_t size);

// A tensor that has been observed or quantised, in the order of names. None with `dynamic`.
struct tengine_calibrated_tensor
{
    const char* name;
    const char* method;  // of its range; "": a constant, whose own values give it
    int is_finite;       // 0: NaN or infinite in a sample. It has neither a range nor a scale
    int is_quantized;    // 1: scale and zero_point are set
    float scale;         // real = scale x (stored - zero_point)
    int zero_point;
    double low, high;        // the range that was chosen; 0 for a constant
    double least, greatest;  // all values in the samples; 0 for a constant
    double snr_db;           // of the comparison
};

TENGINE_API int tengine_calibration_get_tensor(tengine_calibration_t calibration, int index,
                                               struct tengine_calibrated_tensor* out_tensor,
                                               size_t size);

// An output in fp32, in the order of names.
struct tengine_calibrated_output
{
    const char* name;
    double snr_db;
};

TENGINE_API int tengine_calibration_get_output(tengine_calibration_t calibration, int index,
                                               struct tengine_calibrated_output* out_output,
                                               size_t size);

TENGINE_EXTERN_C_END
