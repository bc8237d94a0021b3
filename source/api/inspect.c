// SPDX-License-Identifier: Apache-2.0
// inspect.h, the contents of the build: devices, operators, options, formats, data types, the
// processor. The parts of a graph: graph_inspect.c.
#include "tengine/inspect.h"

#include "api/check.h"
#include "base/cpu.h"
#include "base/int_list.h"
#include "graph/option.h"
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

// The answer of describe(): lists of int.
typedef struct description
{
    struct vector* allowed;
    struct vector* blocked;
    struct vector* types;
} description_t;

static void release_description(description_t* description)
{
    release_vector(description->allowed);
    release_vector(description->blocked);
    release_vector(description->types);
}

// An operator that is in both lists is not taken.
static void remove_blocked(description_t* description)
{
    for (int i = get_vector_num(description->allowed) - 1; i >= 0; --i)
        if (is_in_int_list(description->blocked,
                           *(const int*)get_vector_data(description->allowed, i)))
            remove_vector_via_index(description->allowed, i);
}

// The description must be released when this has succeeded.
static int describe_device(const char* name, const char* function, description_t* out_description)
{
    TENGINE_RETURN_IF_ERROR(check_initialised(function));
    struct device* device = NULL;
    TENGINE_RETURN_IF_ERROR(require_device(name, function, "device", &device));
    description_t found = {create_vector(sizeof(int), NULL), create_vector(sizeof(int), NULL),
                           create_vector(sizeof(int), NULL)};
    int status = TENGINE_OK;
    tengine_error_clear();
    if (!found.allowed || !found.blocked || !found.types)
        status = tengine_error_set(TENGINE_ENOMEM, "%s: no memory", function);
    else if (device->allocator->describe(device, found.allowed, found.blocked, found.types) < 0)
        status = tengine_error_code() == TENGINE_ENOMEM
                     ? TENGINE_ENOMEM
                     : tengine_error_set(TENGINE_EDEVICE, "%s: device '%s' cannot describe itself",
                                         function, name);
    if (status < 0) {
        release_description(&found);
        return status;
    }
    remove_blocked(&found);
    *out_description = found;
    return TENGINE_OK;
}

int tengine_device_get_operator_number(const char* device)
{
    description_t description;
    if (describe_device(device, __func__, &description) < 0) return api_failure();
    const int number = get_vector_num(description.allowed);
    release_description(&description);
    return number;
}

// Element `index` of a list of integers, in *out_value.
static int read_element(const struct vector* list, int index, const char* function,
                        const char* what, int* out_value)
{
    TENGINE_RETURN_IF_ERROR(check_index(index, get_vector_num(list), function, what));
    *out_value = *(const int*)get_vector_data(list, index);
    return TENGINE_OK;
}

const char* tengine_device_get_features(const char* device)
{
    struct device* target = NULL;
    if (check_initialised(__func__) < 0 || require_device(device, __func__, "device", &target) < 0)
        return api_pointer(NULL);
    return target->interface->features ? target->interface->features(target) : "";
}

const char* tengine_device_get_operator(const char* device, int index)
{
    description_t description;
    if (describe_device(device, __func__, &description) < 0) return api_pointer(NULL);
    int type = -1;
    const int status = read_element(description.allowed, index, __func__, "operators", &type);
    release_description(&description);
    return status < 0 ? api_pointer(NULL) : find_op_name(type);
}

int tengine_device_get_data_type_number(const char* device)
{
    description_t description;
    if (describe_device(device, __func__, &description) < 0) return api_failure();
    const int number = get_vector_num(description.types);
    release_description(&description);
    return number;
}

int tengine_device_get_data_type(const char* device, int index)
{
    description_t description;
    if (describe_device(device, __func__, &description) < 0) return api_failure();
    int type = -1;
    const int status = read_element(description.types, index, __func__, "data types", &type);
    release_description(&description);
    return status < 0 ? api_failure() : type;
}

// The device's own entry; NULL after the last.
static const ir_device_option_t* read_option(struct device* device, int index)
{
    return device->interface->option ? device->interface->option(device, index) : NULL;
}

// How many options the device has, or a status.
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
