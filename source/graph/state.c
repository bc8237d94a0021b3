// SPDX-License-Identifier: Apache-2.0
#include "graph/state.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text_hash.h"
#include "graph/declaration.h"
#include "graph/entry.h"
#include "graph/graph.h"
#include "graph/metadata.h"
#include "graph/state_value.h"

#define STATE_KEY "tengine.state."
#define FIRST_KEY "tengine.initial."
#define SHARED_KEY "tengine.shared."
#define ONCE_KEY "tengine.once."

typedef struct ir_state
{
    ir_state_user_t user;
    char* key;      // entries of a model share states of the same; "": no others
    int beginning;  // of tengine.once; -1: none
    struct ir_state_value* value;
    struct ir_state_value* joined;  // while graphs become entries: the value to be
} ir_state_t;

static void release_state(void* item)
{
    const ir_state_t* state = item;
    free_memory(state->key);
    if (state->value) leave_ir_state_value(state->value, state->user.graph);
}

static ir_state_t* state_at(const struct graph* source, int index)
{
    return get_vector_data(source->core->states, index);
}

struct tensor* get_ir_state_input(const struct graph* source, int index)
{
    return state_at(source, index)->user.input;
}

struct tensor* get_ir_state_output(const struct graph* source, int index)
{
    return state_at(source, index)->user.output;
}

bool find_ir_state(const struct graph* source, const struct tensor* tensor)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        if (state_at(source, i)->user.input == tensor || state_at(source, i)->user.output == tensor)
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

int share_ir_state_as(struct graph* source, const char* input, const char* key)
{
    TENGINE_RETURN_IF_ERROR(own_ir_metadata(source));
    return add_property(source, SHARED_KEY, input, key);
}

int begin_ir_state_once(struct graph* source, const char* input, int beginning)
{
    char text[16] = "";
    if (beginning >= 0) snprintf(text, sizeof text, "%d", beginning);
    TENGINE_RETURN_IF_ERROR(own_ir_metadata(source));
    return add_property(source, ONCE_KEY, input, text);
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

// ---- sharing ----

static const char* find_text(const struct graph* source, const char* prefix, const char* name)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(find_ir_metadata(source), i)) != NULL; ++i) {
        const char* found = match_ir_property(entry, prefix);
        if (found && strcmp(found, name) == 0) return entry->text;
    }
    return NULL;
}

// That of the first entry which has the key.
static struct ir_state_value* find_shared_value(const struct graph* source, const char* key)
{
    const struct graph* member;
    for (int i = 0; *key && (member = get_ir_entry_member(source, i)) != NULL; ++i)
        for (int k = 0; k < count_ir_states(member); ++k) {
            const ir_state_t* state = state_at(member, k);
            if (strcmp(state->key, key) == 0) return state->joined ? state->joined : state->value;
        }
    return NULL;
}

// The state becomes one with those of other entries that have its key.
static int share_or_make_value(ir_state_t* state)
{
    struct graph* source = state->user.graph;
    lock_ir_entries(source);
    struct ir_state_value* shared = find_shared_value(source, state->key);
    const int status = shared ? join_ir_state_value(shared, &state->user) : TENGINE_OK;
    unlock_ir_entries(source);
    TENGINE_RETURN_IF_ERROR(status);
    state->value = shared ? shared : create_ir_state_value(&state->user);
    if (state->value) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory", state->user.input->name);
}

// Files may have any text.
static int number_of_beginning(const char* text)
{
    return text && *text ? (int)(hash_text(HASH_START, text) & INT_MAX) : -1;
}

static int push_state(struct graph* source, struct tensor* input, struct tensor* output)
{
    const char* key = find_text(source, SHARED_KEY, input->name);
    ir_state_t state = {.user = {source, input, output}};
    state.beginning = number_of_beginning(find_text(source, ONCE_KEY, input->name));
    state.key = duplicate_string(key ? key : input->name);
    if (!source->core->states)
        source->core->states = create_vector(sizeof(ir_state_t), release_state);
    int status = TENGINE_ENOMEM;
    if (state.key && source->core->states) {
        status = share_or_make_value(&state);
        if (status == TENGINE_OK && push_vector_data(source->core->states, &state) == 0)
            return TENGINE_OK;
    }
    release_state(&state);
    if (status < 0 && status != TENGINE_ENOMEM) return status;
    return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory", input->name);
}

