// SPDX-License-Identifier: Apache-2.0
// The table of options and the strings they are set to. The lists of values: context.c.
#include "graph/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minimal.h"
#include "base/text.h"
#include "tengine/device.h"

// A minimal build lists no options for people.
#define HELP(text) (IS_MINIMAL ? "" : text)

// docs/options.md describes each.
static const ir_option_t option_table[] = {
    {.key = "split.prune",
     .initial = "1",
     .choices = "0 1",
     .help = HELP(
         "1: a part that costs more to move to its device than it saves there goes to the next "
         "device; 0: devices keep all nodes they take")},
    {.key = "split.min_nodes",
     .initial = "0",
     .lowest = 0,
     .highest = 1e9,
     .whole = true,
     .help =
         HELP("fewest nodes that a part of a device other than the CPU has; smaller ones go to the "
              "next device")},
    {.key = "split.min_macs",
     .initial = "0",
     .lowest = 0,
     .highest = 1e14,
     .whole = true,
     .help = HELP("fewest multiply-accumulates of such a part")},
    {.key = "split.report",
     .initial = "line",
     .choices = "none line full",
     .help =
         HELP("what prerun_graph logs about the placement: nothing, one line, or a line for each "
              "node with the reasons")},
    {.key = "split.bandwidth",
     .initial = "0",
     .lowest = 0,
     .highest = 1e6,
     .help =
         HELP("GB/s between host and devices, for predictions; 0: as measured on this machine")},
    {.key = "split.fail_on_fallback",
     .initial = "0",
     .choices = "0 1",
     .help =
         HELP("1: prerun_graph fails when a node falls back to the CPU, and a run fails when its "
              "device does")},
    {.key = "split.max_fallback_macs",
     .initial = "100",
     .lowest = 0,
     .highest = 100,
     .help =
         HELP("percentage of the multiply-accumulates that may fall back to the CPU; more fails as "
              "with split.fail_on_fallback")},
    {.key = "precision.float",
     .initial = "refuse",
     .choices = "refuse allow",
     .help =
         HELP("what an int8 or uint8 run does with a float model without scales: refuse it, or run "
              "it in float with a warning")},
    {.key = "precision.keep_float",
     .initial = "",
     .choices = "",
     .help =
         HELP("nodes that stay in the model's types in every precision: names, patterns with * and "
              "?, or op:<operator>, separated by commas")},
    {.key = "precision.rounding",
     .initial = "model",
     .choices = "model nearest litert litert-micro",
     .help =
         HELP("rounding of integer products: that of the model's format, once and to even, that of "
              "LiteRT's default kernels, or that of tflite-micro")},
    {.key = "precision.table",
     .initial = "",
     .choices = "",
     .help = HELP("calibration table of `tengine quantize --table`, for runs in int8 or uint8")},
    {.key = "scheduler",
     .initial = "",
     .choices = "",
     .help = HELP("scheduler that runs the parts, e.g. sync or pipeline; empty: that of the first "
                  "device that has one, else sync")},
    {.key = "pipeline.frames",
     .initial = "2",
     .lowest = 1,
     .highest = 64,
     .whole = true,
     .help = HELP("runs that can be in flight at once with scheduler=pipeline")},
    {.key = "memory.limit_mb",
     .initial = "0",
     .lowest = 0,
     .highest = 1 << 24,
     .help =
         HELP("MiB that a prepared graph may hold, apart from constants in mapped files and memory "
              "of the program; more fails prerun_graph or the run; 0: no limit")},
    {.key = "memory.fold_mb",
     .initial = "0",
     .lowest = 0,
     .highest = 1 << 24,
     .help =
         HELP("MiB of constants that prerun_graph may compute from those of the model; the rest is "
              "computed in every run; 0: 64 plus 16 times the model's constants")},
    {.key = "cache.dir",
     .initial = "",
     .choices = "",
     .help = HELP("folder where prerun_graph keeps what devices have compiled, and finds it again; "
                  "empty: that of the environment variable TENGINE_CACHE_DIR, if it is set")},
    {.key = "cache.limit_mb",
     .initial = "1024",
     .lowest = 0,
     .highest = 1 << 24,
     .help = HELP("MiB that this folder may hold; what was not used for longest is removed; 0: no "
                  "limit")},
    {.key = "prerun.watchdog_ms",
     .initial = "0",
     .lowest = 0,
     .highest = 86400000,
     .whole = true,
     .help = HELP("milliseconds after which the CPU gets a part that a device has not compiled; 0: "
                  "never")},
    {.key = "run.watchdog_ms",
     .initial = "0",
     .lowest = 0,
     .highest = 86400000,
     .whole = true,
     .help =
         HELP("milliseconds after which the CPU takes over from a device that has not finished its "
              "part; 0: never")},
    {.key = "run.deadline_ms",
     .initial = "0",
     .lowest = 0,
     .highest = 86400000,
     .whole = true,
     .help = HELP("milliseconds after which a run that has not ended is cancelled; 0: never")},
    {.key = "run.shape_cache",
     .initial = "3",
     .lowest = 0,
     .highest = 1024,
     .whole = true,
     .help = HELP("input shapes that a graph stays prepared for beside the present ones, so that "
                  "prerun_graph for them compiles nothing; 0: none")},
#ifndef TENGINE_MINIMAL
    {.key = "run.buckets",
     .initial = "1",
     .choices = "0 1",
     .help =
         HELP("1: inputs that a bucket of the model holds are padded to its shape, where padding "
              "does not change results; 0: the graph is prepared for their own shapes")},
#endif
    {.key = "run.profile",
     .initial = "0",
     .choices = "0 1",
     .help = HELP("1: devices measure the time of each node")},
#ifndef TENGINE_MINIMAL
    {.key = "run.trace",
     .initial = "0",
     .lowest = 0,
     .highest = 1e7,
     .whole = true,
     .help = HELP("events of the preparation and the runs that each thread and each part keeps for "
                  "reports; 0: none")},
#endif
    {.key = "model.map",
     .initial = "auto",
     .choices = "auto 0 1",
     .help =
         HELP("auto: create_graph copies the first 16 MiB of a model's files and maps larger ones; "
              "1: it maps all; 0: it reads all, so that later changes to them cannot harm the "
              "graph")},
    {.key = "model.keep_parts",
     .initial = "0",
     .choices = "0 1",
     .help = HELP("1: what devices compile is kept with a model that was loaded from a tmfile, and "
                  "save_graph writes it into the new one, which need not be compiled again")},
#ifndef TENGINE_MINIMAL
    {.key = "model.keep_variant",
     .initial = "",
     .choices = "",
     .help = HELP("variant as which model.keep_parts keeps parts: name=NAME, and chip=CHIP and "
                  "driver=VERSION of its first device if wanted, separated by commas")},
    {.key = "model.variant",
     .initial = "",
     .choices = "",
     .help =
         HELP("variant of a compiled file to use, by its name; empty: the best that fits; none: "
              "no variant")},
#endif
    {.key = "model.keep_host_parts",
     .initial = "1",
     .choices = "0 1",
     .help =
         HELP("0: model.keep_parts leaves out what the CPU compiles, which is for processors like "
              "this machine's")},
#ifndef TENGINE_MINIMAL  // which writes no models
    {.key = "model.fold_activations",
     .initial = "1",
     .choices = "0 1",
     .help =
         HELP("0: save_graph leaves ReLU and ReLU6 of floats in a tmfile as nodes with names of "
              "their own, not as fields of the convolutions before them")},
    {.key = "model.external_mb",
     .initial = "1984",
     .lowest = 0,
     .highest = 1984,
     .help =
         HELP("MiB of weights above which an ONNX file is written with external data, in a file of "
              "its name and .data")},
    {.key = "model.opset",
     .initial = "0",
     .choices = "0 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28",
     .help =
         HELP("opset of the ONNX files that save_graph writes; 0: 21, or the first one after it "
              "that has all operators of the graph")},
    {.key = "model.entry",
     .initial = "",
     .choices = "",
     .help = HELP("entry of a model with several that create_graph loads, such as a signature of a "
                  ".tflite, by its name; empty: the first one")},
    {.key = "model.states",
     .initial = "1",
     .choices = "0 1",
     .help =
         "0: the states of a model that create_graph loads are inputs and outputs of the graph; "
         "1: the graph keeps them from run to run"},
    {.key = "model.integer_io",
     .initial = "0",
     .choices = "0 1",
     .help =
         HELP("1: inputs and outputs of a quantised ONNX model are of integers in the tmfile that "
              "save_graph writes, as programs for Tengine Lite expect")},
#endif
#ifndef TENGINE_MINIMAL  // which reads no properties of a model
    {.key = "model.hints",
     .initial = "1",
     .choices = "0 1",
     .help =
         HELP("0: affinities and options that the model sets for its own placement are ignored")},
#endif
    {.key = "model.refuse_hard_links",
     .initial = "0",
     .choices = "0 1",
     .help =
         HELP("1: create_graph refuses external data of an ONNX model in a file with more than one "
              "name")},
};

