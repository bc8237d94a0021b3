// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    KIND_TEXT,
    KIND_WHOLE,
    KIND_REAL
};

typedef struct script_key
{
    const char* key;
    int kind;
    size_t offset;
    size_t size;
} script_key_t;

#define SCRIPT_KEY(member_kind, member)                                            \
    {                                                                              \
        .key = #member, .kind = member_kind, .offset = offsetof(script_t, member), \
        .size = sizeof(((script_t*)NULL)->member)                                  \
    }

static const script_key_t script_keys[] = {
    SCRIPT_KEY(KIND_TEXT, operators),
    SCRIPT_KEY(KIND_TEXT, refuse),
    SCRIPT_KEY(KIND_WHOLE, verdict),
    SCRIPT_KEY(KIND_REAL, estimate_ms),
    SCRIPT_KEY(KIND_REAL, estimate_ns_per_mac),
    SCRIPT_KEY(KIND_REAL, estimate_percent),
    SCRIPT_KEY(KIND_TEXT, hand_back),
    SCRIPT_KEY(KIND_WHOLE, garbage_evaluation),
    SCRIPT_KEY(KIND_WHOLE, max_nodes),
    SCRIPT_KEY(KIND_TEXT, cannot_compile),
    SCRIPT_KEY(KIND_WHOLE, fail_pre_run),
    SCRIPT_KEY(KIND_WHOLE, fail_run),
    SCRIPT_KEY(KIND_WHOLE, fail_all_runs),
    SCRIPT_KEY(KIND_WHOLE, status),
    SCRIPT_KEY(KIND_WHOLE, hang_ms),
    SCRIPT_KEY(KIND_WHOLE, hang_run),
    SCRIPT_KEY(KIND_WHOLE, hang_pre_run_ms),
};

#define SCRIPT_KEY_NUM (sizeof script_keys / sizeof script_keys[0])

// Any number is accepted, NaN too: the device is for wrong answers.
static bool parse_value(const script_key_t* key, const char* text, script_t* script)
{
    void* const member = (char*)script + key->offset;
    char* end = NULL;
    if (key->kind == KIND_TEXT) {
        memcpy(member, &text, key->size);
        return true;
    }
    if (key->kind == KIND_REAL) {
        const double real = strtod(text, &end);
        memcpy(member, &real, key->size);
        return end != text && *end == '\0';
    }
    errno = 0;
    const long number = strtol(text, &end, 10);
    const int whole = (int)number;
    memcpy(member, &whole, key->size);
    return end != text && *end == '\0' && errno == 0 && number >= INT_MIN && number <= INT_MAX;
}

int check_script_option(struct device* device, const char* key, const char* value)
{
    static const char* const accepted[] = {"any text", "a whole number", "a number"};
    script_t unused;
    for (size_t i = 0; i < SCRIPT_KEY_NUM; ++i) {
        if (strcmp(script_keys[i].key, key) != 0) continue;
        if (parse_value(&script_keys[i], value, &unused)) return TENGINE_OK;
        return tengine_error_set(TENGINE_EINVAL, "%s.%s is '%s', expected %s", device->name, key,
                                 value, accepted[script_keys[i].kind]);
    }
    char keys[512] = "";
    for (size_t i = 0; i < SCRIPT_KEY_NUM; ++i) {
        const size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, "%s%s", i > 0 ? ", " : "", script_keys[i].key);
    }
    return tengine_error_set(TENGINE_ENOENT, "%s: unknown option '%s': expected %s", device->name,
                             key, keys);
}

unsigned read_script_options(struct device* device, const struct graph* graph, script_t* script)
{
    unsigned members = 0;
    for (size_t i = 0; i < SCRIPT_KEY_NUM; ++i) {
        const char* value = get_ir_device_option(graph, device, script_keys[i].key);
        if (value && parse_value(&script_keys[i], value, script)) members |= 1u << i;
    }
    return members;
}

void overlay_script(script_t* script, const script_t* options, unsigned members)
{
    for (size_t i = 0; i < SCRIPT_KEY_NUM; ++i) {
        const script_key_t* const key = &script_keys[i];
        if ((members & 1u << i) != 0)
            memcpy((char*)script + key->offset, (const char*)options + key->offset, key->size);
    }
}

bool is_in_script_list(const char* list, const char* word)
{
    const size_t length = strlen(word);
    for (const char* item = list; item && *item != '\0';) {
        const size_t item_length = strcspn(item, ",");
        if (item_length == length && memcmp(item, word, length) == 0) return true;
        item += item_length + (item[item_length] == ',');
    }
    return false;
}

int push_script_list(const char* list, struct vector* ops)
{
    for (const char* item = list; item && *item != '\0';) {
        char name[64];
        const char* const names[] = {name};
        const size_t length = strcspn(item, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, item);
        TENGINE_RETURN_IF_ERROR(push_op_names(ops, names, 1));
        item += length + (item[length] == ',');
    }
    return TENGINE_OK;
}

// Prints the attribute as a string: "2", "[2,2]", "SAME_UPPER"; "" if the node has none of this
// name.
static void print_attribute(const struct node* node, const char* name, char* text, size_t size)
{
    int number = 0;
    const int64_t* list = get_ir_node_ints(node, name, &number);
    const char* word = get_ir_node_text(node, name, NULL);
    const int64_t whole = get_ir_node_int(node, name, INT64_MIN);
    text[0] = '\0';
    if (word) snprintf(text, size, "%s", word);
    if (whole != INT64_MIN) snprintf(text, size, "%lld", (long long)whole);
    for (int i = 0; i < number; ++i) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%lld%s", i == 0 ? "[" : ",", (long long)list[i],
                 i + 1 == number ? "]" : "");
    }
}

void refuse_by_attribute(const struct node* node, const char* rule, ir_verdict_t* verdict)
{
    char name[32], value[32];
    const size_t length = strcspn(rule, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, rule);
    print_attribute(node, name, value, sizeof value);
    if (value[0] != '\0' && rule[length] == ':' && strcmp(value, rule + length + 1) == 0)
        refuse_ir_node(verdict, IR_REASON_ATTRIBUTE, name, value, "takes no %s with %s %s",
                       get_ir_node_op(node), name, value);
}
