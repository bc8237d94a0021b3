// SPDX-License-Identifier: Apache-2.0
// The container of the device contract. The contract is in tengine/vector.h.
#include "tengine/vector.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum
{
    GROWTH_STEP = 8
};

static char* element_at(const vector_t* v, int index)
{
    return (char*)v->mem + (size_t)index * (size_t)v->entry_size;
}

static int reserve(vector_t* v, int space_num)
{
    if (space_num <= v->space_num) return 0;
    size_t size;
    if (!checked_multiply((size_t)space_num, (size_t)v->entry_size, &size)) return -1;
    void* memory = alloc_memory(size);
    if (!memory) return -1;
    if (v->mem) memcpy(memory, v->mem, (size_t)v->elem_num * (size_t)v->entry_size);
    free_memory(v->real_mem);
    v->real_mem = memory;
    v->mem = memory;
    v->space_num = space_num;
    return 0;
}

// Makes room for one more element. Growing by half keeps pushes amortised constant; when that much
// memory cannot be had, one more element may still fit.
static int reserve_next(vector_t* v)
{
    if (v->elem_num < v->space_num) return 0;
    if (v->elem_num == INT_MAX) return -1;
    const int half = v->elem_num / 2;
    const int step = half > v->ahead_num ? half : v->ahead_num;
    if (step <= INT_MAX - v->elem_num && reserve(v, v->elem_num + step) == 0) return 0;
    forget_memory_shortage();
    return reserve(v, v->elem_num + 1);
}

static void free_elements(vector_t* v, int begin, int end)
{
    if (!v->free_func) return;
    for (int i = begin; i < end; ++i)
        v->free_func(element_at(v, i));
}

vector_t* create_vector(int elem_size, void (*free_func)(void*))
{
    if (elem_size < 1) return NULL;
    vector_t* v = alloc_memory(sizeof *v);
    if (!v) return NULL;
    v->elem_size = elem_size;
    v->entry_size = elem_size;
    v->ahead_num = GROWTH_STEP;
    v->free_func = free_func;
    if (reserve(v, GROWTH_STEP) == 0) return v;
    free_memory(v);
    return NULL;
}

void release_vector(vector_t* v)
{
    if (!v) return;
    free_elements(v, 0, v->elem_num);
    free_memory(v->real_mem);
    free_memory(v);
}

int get_vector_num(const vector_t* v)
{
    return v ? v->elem_num : 0;
}

int resize_vector(vector_t* v, int new_size)
{
    if (!v || new_size < 0 || reserve(v, new_size) != 0) return -1;
    if (new_size < v->elem_num) {
        free_elements(v, new_size, v->elem_num);
    } else {
        const size_t added = (size_t)(new_size - v->elem_num) * (size_t)v->entry_size;
        memset(element_at(v, v->elem_num), 0, added);
    }
    v->elem_num = new_size;
    return 0;
}

// Returns the index of the element at `data`, or -1.
static int find_element(const vector_t* v, const void* data)
{
    if (!v || !data) return -1;
    const size_t used = (size_t)v->elem_num * (size_t)v->entry_size;
    const size_t distance = (size_t)((uintptr_t)data - (uintptr_t)v->mem);
    if (distance >= used || distance % (size_t)v->entry_size != 0) return -1;
    return (int)(distance / (size_t)v->entry_size);
}

int push_vector_data(vector_t* v, const void* data)
{
    if (!v || !data) return -1;
    // `data` may be an element of this vector, which moves when the storage grows.
    const int own_index = find_element(v, data);
    if (reserve_next(v) != 0) return -1;
    const void* source = own_index >= 0 ? element_at(v, own_index) : data;
    memcpy(element_at(v, v->elem_num), source, (size_t)v->elem_size);
    ++v->elem_num;
    return 0;
}

int set_vector_data(vector_t* v, int index, const void* data)
{
    void* element = get_vector_data(v, index);
    if (!element || !data) return -1;
    memmove(element, data, (size_t)v->elem_size);
    return 0;
}

void* get_vector_data(const vector_t* v, int index)
{
    if (!v || index < 0 || index >= v->elem_num) return NULL;
    return element_at(v, index);
}

int remove_vector_via_pointer(vector_t* v, const void* data)
{
    const int index = find_element(v, data);
    if (index < 0) return -1;
    remove_vector_via_index(v, index);
    return 0;
}

void remove_vector_via_index(vector_t* v, int index)
{
    char* element = get_vector_data(v, index);
    if (!element) return;
    free_elements(v, index, index + 1);
    const size_t entry_size = (size_t)v->entry_size;
    memmove(element, element + entry_size, (size_t)(v->elem_num - index - 1) * entry_size);
    --v->elem_num;
}
