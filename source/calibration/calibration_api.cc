// SPDX-License-Identifier: Apache-2.0
// C functions: check their arguments and call calibration.h.
#include <algorithm>
#include <cstring>

#include "base/guard.hpp"
#include "calibration/failure.h"
#include "calibration/graph_reader.h"
#include "calibration/handle.h"
#include "tengine/inspect.h"
#include "tengine/log.h"

namespace tengine::calibration {
namespace {

// The status of work(), which reports failures itself; those of memory are added here.
template <class Work>
int enter(const char* function, const Work& work)
{
    bool has_returned = false;
    const int status = guarded(
        [&] {
            int result;
            try {
                result = work();
            } catch (const CallFailed& failed) {
                result = failed.code;
            }
            has_returned = true;
            return result;
        },
        "%s: out of memory", function);
    if (!has_returned) TLOG_ERR("%s", tengine_error_message());
    return status;
}

// The result of a C function.
int result_of(int status)
{
    return status < 0 ? -1 : 0;
}

int fail_option(const char* option, double value, const char* expected)
{
    return fail(TENGINE_EINVAL, "tengine_calibration_create: %s is %g: expected %s", option, value,
                expected);
}

// ---- creation ----

int read_options(const tengine_calibration_options* given, size_t size,
                 tengine_calibration_options* out_options)
{
    const char* function = "tengine_calibration_create";
    if (!given || size == 0)
        return fail(TENGINE_EINVAL, "%s: %s", function, given ? "size is 0" : "options is NULL");
    *out_options = {};
    std::memcpy(out_options, given, std::min(size, sizeof *out_options));
    const auto* bytes = reinterpret_cast<const unsigned char*>(given);
    if (size > sizeof *out_options &&
        std::any_of(bytes + sizeof *out_options, bytes + size, [](unsigned char b) { return b; }))
        return fail(TENGINE_EINVAL, "%s: options has members that this version does not know",
                    function);
    return TENGINE_OK;
}

int check_dynamic(const tengine_calibration_options& options)
{
    const char* member = options.read_sample            ? "read_sample"
                         : options.method               ? "method"
                         : options.percentile != 0      ? "percentile"
                         : options.per_channel          ? "per_channel"
                         : options.unsigned_activations ? "unsigned_activations"
                         : options.equalize             ? "equalize"
                         : options.correct_bias         ? "correct_bias"
                                                        : nullptr;
    if (!member) return TENGINE_OK;
    return fail(
        TENGINE_EINVAL,
        "tengine_calibration_create: dynamic is set, and so is %s: ranges are found in each "
        "run",
        member);
}

int check_options(const tengine_calibration_options& options)
{
    const char* function = "tengine_calibration_create";
    if (options.dynamic) TENGINE_RETURN_IF_ERROR(check_dynamic(options));
    if (!options.dynamic && !options.read_sample)
        return fail(TENGINE_EINVAL, "%s: read_sample is NULL", function);
    if (options.percentile != 0 && !(options.percentile >= 50 && options.percentile <= 100))
        return fail_option("percentile", options.percentile, "50 to 100, or 0 for the default");
    if (options.per_channel < TENGINE_PER_TENSOR || options.per_channel > 1)
        return fail_option("per_channel", options.per_channel, "0, 1 or TENGINE_PER_TENSOR");
    if (options.keep_float_number < 0)
        return fail_option("keep_float_number", options.keep_float_number, "0 or more");
    for (int i = 0; i < options.keep_float_number; ++i)
        if (!options.keep_float || !options.keep_float[i] || !*options.keep_float[i])
            return fail(TENGINE_EINVAL, "%s: a pattern of keep_float is NULL or empty", function);
    return TENGINE_OK;
}

int create(graph_t graph, const tengine_calibration_options* given, size_t size,
           tengine_calibration_t* out_calibration)
{
    tengine_calibration_options options;
    RangeMethod method = RangeMethod::kMinMax;
    if (tengine_graph_get_input_number(graph) < 0) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(read_options(given, size, &options));
    TENGINE_RETURN_IF_ERROR(check_options(options));
    if (options.method) TENGINE_RETURN_IF_ERROR(parse_range_method(options.method, &method));
    std::unique_ptr<Entry> entry(new Entry(graph, options, method));
    TENGINE_RETURN_IF_ERROR(entry->calibration.check());
    *out_calibration = add_entry(std::move(entry));
    return TENGINE_OK;
}

// ---- steps ----

int check_run(const Entry& entry, bool needs_samples, const char* function)
{
    if (!entry.calibration.has_run())
        return fail(TENGINE_ESTATE, "%s: tengine_calibration_run has not succeeded yet", function);
    if (needs_samples && entry.calibration.request().dynamic)
        return fail(TENGINE_ESTATE, "%s: the calibration is dynamic, without samples", function);
    return TENGINE_OK;
}

// A step that changes the findings, and may call the program.
template <class Work>
int step(tengine_calibration_t handle, bool needs_run, const char* function, const Work& work)
{
    Entry* entry = find_entry(handle, function);
    if (!entry) return -1;
    const int status = enter(function, [&] {
        if (needs_run) TENGINE_RETURN_IF_ERROR(check_run(*entry, true, function));
        entry->is_busy = true;
        TENGINE_RETURN_IF_ERROR(work(entry->calibration));
        entry->has_report = false;
        return static_cast<int>(TENGINE_OK);
    });
    entry->is_busy = false;
    return result_of(status);
}

int read_scales(const tengine_calibration_scales scales[], int number, Vector<Scales>* out_scales)
{
    const char* function = "tengine_calibration_choose";
    if (!scales || number < 1)
        return fail(TENGINE_EINVAL, "%s: %s", function,
                    scales ? "number is below 1" : "scales is NULL");
    for (int i = 0; i < number; ++i)
        out_scales->push_back({scales[i].per_channel, scales[i].unsigned_activations});
    return TENGINE_OK;
}

int check_struct(const void* out, size_t size, const char* function)
{
    if (out && size > 0) return TENGINE_OK;
    return fail(TENGINE_EINVAL, "%s: %s", function, out ? "size is 0" : "the result is NULL");
}

template <class Struct>
void give_struct(const Struct& made, void* out, size_t size)
{
    std::memset(out, 0, size);
    std::memcpy(out, &made, std::min(size, sizeof made));
}

// ---- results ----

// Gives the report to work().
template <class Work>
int read_report(tengine_calibration_t handle, const void* out, size_t size, const char* function,
                const Work& work)
{
    Entry* entry = find_entry(handle, function);
    if (!entry) return -1;
    return result_of(enter(function, [&] {
        TENGINE_RETURN_IF_ERROR(check_struct(out, size, function));
        TENGINE_RETURN_IF_ERROR(check_run(*entry, false, function));
        if (!entry->has_report) entry->report = make_report(entry->calibration);
        entry->has_report = true;
        return work(entry->report);
    }));
}

template <class Struct>
int get_item(tengine_calibration_t handle, int index, Vector<Struct> Report::*items, Struct* out,
             size_t size, const char* function)
{
    return read_report(handle, out, size, function, [&](const Report& report) {
        const Vector<Struct>& list = report.*items;
        if (index < 0 || static_cast<size_t>(index) >= list.size())
            return fail(TENGINE_ERANGE, "%s: index is %d: there are %zu", function, index,
                        list.size());
        give_struct(list[static_cast<size_t>(index)], out, size);
        return static_cast<int>(TENGINE_OK);
    });
}

}  // namespace
}  // namespace tengine::calibration

