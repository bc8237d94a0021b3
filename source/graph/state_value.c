// SPDX-License-Identifier: Apache-2.0
#include "graph/state_value.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/declaration.h"
#include "graph/entry.h"
#include "graph/graph.h"
#include "tengine/vector.h"

typedef struct beginning
{
    int number;
    bool has_been;  // since the value was restarted
} beginning_t;

struct ir_state_value
{
    struct vector* users;  // ir_state_user_t
    void* memory;          // of both values; NULL: none yet
    size_t bytes;          // of a value
    void* now;             // of the two, which the next run reads
    void* next;
    struct graph* runner;
    struct vector* beginnings;  // beginning_t; NULL: none
    bool is_written;            // by a run, since the last beginning
    bool is_given;              // by the program: all beginnings were
};

static ir_state_user_t* user_at(const struct ir_state_value* value, int index)
{
    return get_vector_data(value->users, index);
}

const ir_state_user_t* get_ir_state_user(const struct ir_state_value* value, int index)
{
    return user_at(value, index);
}

static void release_value(struct ir_state_value* value)
{
    free_memory(value->memory);
    release_vector(value->users);
    release_vector(value->beginnings);
    free_memory(value);
}

struct ir_state_value* create_ir_state_value(const ir_state_user_t* user)
{
    struct ir_state_value* created = alloc_memory(sizeof *created);
    if (!created) return NULL;
    created->users = create_vector(sizeof *user, NULL);
    if (created->users && push_vector_data(created->users, user) == 0) return created;
    release_value(created);
    return NULL;
}

void remove_ir_state_user(struct ir_state_value* value, const struct graph* graph)
{
    for (int i = get_vector_num(value->users) - 1; i >= 0; --i)
        if (user_at(value, i)->graph == graph) remove_vector_via_index(value->users, i);
}

void leave_ir_state_value(struct ir_state_value* value, const struct graph* graph)
{
    lock_ir_entries(graph);
    remove_ir_state_user(value, graph);
    const bool is_last = get_vector_num(value->users) == 0;
    unlock_ir_entries(graph);
    if (is_last) release_value(value);
}

// ---- users ----

static void bind(const struct ir_state_value* value, const ir_state_user_t* user)
{
    set_ir_tensor_data(user->input, value->now, false);
    set_ir_tensor_data(user->output, value->next, false);
}

static bool has_size(const ir_state_user_t* user, size_t bytes)
{
    return is_ir_tensor_shape_known(user->input) && get_ir_tensor_bytes(user->input) == bytes;
}

static void bind_all(const struct ir_state_value* value)
{
    for (int i = 0; i < get_vector_num(value->users); ++i)
        if (has_size(user_at(value, i), value->bytes)) bind(value, user_at(value, i));
}

// Dimensions that are free may become any.
static bool have_same_shape(const struct tensor* one, const struct tensor* other)
{
    if (!one->shape_set || !other->shape_set) return true;
    bool is_same = one->dim_num == other->dim_num;
    for (int i = 0; is_same && i < one->dim_num; ++i)
        is_same = one->dims[i] == other->dims[i] || one->dims[i] < 0 || other->dims[i] < 0;
    return is_same;
}

static bool have_same_scales(const struct tensor* one, const struct tensor* other)
{
    const int number = one->quant_param_num;
    if (number != other->quant_param_num) return false;
    if (number == 1) return one->scale == other->scale && one->zero_point == other->zero_point;
    return number == 0 ||
           (memcmp(one->scale_list, other->scale_list, sizeof(float) * (size_t)number) == 0 &&
            memcmp(one->zp_list, other->zp_list, sizeof(int) * (size_t)number) == 0);
}

static const char* name_of(const struct graph* graph)
{
    return get_ir_entry_name(graph, get_ir_entry(graph));
}

