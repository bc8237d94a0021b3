// SPDX-License-Identifier: Apache-2.0
#include "graph/state.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/metadata.h"

#define STATE_KEY "tengine.state."
#define FIRST_KEY "tengine.initial."

typedef struct ir_state
{
    struct tensor* input;
    struct tensor* output;
    void* memory;  // two values, of which a run reads one and writes the other; NULL: none yet
    size_t bytes;  // of a value
} ir_state_t;

static void release_state(void* item)
{
    free_memory(((ir_state_t*)item)->memory);
}

static ir_state_t* state_at(const struct graph* source, int index)
{
    return get_vector_data(source->core->states, index);
}

struct tensor* get_ir_state_input(const struct graph* source, int index)
{
    return state_at(source, index)->input;
}

struct tensor* get_ir_state_output(const struct graph* source, int index)
{
    return state_at(source, index)->output;
}

bool find_ir_state(const struct graph* source, const struct tensor* tensor)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        if (state_at(source, i)->input == tensor || state_at(source, i)->output == tensor)
            return true;
    return false;
}

// ---- properties ----

// A key is the prefix and a name, and a text may be digits of any number of bytes.
static int add_property(struct graph* source, const char* prefix, const char* name,
                        const char* text)
{
    const size_t bytes = strlen(prefix) + strlen(name) + 1;
    char* key = alloc_memory(bytes);
    if (!key)
        return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory for %zu bytes", name,
                                 bytes);
    snprintf(key, bytes, "%s%s", prefix, name);
    const ir_metadata_entry_t entry = {IR_METADATA_PROPERTY, 0, key, text};
    const int status = add_ir_metadata(source->core->metadata, &entry);
    free_memory(key);
    return status;
}

static int add_first_value(struct graph* source, const char* name, const uint8_t* value,
                           size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    char* text = alloc_memory(2 * bytes + 1);
    if (!text)
        return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory for %zu bytes", name,
                                 2 * bytes + 1);
    for (size_t i = 0; i < bytes; ++i) {
        text[2 * i] = digits[value[i] >> 4];
        text[2 * i + 1] = digits[value[i] & 15];
    }
    const int status = add_property(source, FIRST_KEY, name, text);
    free_memory(text);
    return status;
}

int declare_ir_state(struct graph* source, const char* input, const char* output, const void* first,
                     size_t bytes)
{
    TENGINE_RETURN_IF_ERROR(own_ir_metadata(source));
    TENGINE_RETURN_IF_ERROR(add_property(source, STATE_KEY, input, output));
    if (first) TENGINE_RETURN_IF_ERROR(add_first_value(source, input, first, bytes));
    order_ir_metadata(source->core->metadata);
    return TENGINE_OK;
}

// ---- lists of the graph ----

// Moves an entry of a list to its end.
static void move_to_end(int32_t* list, int number, int place)
{
    const int32_t entry = list[place];
    for (int i = place + 1; i < number; ++i)
        list[i - 1] = list[i];
    list[number - 1] = entry;
}

static int find_place(const int32_t* list, int number, int32_t entry)
{
    for (int i = 0; i < number; ++i)
        if (list[i] == entry) return i;
    return -1;
}

static void remove_node(struct graph* source, int32_t* list, int32_t* number, int32_t node)
{
    const int place = find_place(list, *number, node);
    if (place < 0) return;
    move_to_end(list, *number, place);
    --*number;
    source->node_list[node]->node_type = TE_NODE_TYPE_INTERMEDIATE;
}

// A node stays an output while the program reads a tensor of it.
static bool has_output(const struct graph* source, const struct node* node)
{
    for (int i = 0; i < source->output_tensor_num - count_ir_states(source); ++i)
        if (source->tensor_list[source->output_tensors[i]]->producer == node->index) return true;
    return false;
}

// `state` is the name of its input.
static int find_tensor(const struct graph* source, const char* state, const char* what,
                       const char* name, const int32_t* list, int number, int* out_place)
{
    const int index = get_ir_tensor_index_from_name(source, name);
    *out_place = index < 0 ? -1 : find_place(list, number - count_ir_states(source), index);
    if (*out_place >= 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EGRAPH,
                             "state '%s': the graph has no %s '%s' that is not a state already",
                             state, what, name);
}

static int add_state(struct graph* source, const char* input, const char* output)
{
    int from, to;
    TENGINE_RETURN_IF_ERROR(find_tensor(source, input, "input", input, source->input_tensors,
                                        source->input_tensor_num, &from));
    TENGINE_RETURN_IF_ERROR(find_tensor(source, input, "output", output, source->output_tensors,
                                        source->output_tensor_num, &to));
    ir_state_t state = {.input = source->tensor_list[source->input_tensors[from]],
                        .output = source->tensor_list[source->output_tensors[to]]};
    if (!source->core->states)
        source->core->states = create_vector(sizeof(ir_state_t), release_state);
    if (!source->core->states || push_vector_data(source->core->states, &state) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory", input);
    move_to_end(source->input_tensors, source->input_tensor_num, from);
    move_to_end(source->output_tensors, source->output_tensor_num, to);
    release_ir_tensor_data(state.input);
    release_ir_tensor_data(state.output);
    remove_node(source, source->input_nodes, &source->input_num, state.input->producer);
    const struct node* writer = get_ir_graph_node(source, state.output->producer);
    if (writer && !has_output(source, writer))
        remove_node(source, source->output_nodes, &source->output_num, writer->index);
    return TENGINE_OK;
}

static bool is_state_name(const struct graph* source, const char* name)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        if (strcmp(state_at(source, i)->input->name, name) == 0) return true;
    return false;
}

