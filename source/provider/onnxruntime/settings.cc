// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace tengine::provider {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

const std::vector<OptionHelp> kOptions = {
    {"devices",
     "the devices to use, best first, with commas; else those of the session's OrtEpDevices"},
    {"precision", "fp32, fp16, bf16, int8 or uint8: what devices may compute in"},
    {"report", "file to write the placement to as JSON: each node's part, or why it has none"},
    {"threads", "threads of the CPU device; 0: one for each core"},
};

// The prefix with which the host stores the options of a provider.
std::string option_prefix()
{
    std::string prefix = std::string("ep.") + kProviderName + ".";
    std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return prefix;
}

Entries read_entries(const OrtSessionOptions* session)
{
    const OrtApi& api = *runtime().api;
    OrtKeyValuePairs* pairs = nullptr;
    check(api.GetSessionOptionsConfigEntries(session, &pairs));
    const std::unique_ptr<OrtKeyValuePairs, void (*)(OrtKeyValuePairs*)> owner(
        pairs, [](OrtKeyValuePairs* owned) { runtime().api->ReleaseKeyValuePairs(owned); });
    const char *const *keys = nullptr, *const *values = nullptr;
    size_t number = 0;
    api.GetKeyValuePairs(pairs, &keys, &values, &number);
    Entries entries;
    for (size_t i = 0; i < number; ++i)
        entries.emplace_back(text_of(keys[i]), text_of(values[i]));
    return entries;
}

std::vector<std::string> split_commas(const std::string& text)
{
    std::vector<std::string> words;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (end > begin) words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

int read_precision(const std::string& text)
{
    const std::pair<const char*, int> known[] = {
        {"fp32", TENGINE_MODE_FP32}, {"fp16", TENGINE_MODE_FP16},   {"bf16", TENGINE_MODE_BF16},
        {"int8", TENGINE_MODE_INT8}, {"uint8", TENGINE_MODE_UINT8},
    };
    for (const auto& [name, mode] : known)
        if (text == name) return mode;
    throw Failure("option precision is '" + text + "': expected fp32, fp16, bf16, int8 or uint8",
                  ORT_INVALID_ARGUMENT);
}

int read_threads(const std::string& text)
{
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end && number >= 0) return number;
    throw Failure("option threads is '" + text + "': expected a number, 0 for one a core",
                  ORT_INVALID_ARGUMENT);
}

// Takes the provider's own options; the others are options of the context.
Entries take_own_options(const Entries& entries, Settings* settings)
{
    Entries rest;
    for (const auto& [key, value] : entries) {
        if (key == "devices") {
            settings->devices = split_commas(value);
        } else if (key == "precision") {
            settings->options.precision = read_precision(value);
            settings->precision = value;
        } else if (key == "threads") {
            settings->options.num_thread = read_threads(value);
        } else if (key == "report") {
            settings->report = value;
        } else {
            rest.emplace_back(key, value);
        }
    }
    return rest;
}

// Refuses the option about fallback, which the host decides: fallback goes to the host, not to the
// library's CPU.
void check_fallback(const std::string& key)
{
    if (key == "split.fail_on_fallback" || key == "split.max_fallback_macs")
        throw Failure("option " + key +
                          ": what no device takes is ONNX Runtime's here; the session's "
                          "entry session.disable_cpu_ep_fallback=1 refuses it",
                      ORT_INVALID_ARGUMENT);
}

ContextPointer create_context(const Settings& settings, const Entries& options)
{
    const ContextPointer context(::create_context("onnxruntime", 1),
                                 [](context_t owned) { destroy_context(owned); });
    if (!context) fail_library("no context");
    if (settings.devices.empty())
        throw Failure(
            "no device is named: expected an OrtEpDevice of this provider, or the option "
            "devices",
            ORT_INVALID_ARGUMENT);
    for (const std::string& device : settings.devices)
        if (add_context_device(context.get(), device.c_str()) < 0) fail_library("devices");
    for (const auto& [key, value] : options) {
        check_fallback(key);
        if (tengine_context_set_option(context.get(), key.c_str(), value.c_str()) < 0)
            throw Failure("option " + key + ": " + get_tengine_error(), ORT_INVALID_ARGUMENT);
    }
    return context;
}

KeptParts read_kept_parts(const Entries& entries)
{
    KeptParts kept;
    for (const auto& [key, value] : entries) {
        if (key == "ep.context_enable") kept.is_wanted = value == "1";
        if (key == "ep.context_embed_mode") kept.is_embedded = value == "1";
        if (key == "ep.context_file_path") kept.model = value;
    }
    return kept;
}

}  // namespace

std::string default_device()
{
    return text_of(get_default_device());
}

bool Settings::has_device(const std::string& name) const
{
    return std::find(devices.begin(), devices.end(), name) != devices.end();
}

std::string Settings::device_list() const
{
    std::string text;
    for (const std::string& device : devices)
        text += (text.empty() ? "" : ", ") + device;
    return text;
}

const std::vector<OptionHelp>& list_options()
{
    return kOptions;
}

Settings read_settings(const OrtSessionOptions* session, std::vector<std::string> devices)
{
    Settings settings;
    settings.devices = std::move(devices);
    const Entries entries = read_entries(session);
    const std::string prefix = option_prefix();
    Entries own;
    for (const auto& [key, value] : entries)
        if (key.compare(0, prefix.size(), prefix) == 0)
            own.emplace_back(key.substr(prefix.size()), value);
    const Entries options = take_own_options(own, &settings);
    settings.kept_parts = read_kept_parts(entries);
    settings.context = create_context(settings, options);
    if (settings.kept_parts.is_wanted &&
        tengine_context_set_option(settings.context.get(), "model.keep_parts", "1") < 0)
        fail_library("option model.keep_parts");
    return settings;
}

}  // namespace tengine::provider