static int check_same(const ir_state_user_t* user, const ir_state_user_t* other)
{
    char one[IR_SHAPE_TEXT_SIZE], two[IR_SHAPE_TEXT_SIZE];
    const struct tensor *mine = user->input, *theirs = other->input;
    if (user->graph == other->graph)
        return tengine_error_set(TENGINE_EGRAPH,
                                 "entry '%s': states '%s' and '%s' would be one, for other entries "
                                 "share both by the same name",
                                 name_of(user->graph), theirs->name, mine->name);
    const bool has_type = mine->data_type == theirs->data_type;
    if (!has_type || !have_same_shape(mine, theirs))
        return tengine_error_set(
            TENGINE_EGRAPH,
            "state '%s' of entry '%s' is %s %s, but %s %s in entry '%s', and they share it",
            mine->name, name_of(user->graph), get_data_type_name(mine->data_type),
            print_ir_shape(mine, one), get_data_type_name(theirs->data_type),
            print_ir_shape(theirs, two), name_of(other->graph));
    if (have_same_scales(mine, theirs)) return TENGINE_OK;
    return tengine_error_set(TENGINE_EGRAPH,
                             "state '%s' of entry '%s' has another scale or zero point than in "
                             "entry '%s', and they share it",
                             mine->name, name_of(user->graph), name_of(other->graph));
}

int join_ir_state_value(struct ir_state_value* value, const ir_state_user_t* user)
{
    for (int i = 0; i < get_vector_num(value->users); ++i)
        TENGINE_RETURN_IF_ERROR(check_same(user, user_at(value, i)));
    if (push_vector_data(value->users, user) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory", user->input->name);
    if (value->memory && has_size(user, value->bytes)) bind(value, user);
    return TENGINE_OK;
}

static bool has_value(const struct ir_state_value* value, const struct graph* left_out)
{
    bool found = value->memory;
    for (int i = 0; !found && i < get_vector_num(value->users); ++i)
        found = user_at(value, i)->graph != left_out && user_at(value, i)->input->data;
    return found;
}

void merge_ir_state_value(struct ir_state_value* value, struct ir_state_value* left,
                          const struct graph* graph)
{
    const ir_state_user_t* user = user_at(left, 0);
    if (!has_value(value, graph)) {
        struct ir_state_value taken = *left;
        taken.users = value->users;
        taken.runner = NULL;
        left->memory = NULL;
        left->beginnings = value->beginnings;
        *value = taken;
    } else if (value->memory && has_size(user, value->bytes)) {
        bind(value, user);
    } else {
        set_ir_tensor_data(user->input, NULL, false);
        set_ir_tensor_data(user->output, NULL, false);
    }
    leave_ir_state_value(left, graph);
}

// ---- memory ----

// Preparations of other entries hold the size, not the memory.
static int check_size(const struct ir_state_value* value, const ir_state_user_t* user, size_t bytes)
{
    char one[IR_SHAPE_TEXT_SIZE], two[IR_SHAPE_TEXT_SIZE];
    for (int i = 0; i < get_vector_num(value->users); ++i) {
        const ir_state_user_t* other = user_at(value, i);
        if (other->graph == user->graph || !other->graph->core->execution || has_size(other, bytes))
            continue;
        return tengine_error_set(
            TENGINE_EGRAPH,
            "state '%s' is %s in entry '%s', but %s in entry '%s', which is prepared and shares it",
            user->input->name, print_ir_shape(user->input, one), name_of(user->graph),
            print_ir_shape(other->input, two), name_of(other->graph));
    }
    return TENGINE_OK;
}

// The bytes that the program has given a tensor before there was memory, the user's own first.
static const void* find_given(const struct ir_state_value* value, const ir_state_user_t* user,
                              size_t bytes)
{
    const void* given = user->input->data;
    for (int i = 0; !given && i < get_vector_num(value->users); ++i)
        if (has_size(user_at(value, i), bytes)) given = user_at(value, i)->input->data;
    return given;
}

// Users of another size than the new memory's, which are not prepared, have none for now.
static void leave_memory(const struct ir_state_value* value, size_t bytes)
{
    for (int i = 0; i < get_vector_num(value->users); ++i) {
        const ir_state_user_t* user = user_at(value, i);
        if (!value->memory || has_size(user, bytes) || user->input->data != value->now) continue;
        set_ir_tensor_data(user->input, NULL, false);
        set_ir_tensor_data(user->output, NULL, false);
    }
}

static int allocate(struct ir_state_value* value, const ir_state_user_t* user, size_t bytes,
                    bool* out_is_new)
{
    size_t stride, both;
    const bool fits =
        checked_align(bytes, ALLOC_ALIGNMENT, &stride) && checked_add(stride, bytes, &both);
    char* memory = fits ? alloc_memory(both) : NULL;
    if (!memory)
        return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory for twice %zu bytes",
                                 user->input->name, bytes);
    const void* given = find_given(value, user, bytes);
    if (given && bytes > 0) memcpy(memory, given, bytes);
    *out_is_new = !given;
    void* old = value->memory;
    leave_memory(value, bytes);
    value->memory = value->now = memory;
    value->next = memory + stride;
    value->bytes = bytes;
    restart_ir_state_value(value, given != NULL);
    bind_all(value);
    free_memory(old);
    return TENGINE_OK;
}