using namespace tengine::calibration;

tengine_calibration_t tengine_calibration_create(graph_t graph,
                                                 const tengine_calibration_options* options,
                                                 size_t size)
{
    tengine_calibration_t made = nullptr;
    const int status = enter(__func__, [&] { return create(graph, options, size, &made); });
    return status < 0 ? nullptr : made;
}

int tengine_calibration_run(tengine_calibration_t calibration)
{
    return step(calibration, false, __func__, [](Calibration& target) { return target.run(); });
}

int tengine_calibration_choose(tengine_calibration_t calibration, graph_t placed,
                               const tengine_calibration_scales scales[], int number,
                               tengine_quantization_choice* out_choice, size_t size)
{
    const char* function = __func__;
    return step(calibration, true, function, [&](Calibration& target) {
        tengine::Vector<Scales> candidates;
        tengine_quantization_choice choice = {};
        TENGINE_RETURN_IF_ERROR(check_struct(out_choice, size, function));
        TENGINE_RETURN_IF_ERROR(read_scales(scales, number, &candidates));
        TENGINE_RETURN_IF_ERROR(target.choose(placed, candidates, &choice));
        give_struct(choice, out_choice, size);
        return static_cast<int>(TENGINE_OK);
    });
}

int tengine_calibration_search(tengine_calibration_t calibration, double max_drop)
{
    const char* function = __func__;
    return step(calibration, true, function, [&](Calibration& target) {
        if (max_drop >= 0 && max_drop <= 100) return target.search(max_drop);
        return fail(TENGINE_EINVAL, "%s: max_drop is %g: expected 0 to 100", function, max_drop);
    });
}