// ---- making states ----

static int add_state(struct graph* source, const char* input, const char* output)
{
    int from, to;
    TENGINE_RETURN_IF_ERROR(find_tensor(source, input, "input", input, source->input_tensors,
                                        source->input_tensor_num, &from));
    TENGINE_RETURN_IF_ERROR(find_tensor(source, input, "output", output, source->output_tensors,
                                        source->output_tensor_num, &to));
    struct tensor* before = source->tensor_list[source->input_tensors[from]];
    struct tensor* after = source->tensor_list[source->output_tensors[to]];
    release_ir_tensor_data(before);
    release_ir_tensor_data(after);
    TENGINE_RETURN_IF_ERROR(push_state(source, before, after));
    move_to_end(source->input_tensors, source->input_tensor_num, from);
    move_to_end(source->output_tensors, source->output_tensor_num, to);
    remove_node(source, source->input_nodes, &source->input_num, before->producer);
    const struct node* writer = get_ir_graph_node(source, after->producer);
    if (writer && !has_output(source, writer))
        remove_node(source, source->output_nodes, &source->output_num, writer->index);
    return TENGINE_OK;
}

static bool is_state_name(const struct graph* source, const char* name)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        if (strcmp(get_ir_state_input(source, i)->name, name) == 0) return true;
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

// That of this state, else of an entry that shares it.
static const char* find_first_value(const ir_state_t* state)
{
    const char* text = find_text(state->user.graph, FIRST_KEY, state->user.input->name);
    const ir_state_user_t* user;
    for (int i = 0; !text && (user = get_ir_state_user(state->value, i)) != NULL; ++i)
        text = find_text(user->graph, FIRST_KEY, user->input->name);
    return text;
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

const char* get_ir_state_key(const struct graph* source, int index)
{
    return state_at(source, index)->key;
}

const char* get_ir_state_once(const struct graph* source, int index)
{
    return find_text(source, ONCE_KEY, get_ir_state_input(source, index)->name);
}

void set_ir_state(const struct graph* source, const struct tensor* tensor)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        if (state_at(source, i)->user.input == tensor)
            restart_ir_state_value(state_at(source, i)->value, true);
}

bool has_ir_first_value(const struct graph* source, int index)
{
    return find_first_value(state_at(source, index));
}

int write_ir_first_value(const struct graph* source, int index, void* out_value, size_t bytes)
{
    const ir_state_t* state = state_at(source, index);
    const char* text = find_first_value(state);
    if (text && bytes > 0) return read_first_value(state->user.input, text, out_value, bytes);
    if (bytes > 0) memset(out_value, 0, bytes);
    return TENGINE_OK;
}

int64_t count_ir_state_bytes(const struct graph* source)
{
    int64_t sum = 0;
    for (int i = 0; i < count_ir_states(source); ++i)
        sum += (int64_t)get_ir_state_share(state_at(source, i)->value, source);
    return sum;
}

int reset_ir_states(struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i) {
        const ir_state_t* state = state_at(source, i);
        size_t bytes;
        void* memory = get_ir_state_memory(state->value, &bytes);
        if (memory)
            TENGINE_RETURN_IF_ERROR(write_ir_first_value(source, i, memory, bytes));
        else
            release_ir_tensor_data(state->user.input);
        restart_ir_state_value(state->value, false);
    }
    return TENGINE_OK;
}

static int check_state(const ir_state_t* state)
{
    char input[IR_SHAPE_TEXT_SIZE], output[IR_SHAPE_TEXT_SIZE];
    const struct tensor *from = state->user.input, *to = state->user.output;
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

static int reserve_beginning(const ir_state_t* state)
{
    lock_ir_entries(state->user.graph);
    const int status = add_ir_state_beginning(state->value, state->beginning);
    unlock_ir_entries(state->user.graph);
    return status;
}

// The program may have set the input's value before there was memory for it.
static int settle_state(const struct graph* source, int index)
{
    const ir_state_t* state = state_at(source, index);
    bool is_new;
    TENGINE_RETURN_IF_ERROR(check_state(state));
    TENGINE_RETURN_IF_ERROR(settle_ir_state_value(state->value, &state->user, &is_new));
    if (state->beginning >= 0) TENGINE_RETURN_IF_ERROR(reserve_beginning(state));
    if (!is_new) return TENGINE_OK;
    size_t bytes;
    void* memory = get_ir_state_memory(state->value, &bytes);
    return write_ir_first_value(source, index, memory, bytes);
}

int settle_ir_states(struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        TENGINE_RETURN_IF_ERROR(settle_state(source, i));
    return TENGINE_OK;
}

// ---- runs ----

static const struct graph* find_other_runner(const struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i) {
        const struct graph* runner = *find_ir_state_runner(state_at(source, i)->value);
        if (runner && runner != source) return runner;
    }
    return NULL;
}