static bool is_bound(const struct ir_state_value* value, const ir_state_user_t* user)
{
    return user->input->data == value->now && user->output->data == value->next;
}

// A tensor that lost its data began another shape, or begins again.
static bool has_bound_user(const struct ir_state_value* value)
{
    for (int i = 0; i < get_vector_num(value->users); ++i)
        if (is_bound(value, user_at(value, i))) return true;
    return false;
}

int settle_ir_state_value(struct ir_state_value* value, const ir_state_user_t* user,
                          bool* out_is_new)
{
    const size_t bytes = get_ir_tensor_bytes(user->input);
    *out_is_new = false;
    lock_ir_entries(user->graph);
    int status = TENGINE_OK;
    if (!value->memory || value->bytes != bytes || !has_bound_user(value)) {
        status = check_size(value, user, bytes);
        if (status == TENGINE_OK) status = allocate(value, user, bytes, out_is_new);
    } else if (!is_bound(value, user)) {
        bind(value, user);
    }
    unlock_ir_entries(user->graph);
    return status;
}

void* get_ir_state_memory(const struct ir_state_value* value, size_t* out_bytes)
{
    *out_bytes = value->bytes;
    return value->now;
}

void restart_ir_state_value(struct ir_state_value* value, bool is_given)
{
    for (int i = 0; value->beginnings && i < get_vector_num(value->beginnings); ++i)
        ((beginning_t*)get_vector_data(value->beginnings, i))->has_been = false;
    value->is_written = false;
    value->is_given = is_given;
}

// The one of this number, which is added if there is none; NULL: out of memory.
static beginning_t* find_beginning(struct ir_state_value* value, int number)
{
    if (!value->beginnings) value->beginnings = create_vector(sizeof(beginning_t), NULL);
    if (!value->beginnings) return NULL;
    const int known = get_vector_num(value->beginnings);
    for (int i = 0; i < known; ++i) {
        beginning_t* beginning = get_vector_data(value->beginnings, i);
        if (beginning->number == number) return beginning;
    }
    const beginning_t added = {number, false};
    return push_vector_data(value->beginnings, &added) < 0
               ? NULL
               : get_vector_data(value->beginnings, known);
}

static int fail_beginning(const struct ir_state_value* value)
{
    return tengine_error_set(TENGINE_ENOMEM, "state '%s': out of memory",
                             user_at(value, 0)->input->name);
}

int add_ir_state_beginning(struct ir_state_value* value, int number)
{
    return find_beginning(value, number) ? TENGINE_OK : fail_beginning(value);
}

int begin_ir_state_value(struct ir_state_value* value, int number, bool* out_is_late)
{
    beginning_t* beginning = find_beginning(value, number);
    if (!beginning) return fail_beginning(value);
    *out_is_late = !beginning->has_been && !value->is_given && value->is_written;
    beginning->has_been = true;
    if (*out_is_late) value->is_written = false;
    return TENGINE_OK;
}

size_t get_ir_state_share(const struct ir_state_value* value, const struct graph* graph)
{
    lock_ir_entries(graph);
    const size_t bytes = value->memory ? 2 * value->bytes : 0;
    const size_t share = bytes / (size_t)get_vector_num(value->users);
    unlock_ir_entries(graph);
    return share;
}

void turn_ir_state_value(struct ir_state_value* value)
{
    value->is_written = true;
    void* written = value->next;
    value->next = value->now;
    value->now = written;
    bind_all(value);
}

struct graph** find_ir_state_runner(struct ir_state_value* value)
{
    return &value->runner;
}