int get_ir_option_count(void)
{
    return (int)(sizeof option_table / sizeof option_table[0]);
}

const ir_option_t* get_ir_option(int index)
{
    return index >= 0 && index < get_ir_option_count() ? &option_table[index] : NULL;
}

const ir_option_t* find_ir_option(const char* key)
{
    for (int i = 0; key && i < get_ir_option_count(); ++i)
        if (strcmp(option_table[i].key, key) == 0) return &option_table[i];
    return NULL;
}

int fail_ir_option(const ir_context_t* context, const char* key)
{
    text_t known = {0};
    for (int i = 0; i < get_ir_option_count(); ++i)
        append_text(&known, "%s%s", i > 0 ? ", " : "", option_table[i].key);
    for (int i = 0; context && i < get_vector_num(context->devices); ++i) {
        const ir_context_device_t* entry = get_vector_data(context->devices, i);
        append_text(&known, ", %s.<key>", entry->device->name);
    }
    const int status = tengine_error_set(TENGINE_ENOENT, "unknown option '%.100s': expected %s",
                                         key, known.data ? known.data : "others");
    free_text(&known);
    return status;
}

static bool is_choice(const char* choices, const char* value)
{
    const size_t length = strlen(value);
    if (length == 0 || strchr(value, ' ')) return false;
    for (const char* word = choices; word; word = strchr(word, ' ')) {
        word += *word == ' ';
        if (strncmp(word, value, length) == 0 && (word[length] == ' ' || word[length] == '\0'))
            return true;
    }
    return false;
}

