// SPDX-License-Identifier: Apache-2.0
#include "optimizer/placement/variant.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tuple>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "graph/body.h"
#include "graph/hint.h"
#include "graph/option.h"
#include "graph/variant.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"
#include "optimizer/placement/candidates.h"
#include "tengine/device.h"
#include "tengine/log.h"

namespace tengine {
namespace {

struct DestroyContext
{
    void operator()(ir_context_t* context) const { destroy_ir_context(context); }
};
using OwnContext = std::unique_ptr<ir_context_t, DestroyContext>;

Vector<String> split(const char* text, char separator)
{
    Vector<String> words;
    for (const char* end; (end = std::strchr(text, separator)) != nullptr; text = end + 1)
        words.push_back(String(text, static_cast<size_t>(end - text)));
    words.push_back(text);
    return words;
}

// ---- options ----

// A copy of the context. Custom operators stay those of the model's.
int copy_context(const graph& model, OwnContext* out_copy)
{
    const ir_context_t* context = model.attribute->context;
    out_copy->reset(context ? copy_ir_context(context) : create_ir_context(""));
    if (!*out_copy) return TENGINE_ENOMEM;
    (*out_copy)->custom_ops = context ? context->custom_ops : nullptr;
    (*out_copy)->borrows_custom_ops = true;
    return TENGINE_OK;
}

// The device of an option by key, and the rest of the key; null: an option of the core.
struct device* find_option_device(const ir_variant_t& variant, const char* key,
                                  const char** out_rest)
{
    for (const String& name : split(variant.devices, ',')) {
        if (std::strncmp(key, name.c_str(), name.size()) != 0 || key[name.size()] != '.') continue;
        *out_rest = key + name.size() + 1;
        return find_device_via_name(name.c_str());
    }
    return nullptr;
}

const char* find_set_value(const ir_context_t& context, const struct device* device,
                           const char* key)
{
    if (!device) return find_ir_key_value(context.key_values, key);
    const ir_context_device_t* entry = find_ir_context_device(&context, device);
    return entry ? find_ir_key_value(entry->key_values, key) : nullptr;
}

// The default device is in every list; its options need an entry.
int set_option(ir_context_t& context, struct device* device, const char* key, const char* value)
{
    if (!device) return set_ir_context_option(&context, key, value);
    if (!find_ir_context_device(&context, device))
        TENGINE_RETURN_IF_ERROR(add_ir_context_device(&context, device, nullptr, 0));
    return set_ir_context_device_option(&context, device, key, value);
}

// The value is not a path, whatever the device makes of it.
bool is_word(const char* value)
{
    const auto is_harmless = [](char letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
               (letter >= 'A' && letter <= 'Z') || std::strchr("_+-", letter);
    };
    return *value && std::all_of(value, value + std::strlen(value), is_harmless);
}

bool may_set(const ir_identity_t& identity, const char* key, const char* value)
{
    const Vector<String> keys = split(identity.model_options, ' ');
    return is_word(value) && std::find(keys.begin(), keys.end(), key) != keys.end();
}

// ---- devices ----

int identify(struct device* device, const ir_context_t& context, ir_identity_t* out_identity)
{
    *out_identity = {};
    if (!device->interface->identify) return TENGINE_OK;
    const GraphPointer probe(create_ir_graph(const_cast<ir_context_t*>(&context)));
    if (!probe) return tengine_error_code();
    tengine_error_clear();
    if (device->interface->identify(device, probe.get(), out_identity) == 0) return TENGINE_OK;
    const String cause = tengine_error_message();
    return tengine_error_set(tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE,
                             "device '%s', identify: %s", device->name, cause.c_str());
}

// "2" and "2.1" fit "2.1.7".
bool fits_version(const char* wanted, const char* present)
{
    const size_t length = std::strlen(wanted);
    return std::strncmp(wanted, present, length) == 0 &&
           (present[length] == '\0' || present[length] == '.');
}

// ---- judging ----

// Judges one variant for one model and precision.
class Judge
{
  public:
    Judge(const graph& model, const ir_variant_t& variant, int precision)
        : model_(model),
          variant_(variant),
          own_precision_(find_model_precision(model)),
          precision_(precision == TENGINE_MODE_FP32 ? own_precision_ : precision)
    {
    }

