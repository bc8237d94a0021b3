// SPDX-License-Identifier: Apache-2.0
// inspect.h, the contents of the build: devices, operators, options, formats, data types, the
// processor. The parts of a graph: graph_inspect.c.
#include "tengine/inspect.h"

#include "api/check.h"
#include "base/cpu.h"
#include "graph/option.h"
#include "module/description.h"
#include "module/module.h"
#include "operator/registry.h"
#include "operator/usage.h"
#include "serializer/serializer.h"

// ---- devices ----

int tengine_device_get_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : get_device_count();
}

const char* tengine_device_get_name(int index)
{
    if (check_initialised(__func__) < 0 ||
        check_index(index, get_device_count(), __func__, "devices") < 0)
        return api_pointer(NULL);
    return find_device_via_index(index)->name;
}

static int count_abilities(const char* name, device_ability_t ability, const char* function)
{
    struct device* device = NULL;
    TENGINE_RETURN_IF_ERROR(check_initialised(function));
    TENGINE_RETURN_IF_ERROR(require_device(name, function, "device", &device));
    return count_device_abilities(device, ability);
}

static int read_ability(const char* name, device_ability_t ability, int index, const char* function,
                        const char* what, int* out_value)
{
    struct device* device = NULL;
    TENGINE_RETURN_IF_ERROR(check_initialised(function));
    TENGINE_RETURN_IF_ERROR(require_device(name, function, "device", &device));
    const int number = read_device_ability(device, ability, index, out_value);
    return number < 0 ? number : check_index(index, number, function, what);
}

int tengine_device_get_operator_number(const char* device)
{
    return api_result(count_abilities(device, DEVICE_OPERATOR, __func__));
}

const char* tengine_device_get_operator(const char* device, int index)
{
    int type = -1;
    if (read_ability(device, DEVICE_OPERATOR, index, __func__, "operators", &type) < 0)
        return api_pointer(NULL);
    return find_op_name(type);
}

int tengine_device_get_data_type_number(const char* device)
{
    return api_result(count_abilities(device, DEVICE_DATA_TYPE, __func__));
}

int tengine_device_get_data_type(const char* device, int index)
{
    int type = -1;
    const int status = read_ability(device, DEVICE_DATA_TYPE, index, __func__, "data types", &type);
    return status < 0 ? api_failure() : type;
}

const char* tengine_device_get_features(const char* device)
{
    struct device* target = NULL;
    if (check_initialised(__func__) < 0 || require_device(device, __func__, "device", &target) < 0)
        return api_pointer(NULL);
    return target->interface->features ? target->interface->features(target) : "";
}

// The device's own entry; NULL after the last.
static const ir_device_option_t* read_option(struct device* device, int index)
{
    return device->interface->option ? device->interface->option(device, index) : NULL;
}

// The number of the device's options, or a status.
static int count_options(const char* name, const char* function, struct device** out_device)
{
    TENGINE_RETURN_IF_ERROR(check_initialised(function));
    TENGINE_RETURN_IF_ERROR(require_device(name, function, "device", out_device));
    int number = 0;
    while (read_option(*out_device, number))
        ++number;
    return number;
}

int tengine_device_get_option_number(const char* device)
{
    struct device* target = NULL;
    const int number = count_options(device, __func__, &target);
    return number < 0 ? api_failure() : number;
}

static const ir_device_option_t* find_option(const char* device, int index, const char* function)
{
    struct device* target = NULL;
    const int number = count_options(device, function, &target);
    if (number < 0 || check_index(index, number, function, "options") < 0) return NULL;
    return read_option(target, index);
}

const char* tengine_device_get_option_name(const char* device, int index)
{
    const ir_device_option_t* option = find_option(device, index, __func__);
    return !option ? api_pointer(NULL) : option->key;
}

const char* tengine_device_get_option_default(const char* device, int index)
{
    const ir_device_option_t* option = find_option(device, index, __func__);
    return !option ? api_pointer(NULL) : option->initial;
}

const char* tengine_device_get_option_help(const char* device, int index)
{
    const ir_device_option_t* option = find_option(device, index, __func__);
    return !option ? api_pointer(NULL) : option->help;
}

// ---- operators ----

static const char* domain_of(const ir_method_t* method)
{
    return !method->domain ? "" : method->domain;
}

static const ir_method_t* require_operator(int index, const char* function)
{
    if (check_initialised(function) < 0 ||
        check_index(index, get_op_count(), function, "operators") < 0)
        return NULL;
    return find_op_via_index(index);
}

int tengine_operator_get_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : get_op_count();
}

const char* tengine_operator_get_name(int index)
{
    const ir_method_t* method = require_operator(index, __func__);
    return !method ? api_pointer(NULL) : method->name;
}

const char* tengine_operator_get_domain(int index)
{
    const ir_method_t* method = require_operator(index, __func__);
    return !method ? api_pointer(NULL) : domain_of(method);
}

int tengine_operator_is_used(int index)
{
    const ir_method_t* method = require_operator(index, __func__);
    return !method ? api_failure() : is_operator_used(get_op_type(method->domain, method->name));
}

// ---- options ----

int tengine_option_get_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : get_ir_option_count();
}

static const ir_option_t* require_option(int index, const char* function)
{
    if (check_initialised(function) < 0 ||
        check_index(index, get_ir_option_count(), function, "options") < 0)
        return NULL;
    return get_ir_option(index);
}

const char* tengine_option_get_name(int index)
{
    const ir_option_t* option = require_option(index, __func__);
    return !option ? api_pointer(NULL) : option->key;
}

const char* tengine_option_get_default(int index)
{
    const ir_option_t* option = require_option(index, __func__);
    return !option ? api_pointer(NULL) : option->initial;
}

const char* tengine_option_get_help(int index)
{
    const ir_option_t* option = require_option(index, __func__);
    return !option ? api_pointer(NULL) : option->help;
}

// ---- formats ----

int tengine_format_get_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : get_serializer_count();
}

static struct serializer* require_format(int index, const char* function)
{
    if (check_initialised(function) < 0 ||
        check_index(index, get_serializer_count(), function, "model formats") < 0)
        return NULL;
    return find_serializer_via_index(index);
}

const char* tengine_format_get_name(int index)
{
    struct serializer* serializer = require_format(index, __func__);
    return !serializer ? api_pointer(NULL) : serializer->get_name(serializer);
}

const char* tengine_format_get_file_ending(int index)
{
    const struct serializer* serializer = require_format(index, __func__);
    if (!serializer) return api_pointer(NULL);
    return serializer->file_ending ? serializer->file_ending : "";
}

// ---- data types and the processor ----

int tengine_data_type_get_size(int data_type)
{
    const int size = get_data_type_size(data_type);
    if (size > 0) return size;
    return api_result(
        tengine_error_set(TENGINE_EDTYPE, "%s: unknown data type %d", __func__, data_type));
}

int tengine_data_type_get_bits(int data_type)
{
    return tengine_data_type_get_size(data_type) < 0 ? -1 : get_data_type_bits(data_type);
}

const char* tengine_data_type_get_name(int data_type)
{
    return tengine_data_type_get_size(data_type) < 0 ? NULL : get_data_type_name(data_type);
}

const char* tengine_cpu_get_features(void)
{
    return get_cpu_feature_text();
}