static void set_runner(const struct graph* source, struct graph* runner)
{
    for (int i = 0; i < count_ir_states(source); ++i)
        *find_ir_state_runner(state_at(source, i)->value) = runner;
}

static int fail_shared(int status, const struct graph* source, const struct graph* runner)
{
    return tengine_error_set(status,
                             "entry '%s' shares states with entry '%s', of which a run is in "
                             "flight; call wait_graph for that",
                             get_ir_entry_name(source, get_ir_entry(source)),
                             get_ir_entry_name(runner, get_ir_entry(runner)));
}

int check_ir_states_idle(const struct graph* source)
{
    if (get_ir_entry(source) < 0) return TENGINE_OK;
    lock_ir_entries(source);
    const struct graph* runner = find_other_runner(source);
    const int status = runner ? fail_shared(TENGINE_ESTATE, source, runner) : TENGINE_OK;
    unlock_ir_entries(source);
    return status;
}

static int begin_states(const struct graph* source)
{
    for (int i = 0; i < count_ir_states(source); ++i) {
        const ir_state_t* state = state_at(source, i);
        bool is_late = false;
        if (state->beginning >= 0)
            TENGINE_RETURN_IF_ERROR(begin_ir_state_value(state->value, state->beginning, &is_late));
        if (!is_late) continue;
        size_t bytes;
        void* memory = get_ir_state_memory(state->value, &bytes);
        TENGINE_RETURN_IF_ERROR(write_ir_first_value(source, i, memory, bytes));
    }
    return TENGINE_OK;
}

int claim_ir_states(struct graph* source, int status)
{
    if (get_ir_entry(source) < 0) return TENGINE_OK;
    lock_ir_entries(source);
    const struct graph* runner = find_other_runner(source);
    status = runner ? fail_shared(status, source, runner) : begin_states(source);
    if (status == TENGINE_OK) set_runner(source, source);
    unlock_ir_entries(source);
    return status;
}

void release_ir_states(struct graph* source, bool is_written)
{
    lock_ir_entries(source);
    for (int i = 0; is_written && i < count_ir_states(source); ++i)
        turn_ir_state_value(state_at(source, i)->value);
    set_runner(source, NULL);
    unlock_ir_entries(source);
}

// ---- graphs that become entries ----

// A state becomes a user of the value that another graph has, and then leaves its own.
static void undo_joining(const struct graph* graph, int number)
{
    for (int i = 0; i < number; ++i) {
        ir_state_t* state = state_at(graph, i);
        if (state->joined) remove_ir_state_user(state->joined, graph);
        state->joined = NULL;
    }
}

static int join_state(ir_state_t* state)
{
    struct ir_state_value* shared = find_shared_value(state->user.graph, state->key);
    if (!shared || shared == state->value) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(join_ir_state_value(shared, &state->user));
    state->joined = shared;
    return TENGINE_OK;
}

int begin_joining_ir_states(struct graph* graph)
{
    for (int i = 0; i < count_ir_states(graph); ++i) {
        const int status = join_state(state_at(graph, i));
        if (status == TENGINE_OK) continue;
        undo_joining(graph, i);
        return status;
    }
    return TENGINE_OK;
}

void end_joining_ir_states(struct graph* graph, bool is_joined)
{
    if (!is_joined) undo_joining(graph, count_ir_states(graph));
    for (int i = 0; i < count_ir_states(graph); ++i) {
        ir_state_t* state = state_at(graph, i);
        if (!state->joined) continue;
        merge_ir_state_value(state->joined, state->value, graph);
        state->value = state->joined;
        state->joined = NULL;
    }
}
