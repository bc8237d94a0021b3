// SPDX-License-Identifier: Apache-2.0
#include "graph/bucket.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/minimal.h"
#include "graph/metadata.h"
#include "graph/state.h"

static const char* match_bucket(const ir_metadata_entry_t* entry)
{
    const bool matches = entry->kind == IR_METADATA_PROPERTY &&
                         strncmp(entry->key, IR_BUCKET_KEY, sizeof IR_BUCKET_KEY - 1) == 0;
    return matches ? entry->text : NULL;
}

const char* get_ir_bucket(const struct graph* source, int index)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(find_ir_metadata(source), i)) != NULL; ++i) {
        const char* text = match_bucket(entry);
        if (text && index-- == 0) return text;
    }
    return NULL;
}

int count_ir_buckets(const struct graph* source)
{
    const ir_metadata_entry_t* entry;
    int number = 0;
    if (IS_MINIMAL) return 0;
    for (int i = 0; (entry = get_any_ir_metadata(find_ir_metadata(source), i)) != NULL; ++i)
        number += match_bucket(entry) != NULL;
    return number;
}

// ---- text ----

static int fail_text(const char* text, const char* fault)
{
    return tengine_error_set(
        TENGINE_EINVAL,
        "bucket '%s': %s: expected INPUT=SHAPE[,INPUT=SHAPE]..., such as x=4x3x224x224", text,
        fault);
}

// Reads "4x3x224x224" up to the first character that does not belong to it, at which *out_end is.
// False if it is not a shape.
static bool read_dims(const char* text, ir_bucket_shape_t* shape, const char** out_end)
{
    shape->dim_num = 0;
    for (;;) {
        int dim = 0;
        if (shape->dim_num == MAX_SHAPE_DIM_NUM || *text < '0' || *text > '9') return false;
        for (; *text >= '0' && *text <= '9'; ++text) {
            if (dim > (INT_MAX - (*text - '0')) / 10) return false;
            dim = 10 * dim + (*text - '0');
        }
        if (dim == 0) return false;
        shape->dims[shape->dim_num++] = dim;
        if (*text != 'x') break;
        ++text;
    }
    *out_end = text;
    return *text == '\0' || *text == ',';
}

static int find_named_input(const struct graph* source, const char* name, size_t length)
{
    for (int i = 0; i < source->input_tensor_num; ++i) {
        const char* other = source->tensor_list[source->input_tensors[i]]->name;
        if (strlen(other) == length && memcmp(other, name, length) == 0) return i;
    }
    return -1;
}

// The input that is named at the begin of `text`, before an equals sign and a shape; names may have
// such signs, too.
static int find_input(const struct graph* source, const char* text, ir_bucket_shape_t* shape,
                      const char** out_end)
{
    const char* fault = "no shape of an input";
    for (const char* at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
        if (at == text || !read_dims(at + 1, shape, out_end)) continue;
        shape->input = find_named_input(source, text, (size_t)(at - text));
        if (shape->input >= 0) return TENGINE_OK;
        fault = "names no input of the graph";
    }
    return fail_text(text, fault);
}

static int check_input(const struct graph* source, const char* text, const ir_bucket_shape_t* shape)
{
    const struct tensor* input = source->tensor_list[source->input_tensors[shape->input]];
    char fault[256];
    if (is_ir_state(source, input)) {
        snprintf(fault, sizeof fault, "'%.150s' is a state", input->name);
        return fail_text(text, fault);
    }
    if (!input->shape_set || input->dim_num == shape->dim_num) return TENGINE_OK;
    snprintf(fault, sizeof fault, "input '%.150s' has rank %d, not %d", input->name, input->dim_num,
             shape->dim_num);
    return fail_text(text, fault);
}

static bool is_named_twice(const struct vector* shapes, const ir_bucket_shape_t* shape)
{
    for (int i = 0; i < get_vector_num(shapes); ++i) {
        const ir_bucket_shape_t* other = get_vector_data(shapes, i);
        if (other->bucket == shape->bucket && other->input == shape->input) return true;
    }
    return false;
}

static int read_bucket(const struct graph* source, int bucket, const char* text,
                       struct vector* out_shapes)
{
    for (const char* at = text;;) {
        ir_bucket_shape_t shape = {.bucket = bucket};
        const char* end = at;
        TENGINE_RETURN_IF_ERROR(find_input(source, at, &shape, &end));
        TENGINE_RETURN_IF_ERROR(check_input(source, text, &shape));
        if (is_named_twice(out_shapes, &shape)) return fail_text(text, "names an input twice");
        if (push_vector_data(out_shapes, &shape) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "bucket '%s': out of memory", text);
        if (*end == '\0') return TENGINE_OK;
        at = end + 1;
    }
}

static int check_number(const struct graph* source, int number)
{
    if (number <= IR_MOST_BUCKETS) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "graph '%s' has %d buckets, expected at most %d",
                             source->name, number, IR_MOST_BUCKETS);
}

int list_ir_bucket_shapes(const struct graph* source, struct vector* out_shapes)
{
    const int number = count_ir_buckets(source);
    TENGINE_RETURN_IF_ERROR(check_number(source, number));
    for (int i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(read_bucket(source, i, get_ir_bucket(source, i), out_shapes));
    return TENGINE_OK;
}

// ---- properties ----

static int check_bucket(const struct graph* source, const char* text)
{
    struct vector* shapes = create_vector(sizeof(ir_bucket_shape_t), NULL);
    if (!shapes) return tengine_error_set(TENGINE_ENOMEM, "bucket '%s': out of memory", text);
    const int status = read_bucket(source, 0, text, shapes);
    release_vector(shapes);
    return status;
}

int add_ir_bucket(struct graph* source, const char* text)
{
    char key[sizeof IR_BUCKET_KEY + 12];
    int number = count_ir_buckets(source);
    TENGINE_RETURN_IF_ERROR(check_number(source, number + 1));
    TENGINE_RETURN_IF_ERROR(check_bucket(source, text));
    TENGINE_RETURN_IF_ERROR(own_ir_metadata(source));
    do
        snprintf(key, sizeof key, IR_BUCKET_KEY "%d", number++);
    while (*find_ir_property(source->core->metadata, key));
    const ir_metadata_entry_t entry = {IR_METADATA_PROPERTY, 0, key, text};
    TENGINE_RETURN_IF_ERROR(add_ir_metadata(source->core->metadata, &entry));
    order_ir_metadata(source->core->metadata);
    return TENGINE_OK;
}