    // Leaves the reason empty if the variant fits.
    int judge(String* out_reason)
    {
        TENGINE_RETURN_IF_ERROR(copy_context(model_, &own_));
        *out_reason = judge_devices();
        if (out_reason->empty()) *out_reason = judge_precision();
        if (out_reason->empty()) TENGINE_RETURN_IF_ERROR(judge_options(out_reason));
        if (out_reason->empty()) TENGINE_RETURN_IF_ERROR(judge_machine(out_reason));
        return TENGINE_OK;
    }

    // The place of the first device among those of the graph.
    size_t rank() const
    {
        const auto devices = list_graph_devices(model_);
        return static_cast<size_t>(std::find(devices.begin(), devices.end(), first_) -
                                   devices.begin());
    }
    size_t device_number() const { return device_number_; }
    int named() const { return (*variant_.chip ? 1 : 0) + (*variant_.driver ? 1 : 0); }

    // The context with the options.
    OwnContext take_context() { return std::move(own_); }

  private:
    String judge_devices()
    {
        const auto devices = list_graph_devices(model_);
        for (const String& name : split(variant_.devices, ',')) {
            struct device* device = find_device_via_name(name.c_str());
            if (!device) return print_text("there is no device %.60s", name.c_str());
            if (std::find(devices.begin(), devices.end(), device) == devices.end())
                return print_text("device %s is not in the context", device->name);
            if (!first_) first_ = device;
            ++device_number_;
        }
        return "";
    }

    // A quantised model computes in its own integers with either of the two precisions.
    String judge_precision() const
    {
        const auto is_integer = [](int precision) {
            return precision == TENGINE_MODE_INT8 || precision == TENGINE_MODE_UINT8;
        };
        if (variant_.precision == precision_ ||
            (is_integer(own_precision_) && is_integer(precision_) &&
             is_integer(variant_.precision)))
            return "";
        return print_text("precision %s, the run has %s", get_ir_precision_name(variant_.precision),
                          get_ir_precision_name(precision_));
    }

    int judge_options(String* out_reason)
    {
        for (int i = 0; i < get_vector_num(variant_.options) && out_reason->empty(); ++i)
            TENGINE_RETURN_IF_ERROR(judge_option(
                *static_cast<ir_key_value_t*>(get_vector_data(variant_.options, i)), out_reason));
        return TENGINE_OK;
    }

    int judge_option(const ir_key_value_t& option, String* out_reason)
    {
        const char* key = option.key;
        struct device* device = find_option_device(variant_, option.key, &key);
        if (!device && !is_ir_hint_option(key)) {
            *out_reason = print_text("option %.100s: of no device of the variant", key);
            return TENGINE_OK;
        }
        if (const char* set = find_set_value(*own_, device, key)) {
            if (std::strcmp(set, option.value) != 0)
                *out_reason = print_text("option %.100s: %.60s, the program has %.60s", option.key,
                                         option.value, set);
            return TENGINE_OK;
        }
        ir_identity_t identity = {};
        if (device) TENGINE_RETURN_IF_ERROR(identify(device, *own_, &identity));
        if (device && !may_set(identity, key, option.value))
            *out_reason = print_text(
                "option %.100s: a file may not set it to '%.60s', the program "
                "has to",
                option.key, option.value);
        else
            *out_reason = check_value(device, key, option.value);
        return out_reason->empty() ? set_option(*own_, device, key, option.value) : TENGINE_OK;
    }

    static String check_value(struct device* device, const char* key, const char* value)
    {
        tengine_error_clear();
        int status = TENGINE_OK;
        if (!device) status = check_ir_option(key, value);
        if (device && device->interface->check_option)
            status = device->interface->check_option(device, key, value);
        const String cause = status == 0 ? "" : tengine_error_message();
        tengine_error_clear();
        return status == 0 || !cause.empty() ? cause : print_text("option %.100s is refused", key);
    }

