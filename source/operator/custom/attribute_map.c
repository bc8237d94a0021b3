// SPDX-License-Identifier: Apache-2.0
// See attribute_map.h. The values of a vector or map precede it, and offsets count backwards from
// their own position. All numbers have 64 bits here; the format has narrower ones, too.
#include "operator/custom/attribute_map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "operator/added_field.h"
#include "operator/infer.h"
#include "operator/param.h"

// Types of FlexBuffers.
enum
{
    FLEX_INT = 1,
    FLEX_FLOAT = 3,
    FLEX_STRING = 5,
    FLEX_MAP = 9,
    FLEX_VECTOR = 10,
    FLEX_VECTOR_INT = 11,
    FLEX_VECTOR_FLOAT = 13,
    FLEX_WIDTH = 8  // bytes of a number
};

typedef struct flex_writer
{
    uint8_t* bytes;
    size_t size;
    size_t capacity;
    bool is_out_of_memory;  // `bytes` is then unchanged
} flex_writer_t;

// An entry of a map or vector: a number, or its position.
typedef struct flex_value
{
    const char* key;
    size_t key_place;
    uint8_t type;
    uint64_t number;
} flex_value_t;

// ---- bytes ----

static void put_bytes(flex_writer_t* writer, const void* bytes, size_t size)
{
    size_t end = 0;
    if (writer->is_out_of_memory) return;
    if (!checked_add(writer->size, size, &end) || end > SIZE_MAX / 2) {
        writer->is_out_of_memory = true;
        return;
    }
    if (end > writer->capacity) {
        const size_t capacity = 2 * end + 64;
        uint8_t* grown = resize_memory(writer->bytes, writer->capacity, capacity);
        writer->is_out_of_memory = !grown;
        if (!grown) return;
        writer->bytes = grown;
        writer->capacity = capacity;
    }
    if (size > 0) memcpy(writer->bytes + writer->size, bytes, size);
    writer->size = end;
}

static void put_number(flex_writer_t* writer, uint64_t number)
{
    put_bytes(writer, &number, FLEX_WIDTH);
}

static void align(flex_writer_t* writer)
{
    static const uint8_t padding[FLEX_WIDTH];
    put_bytes(writer, padding, (FLEX_WIDTH - writer->size % FLEX_WIDTH) % FLEX_WIDTH);
}

static void put_offset(flex_writer_t* writer, size_t place)
{
    put_number(writer, writer->size - place);
}

