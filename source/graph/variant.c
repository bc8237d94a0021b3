// SPDX-License-Identifier: Apache-2.0
#include "graph/variant.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "tengine/error.h"
#include "tengine/vector.h"

struct ir_variants
{
    struct vector* list;     // ir_variant_t
    struct vector* dropped;  // fingerprints of parts of replaced variants
    int taken;               // index; -1: none
    bool is_recorded;
    int precision;
};

static int fail_without_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for variants of the model");
}

// ---- precisions ----

static const char* const precision_names[] = {"fp32",  "fp16", "hybrid_int8",
                                              "uint8", "int8", "bf16"};

const char* get_ir_precision_name(int precision)
{
    const int number = (int)(sizeof precision_names / sizeof *precision_names);
    return precision >= 0 && precision < number ? precision_names[precision] : "?";
}

int find_ir_precision(const char* name)
{
    for (size_t i = 0; i < sizeof precision_names / sizeof *precision_names; ++i)
        if (strcmp(precision_names[i], name) == 0) return (int)i;
    return -1;
}

// ---- a variant ----

int init_ir_variant(ir_variant_t* variant, const char* name, const char* devices, const char* chip,
                    const char* driver)
{
    *variant = (ir_variant_t){
        .name = duplicate_string(name),
        .devices = duplicate_string(devices),
        .chip = duplicate_string(chip),
        .driver = duplicate_string(driver),
        .parts = create_vector(SHA256_BYTES, NULL),
    };
    const bool good =
        variant->name && variant->devices && variant->chip && variant->driver && variant->parts;
    return good ? TENGINE_OK : fail_without_memory();
}

void release_ir_variant(ir_variant_t* variant)
{
    free_memory(variant->name);
    free_memory(variant->devices);
    free_memory(variant->chip);
    free_memory(variant->driver);
    release_vector(variant->options);
    release_vector(variant->parts);
    *variant = (ir_variant_t){.name = NULL};
}

static void release_entry(void* item)
{
    release_ir_variant(item);
}

static int compare_fingerprints(const void* a, const void* b)
{
    return memcmp(a, b, SHA256_BYTES);
}