    // The options of a variant must not make another machine of the present one.
    int judge_machine(String* out_reason)
    {
        OwnContext program;
        ir_identity_t present, wanted;
        TENGINE_RETURN_IF_ERROR(copy_context(model_, &program));
        TENGINE_RETURN_IF_ERROR(identify(first_, *program, &present));
        TENGINE_RETURN_IF_ERROR(identify(first_, *own_, &wanted));
        const char* chip = *present.chip ? present.chip : wanted.chip;
        if (*variant_.chip && std::strcmp(chip, variant_.chip) != 0)
            *out_reason =
                print_text("chip '%.60s', %s has %s", variant_.chip, first_->name,
                           *chip ? print_text("'%s'", chip).c_str() : "none that it names");
        else if (*chip && std::strcmp(chip, wanted.chip) != 0)
            *out_reason = print_text("its options are for chip '%s', %s has '%s'", wanted.chip,
                                     first_->name, chip);
        else if (*variant_.driver && !fits_version(variant_.driver, present.driver))
            *out_reason = print_text("driver '%.60s', %s has %s", variant_.driver, first_->name,
                                     *present.driver ? print_text("'%s'", present.driver).c_str()
                                                     : "none that it names");
        return TENGINE_OK;
    }

    const graph& model_;
    const ir_variant_t& variant_;
    const int own_precision_;
    const int precision_;
    OwnContext own_;
    struct device* first_ = nullptr;
    size_t device_number_ = 0;
};

// ---- choosing ----

using Score = std::tuple<size_t, int, int>;  // less is better

int find_best(const graph& model, int precision, int* out_best)
{
    Score best;
    *out_best = -1;
    for (int i = 0; i < count_ir_variants(&model); ++i) {
        Judge judge(model, *get_ir_variant(&model, i), precision);
        String reason;
        TENGINE_RETURN_IF_ERROR(judge.judge(&reason));
        if (!reason.empty()) continue;
        const Score score(judge.rank(), -static_cast<int>(judge.device_number()), -judge.named());
        if (*out_best >= 0 && !(score < best)) continue;
        best = score;
        *out_best = i;
    }
    return TENGINE_OK;
}

int find_named(const graph& model, const char* name, int precision, int* out_index)
{
    String names;
    for (*out_index = 0; *out_index < count_ir_variants(&model); ++*out_index) {
        const ir_variant_t& variant = *get_ir_variant(&model, *out_index);
        names += (names.empty() ? "" : ", ") + String(variant.name);
        if (std::strcmp(variant.name, name) != 0) continue;
        String reason;
        TENGINE_RETURN_IF_ERROR(Judge(model, variant, precision).judge(&reason));
        if (reason.empty()) return TENGINE_OK;
        return tengine_error_set(TENGINE_EINVAL,
                                 "option model.variant: variant '%s' cannot be used: %s", name,
                                 reason.c_str());
    }
    return tengine_error_set(TENGINE_ENOENT,
                             "option model.variant: the model has no variant '%.100s': expected %s",
                             name, names.empty() ? "none" : names.c_str());
}

// Those of the nodes; deeper ones get theirs when these are prepared.
void give_bodies_context(graph& execution)
{
    for (int i = 0; i < execution.node_num; ++i) {
        const ir_bodies_t* bodies = execution.node_list[i]->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k)
            bodies->list[k].graph->attribute->context = execution.attribute->context;
    }
}

// ---- recording ----

// "name=edge,chip=A1,driver=2.0".
struct Description
{
    String name, chip, driver;
};

int parse(const char* text, Description* out)
{
    for (const String& word : split(text, ',')) {
        const size_t equals = word.find('=');
        const String key = word.substr(0, std::min(equals, word.size()));
        String* value = key == "name"     ? &out->name
                        : key == "chip"   ? &out->chip
                        : key == "driver" ? &out->driver
                                          : nullptr;
        if (!value || equals >= word.size())
            return tengine_error_set(TENGINE_EINVAL,
                                     "option model.keep_variant: '%.100s' in '%.200s': expected "
                                     "name=NAME, and chip=CHIP and driver=VERSION if wanted",
                                     word.c_str(), text);
        *value = word.substr(equals + 1);
    }
    if (!out->name.empty() && out->name != "none") return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "option model.keep_variant: '%.200s' has no name, or 'none'", text);
}