int apply_ir_states(struct graph* source)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(find_ir_metadata(source), i)) != NULL; ++i) {
        const char* input = match_ir_property(entry, STATE_KEY);
        if (input && !is_state_name(source, input))
            TENGINE_RETURN_IF_ERROR(add_state(source, input, entry->text));
    }
    return TENGINE_OK;
}

int keep_ir_state(struct graph* source, const char* input, const char* output)
{
    TENGINE_RETURN_IF_ERROR(add_state(source, input, output));
    // A state without its property would be lost in copies, but runs as it is.
    return declare_ir_state(source, input, output, NULL, 0);
}

// ---- values ----

static const char* find_first_value(const struct graph* source, const struct tensor* input)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(find_ir_metadata(source), i)) != NULL; ++i) {
        const char* name = match_ir_property(entry, FIRST_KEY);
        if (name && strcmp(name, input->name) == 0) return entry->text;
    }
    return NULL;
}

static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9') return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// Repeats the value until `data` is full.
static int read_first_value(const struct tensor* input, const char* text, uint8_t* data,
                            size_t bytes)
{
    const size_t digits = strlen(text);
    const bool is_element = digits == 2 * (size_t)input->elem_size;
    if (!is_element && digits != 2 * bytes)
        return tengine_error_set(TENGINE_ERANGE,
                                 "property '" FIRST_KEY "%s': %zu digits, expected %d or %zu",
                                 input->name, digits, 2 * input->elem_size, 2 * bytes);
    for (size_t i = 0; i < bytes; ++i) {
        const char* pair = text + 2 * i % digits;
        const int high = digit_of(pair[0]), low = digit_of(pair[1]);
        if (high < 0 || low < 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "property '" FIRST_KEY
                                     "%s': '%c%c' is not a byte in "
                                     "hexadecimal digits of 0 to 9 and a to f",
                                     input->name, pair[0], pair[1]);
        data[i] = (uint8_t)(high << 4 | low);
    }
    return TENGINE_OK;
}

int write_ir_first_value(const struct graph* source, int index, void* out_value, size_t bytes)
{
    const struct tensor* input = state_at(source, index)->input;
    const char* text = find_first_value(source, input);
    if (text && bytes > 0) return read_first_value(input, text, out_value, bytes);
    if (bytes > 0) memset(out_value, 0, bytes);
    return TENGINE_OK;
}

int reset_ir_states(struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i) {
        const ir_state_t* state = state_at(source, i);
        if (state->input->data)
            TENGINE_RETURN_IF_ERROR(
                write_ir_first_value(source, i, state->input->data, state->bytes));
    }
    return TENGINE_OK;
}

static int check_state(const ir_state_t* state)
{
    char input[IR_SHAPE_TEXT_SIZE], output[IR_SHAPE_TEXT_SIZE];
    const struct tensor *from = state->input, *to = state->output;
    if (from->data_type == TENGINE_DT_STRING)
        return tengine_error_set(TENGINE_EDTYPE, "state '%s' is of strings, expected numbers",
                                 from->name);
    if (!is_ir_tensor_shape_known(to))
        return tengine_error_set(TENGINE_EGRAPH,
                                 "state '%s': the shape of '%s', its value after a run, depends on "
                                 "data",
                                 from->name, to->name);
    if (from->dim_num == to->dim_num && from->data_type == to->data_type &&
        memcmp(from->dims, to->dims, sizeof *from->dims * from->dim_num) == 0)
        return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EGRAPH, "state '%s' is %s %s, but '%s', its value after a run, is %s %s",
        from->name, get_data_type_name(from->data_type), print_ir_shape(from, input), to->name,
        get_data_type_name(to->data_type), print_ir_shape(to, output));
}

// The program may have set the input's value before there was memory for it.
static int settle_state(const struct graph* source, int index)
{
    ir_state_t* state = state_at(source, index);
    TENGINE_RETURN_IF_ERROR(check_state(state));
    const size_t bytes = get_ir_tensor_bytes(state->input);
    size_t stride, both;
    if (state->memory && state->bytes == bytes && state->input->data && state->output->data)
        return TENGINE_OK;
    const bool fits =
        checked_align(bytes, ALLOC_ALIGNMENT, &stride) && checked_add(stride, bytes, &both);
    char* memory = fits ? alloc_memory(both) : NULL;
    if (!memory)
        return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory for twice %zu bytes",
                                 state->input->name, bytes);
    const bool has_value = state->input->data;
    if (has_value && bytes > 0) memcpy(memory, state->input->data, bytes);
    set_ir_tensor_data(state->input, memory, false);
    set_ir_tensor_data(state->output, memory + stride, false);
    free_memory(state->memory);
    state->memory = memory;
    state->bytes = bytes;
    return has_value ? TENGINE_OK : write_ir_first_value(source, index, memory, bytes);
}

int settle_ir_states(struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        TENGINE_RETURN_IF_ERROR(settle_state(source, i));
    return TENGINE_OK;
}

void turn_ir_states(struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i) {
        const ir_state_t* state = state_at(source, i);
        void* written = state->output->data;
        set_ir_tensor_data(state->output, state->input->data, false);
        set_ir_tensor_data(state->input, written, false);
    }
}