int tengine_calibration_compare(tengine_calibration_t calibration, const int64_t labels[],
                                int64_t label_number)
{
    const char* function = __func__;
    return step(calibration, true, function, [&](Calibration& target) {
        if (label_number >= 0 && (labels != nullptr) == (label_number > 0))
            return target.compare({labels, label_number});
        return fail(TENGINE_EINVAL, "%s: labels is %s, label_number is %lld", function,
                    labels ? "set" : "NULL", static_cast<long long>(label_number));
    });
}

graph_t tengine_calibration_quantize(tengine_calibration_t calibration)
{
    const char* function = __func__;
    const Entry* entry = find_entry(calibration, function);
    QuantizedGraph quantized;
    if (!entry) return nullptr;
    const int status = enter(function, [&] {
        TENGINE_RETURN_IF_ERROR(check_run(*entry, false, function));
        return entry->calibration.quantize(&quantized);
    });
    return status < 0 ? nullptr : quantized.graph.release();
}

int tengine_calibration_destroy(tengine_calibration_t calibration)
{
    if (!calibration) return 0;
    return remove_entry(calibration, __func__) ? 0 : -1;
}

int tengine_calibration_get_summary(tengine_calibration_t calibration,
                                    tengine_calibration_summary* out_summary, size_t size)
{
    return read_report(calibration, out_summary, size, __func__, [&](const Report& report) {
        give_struct(report.summary, out_summary, size);
        return static_cast<int>(TENGINE_OK);
    });
}

int tengine_calibration_get_layer(tengine_calibration_t calibration, int index,
                                  tengine_calibrated_layer* out_layer, size_t size)
{
    return get_item(calibration, index, &Report::layers, out_layer, size, __func__);
}

int tengine_calibration_get_node(tengine_calibration_t calibration, int index,
                                 tengine_calibrated_node* out_node, size_t size)
{
    return get_item(calibration, index, &Report::nodes, out_node, size, __func__);
}

int tengine_calibration_get_tensor(tengine_calibration_t calibration, int index,
                                   tengine_calibrated_tensor* out_tensor, size_t size)
{
    return get_item(calibration, index, &Report::tensors, out_tensor, size, __func__);
}

int tengine_calibration_get_output(tengine_calibration_t calibration, int index,
                                   tengine_calibrated_output* out_output, size_t size)
{
    return get_item(calibration, index, &Report::outputs, out_output, size, __func__);
}
