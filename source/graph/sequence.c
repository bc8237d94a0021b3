// SPDX-License-Identifier: Apache-2.0
#include "graph/sequence.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/core.h"

#define VALUE_ALIGNMENT 64

struct head
{
    int32_t num;
    int32_t is_absent;
};

struct entry
{
    int32_t data_type;
    int32_t dim_num;
    int32_t dims[MAX_SHAPE_DIM_NUM];
    int64_t offset;  // where the values begin
};

ir_element_t get_ir_element_of(const struct tensor* tensor)
{
    ir_element_t element = {tensor->data_type, tensor->dim_num, {0}, tensor->data};
    memcpy(element.dims, tensor->dims, sizeof *element.dims * tensor->dim_num);
    return element;
}

size_t get_ir_element_bytes(const ir_element_t* element)
{
    const size_t bits = (size_t)get_data_type_bits(element->data_type);
    size_t number = 1, bytes = 0;
    for (int i = 0; i < element->dim_num; ++i)
        if (element->dims[i] == 0) return 0;
    for (int i = 0; i < element->dim_num; ++i)
        if (!checked_multiply(number, (size_t)element->dims[i], &number)) return SIZE_MAX;
    if (bits < 8) return number / 8 * bits + (number % 8 * bits + 7) / 8;
    return checked_multiply(number, bits / 8, &bytes) ? bytes : SIZE_MAX;
}

static int64_t align_value(int64_t offset)
{
    return (offset + VALUE_ALIGNMENT - 1) / VALUE_ALIGNMENT * VALUE_ALIGNMENT;
}

static int64_t get_values_begin(int num)
{
    return (int64_t)sizeof(struct head) + (int64_t)sizeof(struct entry) * num;
}

int measure_ir_sequence(const ir_element_t* elements, int num, int* out_bytes)
{
    int64_t bytes = get_values_begin(num);
    for (int i = 0; i < num && bytes <= INT_MAX; ++i) {
        const size_t own = get_ir_element_bytes(&elements[i]);
        bytes = own > INT_MAX ? INT64_MAX : align_value(bytes) + (int64_t)own;
    }
    if (bytes > INT_MAX)
        return tengine_error_set(TENGINE_ERANGE, "a sequence of %d tensors has more than %d bytes",
                                 num, INT_MAX);
    *out_bytes = (int)bytes;
    return TENGINE_OK;
}

static const struct entry* entry_at(const void* memory, int index)
{
    return (const struct entry*)(const void*)((const char*)memory + sizeof(struct head)) + index;
}

void write_ir_sequence(const ir_element_t* elements, int num, bool is_absent, void* memory)
{
    *(struct head*)memory = (struct head){num, is_absent};
    int64_t offset = get_values_begin(num);
    for (int i = 0; i < num; ++i) {
        const ir_element_t* element = &elements[i];
        const size_t bytes = get_ir_element_bytes(element);
        struct entry entry = {element->data_type, element->dim_num, {0}, align_value(offset)};
        memcpy(entry.dims, element->dims, sizeof *entry.dims * (size_t)element->dim_num);
        memset((char*)memory + offset, 0, (size_t)(entry.offset - offset));
        if (bytes > 0) memcpy((char*)memory + entry.offset, element->data, bytes);
        *(struct entry*)(uintptr_t)entry_at(memory, i) = entry;
        offset = entry.offset + (int64_t)bytes;
    }
}

bool is_ir_sequence_absent(const void* memory)
{
    return ((const struct head*)memory)->is_absent != 0;
}

int count_ir_sequence(const void* memory)
{
    return ((const struct head*)memory)->num;
}

ir_element_t get_ir_sequence_element(const void* memory, int index)
{
    const struct entry* entry = entry_at(memory, index);
    ir_element_t element = {
        entry->data_type, entry->dim_num, {0}, (const char*)memory + entry->offset};
    memcpy(element.dims, entry->dims, sizeof *element.dims * (size_t)entry->dim_num);
    return element;
}