static bool has_fingerprint(const struct vector* sorted, const uint8_t* fingerprint)
{
    int begin = 0, end = get_vector_num(sorted);
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        const int order = memcmp(get_vector_data(sorted, middle), fingerprint, SHA256_BYTES);
        if (order == 0) return true;
        if (order < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

static int add_fingerprints(struct vector* list, const uint8_t* fingerprints, uint32_t number)
{
    for (uint32_t i = 0; i < number; ++i)
        if (push_vector_data(list, fingerprints + (size_t)i * SHA256_BYTES) < 0)
            return fail_without_memory();
    if (number > 0)
        sort_items(get_vector_data(list, 0), (size_t)get_vector_num(list), SHA256_BYTES,
                   compare_fingerprints);
    return TENGINE_OK;
}

int add_ir_variant_parts(ir_variant_t* variant, const uint8_t* fingerprints, uint32_t number)
{
    return add_fingerprints(variant->parts, fingerprints, number);
}

bool has_ir_variant_part(const ir_variant_t* variant, const uint8_t fingerprint[SHA256_BYTES])
{
    return has_fingerprint(variant->parts, fingerprint);
}

static bool has_options_of(const ir_variant_t* a, const ir_variant_t* b)
{
    for (int i = 0; i < get_vector_num(b->options); ++i) {
        const ir_key_value_t* option = get_vector_data(b->options, i);
        const char* value = find_ir_key_value(a->options, option->key);
        if (!value || strcmp(value, option->value) != 0) return false;
    }
    return get_vector_num(a->options) == get_vector_num(b->options);
}

static bool is_same(const ir_variant_t* a, const ir_variant_t* b)
{
    return strcmp(a->devices, b->devices) == 0 && strcmp(a->chip, b->chip) == 0 &&
           strcmp(a->driver, b->driver) == 0 && a->precision == b->precision &&
           has_options_of(a, b);
}

// ---- those of a model ----

void release_ir_variants(struct ir_variants* variants)
{
    if (!variants) return;
    release_vector(variants->list);
    release_vector(variants->dropped);
    free_memory(variants);
}

static struct ir_variants* create_variants(void)
{
    struct ir_variants* made = alloc_memory(sizeof *made);
    if (!made) return NULL;
    made->taken = -1;
    made->precision = -1;
    made->list = create_vector(sizeof(ir_variant_t), release_entry);
    made->dropped = create_vector(SHA256_BYTES, NULL);
    if (made->list && made->dropped) return made;
    release_ir_variants(made);
    return NULL;
}

static struct ir_variants* variants_of(const struct graph* model)
{
    struct ir_variants** place = find_ir_variants(model);
    return place ? *place : NULL;
}

static struct ir_variants* find_or_create(struct graph* model)
{
    struct ir_variants** place = create_ir_variants_place(model);
    if (place && !*place) *place = create_variants();
    return place ? *place : NULL;
}

static ir_variant_t* at(const struct ir_variants* variants, int index)
{
    return get_vector_data(variants->list, index);
}

int count_ir_variants(const struct graph* model)
{
    const struct ir_variants* variants = variants_of(model);
    return variants ? get_vector_num(variants->list) : 0;
}

const ir_variant_t* get_ir_variant(const struct graph* model, int index)
{
    const struct ir_variants* variants = variants_of(model);
    return variants ? at(variants, index) : NULL;
}

static int find_name(const struct ir_variants* variants, const char* name)
{
    for (int i = 0; i < get_vector_num(variants->list); ++i)
        if (strcmp(at(variants, i)->name, name) == 0) return i;
    return -1;
}

static int replace(struct ir_variants* variants, int index, ir_variant_t* variant)
{
    ir_variant_t* old = at(variants, index);
    if (is_same(old, variant)) {
        const int status = add_ir_variant_parts(old, get_vector_data(variant->parts, 0),
                                                (uint32_t)get_vector_num(variant->parts));
        release_ir_variant(variant);
        return status;
    }
    const int status = add_fingerprints(variants->dropped, get_vector_data(old->parts, 0),
                                        (uint32_t)get_vector_num(old->parts));
    release_ir_variant(old);
    *old = *variant;
    return status;
}

static int add(struct ir_variants* variants, ir_variant_t* variant, int* out_index)
{
    *out_index = find_name(variants, variant->name);
    if (*out_index >= 0) return replace(variants, *out_index, variant);
    *out_index = get_vector_num(variants->list);
    int status = TENGINE_OK;
    if (*out_index >= IR_MOST_VARIANTS)
        status = tengine_error_set(TENGINE_ELIMIT, "variant '%.60s': a model has at most %d",
                                   variant->name, IR_MOST_VARIANTS);
    else if (push_vector_data(variants->list, variant) < 0)
        status = fail_without_memory();
    if (status < 0) release_ir_variant(variant);
    return status;
}

int put_ir_variant(struct graph* model, ir_variant_t* variant, int* out_index)
{
    struct ir_variants* variants = find_or_create(model);
    if (variants) return add(variants, variant, out_index);
    release_ir_variant(variant);
    return fail_without_memory();
}

void drop_ir_variants(struct graph* model)
{
    struct ir_variants** place = find_ir_variants(model);
    if (!place) return;
    release_ir_variants(*place);
    *place = NULL;
}

const ir_variant_t* get_ir_taken_variant(const struct graph* model)
{
    const struct ir_variants* variants = variants_of(model);
    return variants && variants->taken >= 0 ? at(variants, variants->taken) : NULL;
}

void take_ir_variant(struct graph* model, int index, bool is_recorded, int precision)
{
    struct ir_variants* variants = variants_of(model);
    if (!variants) return;
    variants->taken = index;
    variants->is_recorded = is_recorded;
    variants->precision = precision;
}

int get_ir_variant_precision(const struct graph* model)
{
    const struct ir_variants* variants = variants_of(model);
    return variants ? variants->precision : -1;
}

int record_ir_variant_part(struct graph* model, const uint8_t fingerprint[SHA256_BYTES])
{
    struct ir_variants* variants = variants_of(model);
    if (!variants || !variants->is_recorded || variants->taken < 0) return TENGINE_OK;
    ir_variant_t* variant = at(variants, variants->taken);
    if (has_ir_variant_part(variant, fingerprint)) return TENGINE_OK;
    return add_ir_variant_parts(variant, fingerprint, 1);
}

bool is_ir_part_of_use(const struct graph* model, const uint8_t fingerprint[SHA256_BYTES])
{
    const struct ir_variants* variants = variants_of(model);
    if (!variants || !has_fingerprint(variants->dropped, fingerprint)) return true;
    for (int i = 0; i < get_vector_num(variants->list); ++i)
        if (has_ir_variant_part(at(variants, i), fingerprint)) return true;
    return false;
}

static int copy_variant(const ir_variant_t* from, ir_variant_t* to)
{
    TENGINE_RETURN_IF_ERROR(
        init_ir_variant(to, from->name, from->devices, from->chip, from->driver));
    to->precision = from->precision;
    for (int i = 0; i < get_vector_num(from->options); ++i) {
        const ir_key_value_t* option = get_vector_data(from->options, i);
        TENGINE_RETURN_IF_ERROR(set_ir_key_value(&to->options, option->key, option->value));
    }
    return add_ir_variant_parts(to, get_vector_data(from->parts, 0),
                                (uint32_t)get_vector_num(from->parts));
}

int copy_ir_variants(const struct ir_variants* from, struct ir_variants** to)
{
    int index;
    if (!from) return TENGINE_OK;
    *to = create_variants();
    if (!*to) return fail_without_memory();
    for (int i = 0; i < get_vector_num(from->list); ++i) {
        ir_variant_t copy;
        const int status = copy_variant(at(from, i), &copy);
        if (status < 0) {
            release_ir_variant(&copy);
            return status;
        }
        TENGINE_RETURN_IF_ERROR(add(*to, &copy, &index));
    }
    return TENGINE_OK;
}
