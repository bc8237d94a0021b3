// SPDX-License-Identifier: Apache-2.0
// The declarations of the options that commands share. Their effects are in model.cc.
#include <limits>
#include <map>
#include <sstream>

#include "command_line.h"
#include "model.h"

namespace tengine::tools {
namespace {

const std::map<std::string, int> kPrecisions = {
    {"fp32", TENGINE_MODE_FP32},   {"fp16", TENGINE_MODE_FP16},
    {"uint8", TENGINE_MODE_UINT8}, {"int8", TENGINE_MODE_INT8},
    {"bf16", TENGINE_MODE_BF16},   {"hybrid_int8", TENGINE_MODE_HYBRID_INT8},
};

std::string precision_names()
{
    std::string names;
    for (const auto& [name, mode] : kPrecisions)
        names += (names.empty() ? "" : ", ") + name;
    return names;
}

const std::map<std::string, int> kClusters = {
    {"all", TENGINE_CLUSTER_ALL},
    {"big", TENGINE_CLUSTER_BIG},
    {"medium", TENGINE_CLUSTER_MEDIUM},
    {"little", TENGINE_CLUSTER_LITTLE},
};

// "2" or "2-5", as a mask; 0: neither.
size_t parse_core_range(const std::string& text)
{
    std::istringstream stream(text);
    int first = -1;
    char dash = '-';
    if (!(stream >> first)) return 0;
    int last = first;
    if (!stream.eof() && !(stream >> dash >> last)) return 0;
    const int most = std::numeric_limits<size_t>::digits - 1;
    if (dash != '-' || !stream.eof() || first < 0 || first > last || last > most) return 0;
    size_t mask = 0;
    for (int core = first; core <= last; ++core)
        mask |= size_t{1} << core;
    return mask;
}

size_t parse_cores(const std::string& text)
{
    size_t mask = 0;
    std::istringstream list(text);
    for (std::string range; std::getline(list, range, ',');) {
        const size_t cores = parse_core_range(range);
        if (cores == 0)
            throw Misuse("invalid --cores '" + range +
                         "': expected a core or a range of cores, e.g. 0 or 2-3");
        mask |= cores;
    }
    if ((mask & get_cluster_affinity_mask(TENGINE_CLUSTER_ALL)) != mask)
        throw Misuse("--cores: '" + text + "' names cores that this process may not use");
    return mask;
}

void add_context_options(Command* command, ModelOptions* options)
{
    command
        ->add_option("--option", &options->options,
                     "Option, e.g. split.prune=0, or option of a device, NAME.KEY=VALUE; may be "
                     "repeated. `tengine devices` lists the keys")
        .value_name("KEY=VALUE")
        .repeatable()
        .checked_by([](const std::string& text) { return judge_pair(text, "KEY=VALUE"); });
    add_state_option(command, options);
    add_bucket_option(command, options);
    add_affinity_option(command, options);
}

}  // namespace

void add_affinity_option(Command* command, ModelOptions* options)
{
    command
        ->add_option(
            "--affinity", &options->affinities,
            "Devices that nodes may run on: conv*=TPU,CPU allows only these, op:Softmax=!TPU "
            "allows all but this one, head*=TPU#2 forms group 2 there; may be repeated, the last "
            "match for a node counts")
        .value_name("NODES=DEVICES")
        .repeatable()
        .checked_by([](const std::string& text) { return judge_pair(text, "NODES=DEVICES"); });
}

void add_hint_option(Command* command, ModelOptions* options)
{
    command
        ->add_option("--hint", &options->hints,
                     "Option that the written model sets for its placement, where the program that "
                     "runs it does not: split.prune, split.min_nodes, split.min_macs or "
                     "precision.keep_float; may be repeated")
        .value_name("KEY=VALUE")
        .repeatable()
        .checked_by([](const std::string& text) { return judge_pair(text, "KEY=VALUE"); });
}

std::string judge_pair(const std::string& text, const char* form)
{
    const size_t equals = text.find('=');
    const bool is_pair = equals != std::string::npos && equals > 0;
    return is_pair ? "" : "invalid value '" + text + "': expected " + form;
}

void add_state_option(Command* command, ModelOptions* options)
{
    command
        ->add_option("--keep-state", &options->states,
                     "An input that each run reads as the run before it has written this output; "
                     "neither is an input or output then; may be repeated")
        .value_name("INPUT=OUTPUT")
        .repeatable()
        .checked_by([](const std::string& text) { return judge_pair(text, "INPUT=OUTPUT"); });
}

void add_entry_option(Command* command, ModelOptions* options)
{
    command
        ->add_option("--entry", &options->entry,
                     "Entry of a model with several, such as decode. Default: the first one")
        .value_name("NAME");
}

void add_threads_option(Command* command, int* threads)
{
    command->add_option("--threads", threads, "Thread count; 0: one for each core")
        .shows_default()
        .in_range(0, kMostThreads)
        .value_name("N");
}

void add_core_options(Command* command, ModelOptions* options)
{
    command->add_option("--cluster", &options->cluster, "Cluster of cores to use")
        .one_of(kClusters)
        .value_name("C");
    command
        ->add_option(
            "--cores", [options](const std::string& text) { options->cores = parse_cores(text); },
            "Use only these cores of the cluster, e.g. 0,2-3")
        .value_name("LIST");
}

void add_bucket_option(Command* command, ModelOptions* options)
{
    command
        ->add_option("--bucket", &options->buckets,
                     "Shapes of inputs in which smaller ones run, too, where padding does not "
                     "change results, e.g. image=4x3x224x224; may be repeated. NAME= may be "
                     "omitted if the model has one input")
        .value_name("[NAME=]SHAPE[,NAME=SHAPE]...")
        .repeatable();
}

void add_shape_option(Command* command, ModelOptions* options)
{
    command
        ->add_option("--shape", &options->shapes,
                     "Shape of an input, e.g. image=1x3x224x224; may be repeated. NAME= may be "
                     "omitted if the model has one input")
        .value_name("[NAME=]SHAPE")
        .repeatable();
}

void add_placement_options(Command* command, ModelOptions* options)
{
    command
        ->add_option("--device", &options->devices,
                     "Devices to use, best first, separated by commas")
        .separated_by_commas()
        .value_name("LIST");
    add_context_options(command, options);
    command
        ->add_option(
            "--precision",
            [options](const std::string& text) { options->precision = parse_precision(text); },
            "Precision to compute in, where a device supports it: " + precision_names() +
                ". int8 and uint8 need a quantised model or --option precision.table=FILE")
        .value_name("P");
    add_shape_option(command, options);
}

void add_integer_io_option(Command* command, bool* has_integer_io)
{
    command->add_flag("--integer-io", has_integer_io,
                      "Write the inputs and outputs of a quantised ONNX model as int8 or uint8, as "
                      "programs for Tengine Lite expect, instead of fp32");
}

std::string precision_name(int mode)
{
    for (const auto& [name, number] : kPrecisions)
        if (number == mode) return name;
    return "";
}

int parse_precision(const std::string& text)
{
    const auto precision = kPrecisions.find(text);
    if (precision == kPrecisions.end())
        throw Misuse("invalid --precision '" + text + "': expected one of " + precision_names());
    return precision->second;
}

using ImageMember = float (tengine_image_settings::*)[3];

// An option that sets a member for all channels.
static void add_channel_option(Command* command, const std::string& name, ImageMember member,
                               const std::string& help, ImageValues* values)
{
    const auto note = [=](const std::string& text) {
        const std::vector<float> factors = parse_factors(name, text);
        if (name == "--scale" && std::count(factors.begin(), factors.end(), 0.0f) > 0)
            throw Misuse("invalid --scale '" + text + "': expected numbers other than 0");
        values->changes.emplace_back([=](tengine_image_settings* settings) {
            for (size_t c = 0; c < 3; ++c)
                (settings->*member)[c] = factors[factors.size() == 1 ? 0 : c];
        });
    };
    command->add_option(name, note, help).value_name("R,G,B");
}

void add_picture_options(Command* command, ImageValues* values)
{
    add_channel_option(
        command, "--mean", &tengine_image_settings::mean,
        "Value subtracted from each pixel (0 to 255) of a picture: a number or R,G,B", values);
    add_channel_option(
        command, "--scale", &tengine_image_settings::scale,
        "Factor that each pixel of a picture is then multiplied by: a number or fraction, or "
        "R,G,B. Default: 1/255, for inputs of bytes 1",
        values);
    const auto note_fit = [values](const std::string& text) {
        const int fit = parse_fit(text);
        values->changes.emplace_back([fit](tengine_image_settings* made) { made->fit = fit; });
    };
    command
        ->add_option(
            "--fit", note_fit,
            "How a picture of other proportions is resized, with the bilinear filter of Pillow: "
            "stretch (default), crop its middle, or letterbox with bars of grey 114")
        .value_name("HOW");
    command->add_flag("--bgr", &values->is_bgr,
                      "The network takes blue, green, red; --mean and --scale stay R,G,B");
    command
        ->add_option("--picture", &values->settings,
                     "Another setting of pictures, such as shorter_side=256; may be repeated. The "
                     "keys are those of --preprocess")
        .value_name("KEY=VALUE")
        .repeatable();
    command
        ->add_option("--preprocess", &values->file,
                     "Settings of pictures as JSON. Default: the file beside the model, "
                     "net.preprocess.json for net.onnx, if there is one. Other options come first")
        .value_name("FILE");
}

void add_input_options(Command* command, ModelOptions* options)
{
    command
        ->add_option("--input", &options->inputs,
                     "Input file: .npy, .npz, ONNX tensor .pb, raw elements .bin, or a picture "
                     "(PNG, JPEG, BMP, PGM, PPM); - for standard input: .npy, .npz, a picture, or "
                     "raw elements; may be repeated. NAME= may be omitted if the model has one "
                     "input, and for an .npz with an array for each input. A quantised input also "
                     "takes real numbers. Default: random numbers")
        .value_name("[NAME=]FILE")
        .repeatable();
    add_picture_options(command, &options->image_values);
    command->add_option("--seed", &options->seed, "Seed for random numbers").value_name("N");
}

}  // namespace tengine::tools