static const char* read_digits(const char* text, double* number)
{
    for (; *text >= '0' && *text <= '9'; ++text)
        *number = *number * 10 + (*text - '0');
    return text;
}

// Exact to 10^22. pow() would add 8 kB to a small program.
static double power_of_ten(double exponent)
{
    double power = 1;
    for (double i = 0; i < exponent && isfinite(power); ++i)
        power *= 10;
    return power;
}

// Reads "-12", "0.5", "2.5e-3". strtod() would depend on the program's locale, and accept "nan",
// blanks and "0x1".
static bool read_number(const char* text, double* out_number)
{
    const bool negative = *text == '-';
    double number = 0;
    double exponent = 0;
    const char* begin = text + (negative || *text == '+');
    const char* end = read_digits(begin, &number);
    bool has_digits = end > begin;
    if (*end == '.') {
        begin = end + 1;
        end = read_digits(begin, &number);
        exponent = (double)(begin - end);
        has_digits = has_digits || end > begin;
    }
    if ((*end == 'e' || *end == 'E') && end[1] != '\0' && strchr("+-0123456789", end[1])) {
        char* rest;
        exponent += (double)strtol(end + 1, &rest, 10);
        end = rest;
    }
    number = exponent < 0 ? number / power_of_ten(-exponent) : number * power_of_ten(exponent);
    *out_number = negative ? -number : number;
    return has_digits && *end == '\0' && isfinite(number);
}

