// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"

static void swap(char* a, char* b, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

// Lets the item at `place` sink below the larger ones; the largest of a heap is its first.
static void sink(char* items, size_t number, size_t size, size_t place,
                 int (*compare)(const void* left, const void* right))
{
    for (size_t child; (child = 2 * place + 1) < number; place = child) {
        char* larger = items + child * size;
        if (child + 1 < number && compare(larger, larger + size) < 0) {
            ++child;
            larger += size;
        }
        if (compare(items + place * size, larger) >= 0) return;
        swap(items + place * size, larger, size);
    }
}

void sort_items(void* items, size_t number, size_t size,
                int (*compare)(const void* left, const void* right))
{
    for (size_t i = number / 2; i-- > 0;)
        sink(items, number, size, i, compare);
    for (size_t last = number; last-- > 1;) {
        swap(items, (char*)items + last * size, size);
        sink(items, last, size, 0, compare);
    }
}

static int compare_indices(const void* left, const void* right)
{
    const int32_t a = *(const int32_t*)left, b = *(const int32_t*)right;
    return (a > b) - (a < b);
}

void sort_indices(int32_t* indices, size_t number)
{
    sort_items(indices, number, sizeof *indices, compare_indices);
}