int add_options(const ir_context_t& context, ir_variant_t* variant)
{
    for (int i = 0; i < get_vector_num(context.devices); ++i) {
        const auto* entry = static_cast<ir_context_device_t*>(get_vector_data(context.devices, i));
        for (int k = 0; k < get_vector_num(entry->key_values); ++k) {
            const auto* option =
                static_cast<ir_key_value_t*>(get_vector_data(entry->key_values, k));
            const String key = String(entry->device->name) + "." + option->key;
            TENGINE_RETURN_IF_ERROR(
                set_ir_key_value(&variant->options, key.c_str(), option->value));
        }
    }
    for (int i = 0; i < get_vector_num(context.key_values); ++i) {
        const auto* option = static_cast<ir_key_value_t*>(get_vector_data(context.key_values, i));
        if (is_ir_hint_option(option->key))
            TENGINE_RETURN_IF_ERROR(
                set_ir_key_value(&variant->options, option->key, option->value));
    }
    return TENGINE_OK;
}

// The devices that the program names, else the default device.
String name_devices(const graph& model)
{
    const ir_context_t* context = model.attribute->context;
    String names = model.device ? model.device->name : "";
    for (int i = 0; context && i < get_vector_num(context->devices); ++i) {
        const auto* entry = static_cast<ir_context_device_t*>(get_vector_data(context->devices, i));
        if (entry->device != model.device)
            names += (names.empty() ? "" : ",") + String(entry->device->name);
    }
    return names.empty() ? find_default_device()->name : names;
}

int record(graph& model, const char* text, int precision)
{
    Description description;
    int index = -1;
    TENGINE_RETURN_IF_ERROR(parse(text, &description));
    ir_variant_t made;
    int status = init_ir_variant(&made, description.name.c_str(), name_devices(model).c_str(),
                                 description.chip.c_str(), description.driver.c_str());
    made.precision = precision == TENGINE_MODE_FP32 ? find_model_precision(model) : precision;
    if (status == TENGINE_OK && model.attribute->context)
        status = add_options(*model.attribute->context, &made);
    if (status < 0) {
        release_ir_variant(&made);
        return status;
    }
    TENGINE_RETURN_IF_ERROR(put_ir_variant(&model, &made, &index));
    take_ir_variant(&model, index, true, precision);
    return TENGINE_OK;
}

}  // namespace

int choose_variant(graph& model, int precision)
{
    if (IS_MINIMAL || model.core->outer) return TENGINE_OK;
    const ir_context_t* context = model.attribute->context;
    const char* kept = get_ir_context_option(context, "model.keep_variant");
    if (*kept && get_ir_context_number(context, "model.keep_parts") != 0)
        return record(model, kept, precision);
    int taken = -1;
    const char* name = get_ir_context_option(context, "model.variant");
    if (!*name)
        TENGINE_RETURN_IF_ERROR(find_best(model, precision, &taken));
    else if (std::strcmp(name, "none") != 0)
        TENGINE_RETURN_IF_ERROR(find_named(model, name, precision, &taken));
    take_ir_variant(&model, taken, false, precision);
    if (taken >= 0)
        TLOG_INFO("graph '%s': variant '%s' of its file is taken", model.name,
                  get_ir_variant(&model, taken)->name);
    return TENGINE_OK;
}

int take_variant_options(const graph& model, graph& execution)
{
    const ir_variant_t* taken = IS_MINIMAL ? nullptr : get_ir_taken_variant(&model);
    if (!taken || get_vector_num(taken->options) == 0) return TENGINE_OK;
    Judge judge(model, *taken, get_ir_variant_precision(&model));
    String reason;
    TENGINE_RETURN_IF_ERROR(judge.judge(&reason));
    // A variant that is recorded has the options of the program.
    if (!reason.empty()) return TENGINE_OK;
    execution.attribute->context = judge.take_context().release();
    execution.attribute->private_context = 1;
    give_bodies_context(execution);
    return TENGINE_OK;
}

}  // namespace tengine

int judge_ir_variant(const struct graph* model, int index, int precision, char out_reason[],
                     size_t capacity)
{
    return tengine::guarded(
        [&]() -> int {
            tengine::String reason;
            tengine::Judge judge(*model, *get_ir_variant(model, index), precision);
            TENGINE_RETURN_IF_ERROR(judge.judge(&reason));
            std::snprintf(out_reason, capacity, "%s", reason.c_str());
            return TENGINE_OK;
        },
        "graph '%s': out of memory for a variant", model->name);
}