static int check_number(const ir_option_t* option, const char* value)
{
    double number;
    if (!read_number(value, &number) || (option->whole && floor(number) != number))
        return tengine_error_set(
            TENGINE_EINVAL,
            "option %s: invalid value '%.100s': expected a %snumber from %.15g to %.15g",
            option->key, value, option->whole ? "whole " : "", option->lowest, option->highest);
    if (number < option->lowest || number > option->highest)
        return tengine_error_set(TENGINE_ERANGE,
                                 "option %s: %.100s is out of range: expected %.15g to %.15g",
                                 option->key, value, option->lowest, option->highest);
    return TENGINE_OK;
}

static int check_value(const ir_option_t* option, const char* value)
{
    if (!value)
        return tengine_error_set(TENGINE_EINVAL, "option %s: the value is NULL", option->key);
    if (!option->choices) return check_number(option, value);
    if (option->choices[0] == '\0' || is_choice(option->choices, value)) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "option %s: invalid value '%.100s': expected one of %s", option->key,
                             value, option->choices);
}

int check_ir_option(const char* key, const char* value)
{
    const ir_option_t* option = find_ir_option(key);
    return option ? check_value(option, value) : fail_ir_option(NULL, key);
}

int set_ir_context_option(ir_context_t* context, const char* key, const char* value)
{
    if (!key) return tengine_error_set(TENGINE_EINVAL, "the option's key is NULL");
    const ir_option_t* option = find_ir_option(key);
    if (!option) return fail_ir_option(context, key);
    TENGINE_RETURN_IF_ERROR(check_value(option, value));
    ++context->revision;
    return set_ir_key_value(&context->key_values, option->key, value);
}

const char* get_ir_context_option(const ir_context_t* context, const char* key)
{
    const ir_option_t* option = find_ir_option(key);
    if (!option) return NULL;
    const char* value = context ? find_ir_key_value(context->key_values, key) : NULL;
    return value ? value : option->initial;
}

double parse_ir_number(const char* value)
{
    double number;
    return value && read_number(value, &number) ? number : 0;
}

double get_ir_context_number(const ir_context_t* context, const char* key)
{
    return parse_ir_number(get_ir_context_option(context, key));
}

ir_context_device_t* find_ir_option_device(const ir_context_t* context, const char* key,
                                           const char** out_key)
{
    // A device's name may contain dots.
    for (const char* dot = strchr(key, '.'); dot; dot = strchr(dot + 1, '.')) {
        const size_t length = (size_t)(dot - key);
        for (int i = 0; i < get_vector_num(context->devices); ++i) {
            ir_context_device_t* entry = get_vector_data(context->devices, i);
            const char* name = entry->device->name;
            if (strlen(name) != length || memcmp(name, key, length) != 0) continue;
            *out_key = dot + 1;
            return entry;
        }
    }
    return NULL;
}

int set_ir_context_device_option(ir_context_t* context, const struct device* device,
                                 const char* key, const char* value)
{
    ir_context_device_t* entry = find_ir_context_device(context, device);
    if (!entry)
        return tengine_error_set(TENGINE_ENOENT, "context '%s' does not have device '%s'",
                                 context->name, device->name);
    ++context->revision;
    return set_ir_key_value(&entry->key_values, key, value);
}

const char* get_ir_device_option(const struct graph* graph, const struct device* device,
                                 const char* key)
{
    const ir_context_t* context = graph->attribute->context;
    const ir_context_device_t* entry = context ? find_ir_context_device(context, device) : NULL;
    return entry ? find_ir_key_value(entry->key_values, key) : NULL;
}