static uint8_t pack_type(uint8_t type)
{
    enum
    {
        WIDTH_64 = 3
    };
    return (uint8_t)(type << 2 | WIDTH_64);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_inline(uint8_t type)
{
    return type == FLEX_INT || type == FLEX_FLOAT;
}

// ---- values ----

// Writes the length; the value's bytes, or its elements, follow.
static flex_value_t put_length(flex_writer_t* writer, uint8_t type, size_t length)
{
    align(writer);
    put_number(writer, length);
    return (flex_value_t){.type = type, .number = writer->size};
}

static flex_value_t put_text(flex_writer_t* writer, const char* text)
{
    const size_t length = strlen(text);
    const flex_value_t value = put_length(writer, FLEX_STRING, length);
    put_bytes(writer, text, length + 1);
    return value;
}

static flex_value_t put_ints(flex_writer_t* writer, const struct op_ints* list)
{
    const flex_value_t value = put_length(writer, FLEX_VECTOR_INT, (size_t)list->num);
    for (int i = 0; i < list->num; ++i)
        put_number(writer, (uint64_t)list->values[i]);
    return value;
}

static flex_value_t put_floats(flex_writer_t* writer, const struct op_floats* list)
{
    const flex_value_t value = put_length(writer, FLEX_VECTOR_FLOAT, (size_t)list->num);
    for (int i = 0; i < list->num; ++i)
        put_number(writer, bits_of(list->values[i]));
    return value;
}

// Writes numbers and offsets, then the types.
static void put_values(flex_writer_t* writer, const flex_value_t* values, int number)
{
    for (int i = 0; i < number; ++i)
        if (is_inline(values[i].type))
            put_number(writer, values[i].number);
        else
            put_offset(writer, (size_t)values[i].number);
    for (int i = 0; i < number; ++i) {
        const uint8_t type = pack_type(values[i].type);
        put_bytes(writer, &type, 1);
    }
}

static flex_value_t put_texts(flex_writer_t* writer, const struct op_strings* list)
{
    flex_value_t* texts = alloc_memory(sizeof *texts * (size_t)list->num);
    if (!texts) writer->is_out_of_memory = true;
    for (int i = 0; i < list->num && texts; ++i)
        texts[i] = put_text(writer, list->values[i]);
    const flex_value_t value = put_length(writer, FLEX_VECTOR, (size_t)list->num);
    if (texts) put_values(writer, texts, list->num);
    free_memory(texts);
    return value;
}

// ---- the map ----

static bool has_value(const struct node* node, const op_field_t* field, const void* memory)
{
    const int version = node->op.version;
    if (field->kind == OP_FIELD_TENSOR) return false;
    if (field->kind == OP_FIELD_STRING && !*(char* const*)memory) return false;
    if (version == 0) return true;
    return (!field->since || version >= field->since) && (!field->until || version <= field->until);
}

static flex_value_t put_field(flex_writer_t* writer, const op_field_t* field, const void* memory)
{
    switch (field->kind) {
        case OP_FIELD_FLOAT:
            return (flex_value_t){.type = FLEX_FLOAT, .number = bits_of(*(const float*)memory)};
        case OP_FIELD_STRING:
            return put_text(writer, *(char* const*)memory);
        case OP_FIELD_INTS:
            return put_ints(writer, memory);
        case OP_FIELD_FLOATS:
            return put_floats(writer, memory);
        case OP_FIELD_STRINGS:
            return put_texts(writer, memory);
        default:
            return (flex_value_t){.type = FLEX_INT,
                                  .number = (uint64_t)(int64_t) * (const int*)memory};
    }
}

static int compare_keys(const void* left, const void* right)
{
    return strcmp(((const flex_value_t*)left)->key, ((const flex_value_t*)right)->key);
}

// Writes the sorted names, then the values in that order, and at the end the offsets.
static void put_map(flex_writer_t* writer, flex_value_t* values, int number)
{
    sort_items(values, (size_t)number, sizeof *values, compare_keys);
    for (int i = 0; i < number; ++i) {
        values[i].key_place = writer->size;
        put_bytes(writer, values[i].key, strlen(values[i].key) + 1);
    }
    align(writer);
    put_number(writer, (uint64_t)number);
    const size_t keys = writer->size;
    for (int i = 0; i < number; ++i)
        put_offset(writer, values[i].key_place);
    put_offset(writer, keys);
    put_number(writer, FLEX_WIDTH);
    put_number(writer, (uint64_t)number);
    const size_t map = writer->size;
    put_values(writer, values, number);
    align(writer);
    put_offset(writer, map);
    const uint8_t end[] = {pack_type(FLEX_MAP), FLEX_WIDTH};
    put_bytes(writer, end, sizeof end);
}

static void put_attributes(flex_writer_t* writer, const struct node* node, flex_value_t* values)
{
    const ir_method_t* method = node->op.method;
    int number = 0;
    for (int i = get_first_attribute(node); i < method->field_num; ++i) {
        const op_field_t* field = &method->fields[i];
        const void* memory = (const char*)node->op.param_mem + field->offset;
        if (!has_value(node, field, memory)) continue;
        values[number] = put_field(writer, field, memory);
        values[number++].key = field->name;
    }
    put_map(writer, values, number);
}

// A node of a .tflite has the bytes of the file.
static const struct op_tensor* find_file_map(const struct node* node)
{
    const op_field_t* field = find_op_field(node->op.method, "custom_options", 0);
    if (!field || field->kind != OP_FIELD_TENSOR) return NULL;
    return (const struct op_tensor*)((const char*)node->op.param_mem + field->offset);
}

static int copy_file_map(const struct node* node, const struct op_tensor* map, uint8_t** out_bytes,
                         size_t* out_size)
{
    *out_size = map->dim_num < 0 ? 0 : map->size;
    *out_bytes = alloc_memory(*out_size + 1);  // an address even of no bytes
    if (!*out_bytes)
        return fail_node(node, TENGINE_ENOMEM, "out of memory for %zu bytes of options", *out_size);
    if (*out_size > 0) memcpy(*out_bytes, map->data, *out_size);
    return TENGINE_OK;
}

int make_attribute_map(const struct node* node, uint8_t** out_bytes, size_t* out_size)
{
    const struct op_tensor* map = find_file_map(node);
    if (map) return copy_file_map(node, map, out_bytes, out_size);
    flex_writer_t writer = {0};
    flex_value_t* values = alloc_memory(sizeof *values * (size_t)node->op.method->field_num);
    if (values) put_attributes(&writer, node, values);
    free_memory(values);
    if (!values || writer.is_out_of_memory) {
        free_memory(writer.bytes);
        return fail_node(node, TENGINE_ENOMEM, "out of memory for its attributes as a FlexBuffer");
    }
    *out_bytes = writer.bytes;
    *out_size = writer.size;
    return TENGINE_OK;
}
