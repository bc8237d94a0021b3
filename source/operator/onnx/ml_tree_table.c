// SPDX-License-Identifier: Apache-2.0
// Trees of ai.onnx.ml as a common table, from both forms of their attributes, which are checked.
// The contract is in ml_tree_param.h.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "operator/infer.h"
#include "operator/onnx/ml_tree_param.h"

enum ml_transform find_ml_transform(const char* name)
{
    static const char* const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); ++i)
        if (strcmp(name, names[i]) == 0) return (enum ml_transform)i;
    return ML_TRANSFORM_NONE;
}

void release_tree_table(struct tree_table* table)
{
    free_memory(table->nodes);
    free_memory(table->roots);
    free_memory(table->weights);
    free_memory(table->members);
    memset(table, 0, sizeof(*table));
}

static int no_memory(const struct node* node)
{
    return fail_node(node, TENGINE_ENOMEM, "out of memory for its trees");
}

// ---- lists ----

// Numbers of an attribute in one of its two forms.
struct numbers
{
    const char* name;
    const struct op_floats* floats;
    const struct op_tensor* tensor;
};

static bool is_tensor(const struct numbers* list)
{
    return list->tensor && list->tensor->dim_num >= 0;
}

static int64_t count_numbers(const struct numbers* list)
{
    if (!is_tensor(list)) return list->floats ? list->floats->num : 0;
    return (int64_t)list->tensor->size / get_data_type_size(list->tensor->data_type);
}

static double number_at(const struct numbers* list, int64_t index)
{
    if (!is_tensor(list)) return (double)list->floats->values[index];
    if (list->tensor->data_type == TENGINE_DT_FP64)
        return ((const double*)list->tensor->data)[index];
    return (double)((const float*)list->tensor->data)[index];
}

static int require_numbers(const struct node* node, const struct numbers* list, int64_t num)
{
    if (is_tensor(list) && list->tensor->data_type != TENGINE_DT_FP64 &&
        list->tensor->data_type != TENGINE_DT_FP32)
        return fail_node(node, TENGINE_EDTYPE, "%s is %s, expected fp32 or fp64", list->name,
                         get_data_type_name(list->tensor->data_type));
    if (count_numbers(list) == num) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has %lld values, expected %lld", list->name,
                     (long long)count_numbers(list), (long long)num);
}

static int require_ints(const struct node* node, const char* name, const struct op_ints* list,
                        int64_t num)
{
    if (list->num == num) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has %d values, expected %lld", name, list->num,
                     (long long)num);
}

static int require_range(const struct node* node, const char* name, int index, int64_t value,
                         int64_t end)
{
    if (value >= 0 && value < end) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "%s[%d] is %lld, expected 0 to %lld", name, index,
                     (long long)value, (long long)end - 1);
}

static int allocate_table(const struct node* node, int64_t nodes, int64_t roots, int64_t weights,
                          struct tree_table* table)
{
    table->nodes = alloc_memory64((uint64_t)nodes * sizeof(*table->nodes));
    table->roots = alloc_memory64((uint64_t)roots * sizeof(*table->roots));
    table->weights = alloc_memory64((uint64_t)weights * sizeof(*table->weights));
    if (!table->nodes || !table->roots || !table->weights) return no_memory(node);
    table->node_num = (int)nodes;
    table->weight_num = (int)weights;
    return TENGINE_OK;
}

// ---- there are no cycles ----

enum visit
{
    NEW,
    OPEN,  // on the path from the root
    DONE
};

// Returns a branch of `node` that is not done, or -1.
static int find_open_branch(const struct tree_node* node, const unsigned char* visits)
{
    if (node->mode == TREE_LEAF) return -1;
    if (visits[node->yes] != DONE) return node->yes;
    return visits[node->no] != DONE ? node->no : -1;
}

static int walk(const struct node* node, const struct tree_table* table, int root, int* way,
                unsigned char* visits)
{
    int depth = 0;
    if (visits[root] == DONE) return TENGINE_OK;
    visits[root] = OPEN;
    way[depth++] = root;
    while (depth > 0) {
        const int here = way[depth - 1];
        const int next = find_open_branch(&table->nodes[here], visits);
        if (next < 0) {
            visits[here] = DONE;
            --depth;
        } else if (visits[next] == OPEN) {
            return fail_node(node, TENGINE_EINVAL,
                             "the nodes form a cycle: node %d of the lists leads back to node %d",
                             here, next);
        } else {
            visits[next] = OPEN;
            way[depth++] = next;
        }
    }
    return TENGINE_OK;
}

static int check_circles(const struct node* node, const struct tree_table* table)
{
    int* way = alloc_memory64((uint64_t)table->node_num * sizeof(*way));
    unsigned char* visits = alloc_memory64((uint64_t)table->node_num);
    int status = way && visits ? TENGINE_OK : no_memory(node);
    for (int i = 0; status == TENGINE_OK && i < table->root_num; ++i)
        status = walk(node, table, table->roots[i], way, visits);
    free_memory(way);
    free_memory(visits);
    return status;
}

// ---- TreeEnsembleRegressor, TreeEnsembleClassifier ----

// A node, found by its key.
struct key
{
    int64_t tree;
    int64_t number;
    int index;
};

static int compare_keys(const void* left, const void* right)
{
    const struct key* a = left;
    const struct key* b = right;
    if (a->tree != b->tree) return a->tree < b->tree ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

// Returns -1 if there is none.
static int find_key(const struct key* keys, int num, int64_t tree, int64_t number)
{
    const struct key wanted = {tree, number, 0};
    int begin = 0, end = num;
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (compare_keys(&keys[middle], &wanted) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < num && compare_keys(&keys[begin], &wanted) == 0 ? keys[begin].index : -1;
}

static int find_mode(const char* name)
{
    static const char* const names[] = {
        [TREE_LEQ] = "BRANCH_LEQ", [TREE_LT] = "BRANCH_LT", [TREE_GTE] = "BRANCH_GTE",
        [TREE_GT] = "BRANCH_GT",   [TREE_EQ] = "BRANCH_EQ", [TREE_NEQ] = "BRANCH_NEQ",
        [TREE_MEMBER] = "",        [TREE_LEAF] = "LEAF"};
    for (int i = 0; i <= TREE_LEAF; ++i)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static int check_node_lists(const struct node* node, const struct tree_param* param,
                            const struct numbers* values)
{
    const int num = param->nodes_nodeids.num;
    if (num == 0 || param->nodes_modes.num != num)
        return fail_node(node, TENGINE_EINVAL, "nodes_modes has %d values for %d nodes",
                         param->nodes_modes.num, num);
    TENGINE_RETURN_IF_ERROR(require_ints(node, "nodes_treeids", &param->nodes_treeids, num));
    TENGINE_RETURN_IF_ERROR(require_ints(node, "nodes_featureids", &param->nodes_featureids, num));
    TENGINE_RETURN_IF_ERROR(
        require_ints(node, "nodes_truenodeids", &param->nodes_truenodeids, num));
    TENGINE_RETURN_IF_ERROR(
        require_ints(node, "nodes_falsenodeids", &param->nodes_falsenodeids, num));
    if (param->nodes_missing_value_tracks_true.num > 0)
        TENGINE_RETURN_IF_ERROR(require_ints(node, "nodes_missing_value_tracks_true",
                                             &param->nodes_missing_value_tracks_true, num));
    return require_numbers(node, values, num);
}

static int find_branch(const struct node* node, const struct tree_param* param, int index,
                       const char* name, const struct op_ints* list, const struct key* keys,
                       int* out_index)
{
    const int64_t tree = param->nodes_treeids.values[index];
    *out_index = find_key(keys, param->nodes_nodeids.num, tree, list->values[index]);
    if (*out_index >= 0) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s[%d] is %lld, which tree %lld does not have", name,
                     index, (long long)list->values[index], (long long)tree);
}

static int fill_node(const struct node* node, const struct tree_param* param, int index,
                     int feature_num, const struct numbers* values, const struct key* keys,
                     struct tree_node* to)
{
    const struct op_ints* missing = &param->nodes_missing_value_tracks_true;
    to->mode = find_mode(param->nodes_modes.values[index]);
    if (to->mode < 0 || to->mode == TREE_MEMBER)
        return fail_node(node, TENGINE_EINVAL, "nodes_modes[%d] is '%s', expected BRANCH_LEQ, ...",
                         index, param->nodes_modes.values[index]);
    if (to->mode == TREE_LEAF) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(require_range(node, "nodes_featureids", index,
                                          param->nodes_featureids.values[index], feature_num));
    to->feature = (int)param->nodes_featureids.values[index];
    to->value = number_at(values, index);
    to->missing_tracks_true = missing->num > 0 && missing->values[index] != 0;
    TENGINE_RETURN_IF_ERROR(find_branch(node, param, index, "nodes_truenodeids",
                                        &param->nodes_truenodeids, keys, &to->yes));
    return find_branch(node, param, index, "nodes_falsenodeids", &param->nodes_falsenodeids, keys,
                       &to->no);
}

// The attributes that contain the weights.
struct weight_lists
{
    const struct op_ints* trees;
    const struct op_ints* numbers;
    const struct op_ints* targets;
    struct numbers weights;
    int target_num;
};

static struct weight_lists choose_weights(const struct tree_param* p)
{
    if (p->target_ids.num > 0 || p->class_ids.num == 0)
        return (struct weight_lists){
            &p->target_treeids,
            &p->target_nodeids,
            &p->target_ids,
            {"target_weights", &p->target_weights, &p->target_weights_as_tensor},
            p->n_targets};
    return (struct weight_lists){&p->class_treeids,
                                 &p->class_nodeids,
                                 &p->class_ids,
                                 {"class_weights", &p->class_weights, &p->class_weights_as_tensor},
                                 get_tree_label_num(p)};
}

// Copies the weights of the leaves, in the order of the lists; weights of branches are ignored.
static int fill_weights(const struct node* node, const struct weight_lists* lists,
                        const struct key* keys, struct tree_table* table)
{
    const int num = lists->targets->num;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0, first = 0; pass == 1 && i < table->node_num; ++i) {
            table->nodes[i].first = first;
            first += table->nodes[i].num;
            table->nodes[i].num = 0;
        }
        for (int i = 0; i < num; ++i) {
            const int place =
                find_key(keys, table->node_num, lists->trees->values[i], lists->numbers->values[i]);
            if (place < 0)
                return fail_node(node, TENGINE_EINVAL,
                                 "weight %d is for node %lld of tree %lld, which does not exist", i,
                                 (long long)lists->numbers->values[i],
                                 (long long)lists->trees->values[i]);
            TENGINE_RETURN_IF_ERROR(require_range(node, "the target of weight", i,
                                                  lists->targets->values[i], lists->target_num));
            struct tree_node* leaf = &table->nodes[place];
            if (leaf->mode != TREE_LEAF) continue;
            if (pass == 1)
                table->weights[leaf->first + leaf->num] = (struct tree_weight){
                    (int)lists->targets->values[i], number_at(&lists->weights, i)};
            ++leaf->num;
        }
    }
    return TENGINE_OK;
}

static int sort_keys(const struct node* node, const struct tree_param* param, struct key* keys)
{
    const int num = param->nodes_nodeids.num;
    for (int i = 0; i < num; ++i)
        keys[i] = (struct key){param->nodes_treeids.values[i], param->nodes_nodeids.values[i], i};
    sort_items(keys, (size_t)num, sizeof(*keys), compare_keys);
    for (int i = 1; i < num; ++i)
        if (compare_keys(&keys[i - 1], &keys[i]) == 0)
            return fail_node(node, TENGINE_EINVAL, "tree %lld has node %lld twice",
                             (long long)keys[i].tree, (long long)keys[i].number);
    return TENGINE_OK;
}

// Marks the first node of each tree in `firsts`, which has an element for each node.
static void find_roots(const struct key* keys, int num, struct tree_table* table,
                       unsigned char* firsts)
{
    for (int begin = 0, end; begin < num; begin = end) {
        int first = keys[begin].index;
        for (end = begin; end < num && keys[end].tree == keys[begin].tree; ++end)
            if (keys[end].index < first) first = keys[end].index;
        firsts[first] = 1;
    }
    for (int i = 0; i < num; ++i)
        if (firsts[i]) table->roots[table->root_num++] = i;
}

static int fill_table(const struct node* node, int feature_num, const struct numbers* values,
                      struct key* keys, unsigned char* firsts, struct tree_table* table)
{
    const struct tree_param* param = node->op.param_mem;
    const struct weight_lists lists = choose_weights(param);
    const int num = lists.targets->num;
    TENGINE_RETURN_IF_ERROR(require_ints(node, "the trees of weights", lists.trees, num));
    TENGINE_RETURN_IF_ERROR(require_ints(node, "the nodes of weights", lists.numbers, num));
    TENGINE_RETURN_IF_ERROR(require_numbers(node, &lists.weights, num));
    TENGINE_RETURN_IF_ERROR(sort_keys(node, param, keys));
    for (int i = 0; i < table->node_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            fill_node(node, param, i, feature_num, values, keys, &table->nodes[i]));
    find_roots(keys, table->node_num, table, firsts);
    table->target_num = lists.target_num;
    table->is_double = is_tensor(values) && values->tensor->data_type == TENGINE_DT_FP64;
    TENGINE_RETURN_IF_ERROR(fill_weights(node, &lists, keys, table));
    return check_circles(node, table);
}

int make_tree_table(const struct node* node, int feature_num, struct tree_table* out_table)
{
    const struct tree_param* param = node->op.param_mem;
    const struct numbers values = {"nodes_values", &param->nodes_values,
                                   &param->nodes_values_as_tensor};
    const int num = param->nodes_nodeids.num;
    memset(out_table, 0, sizeof(*out_table));
    TENGINE_RETURN_IF_ERROR(check_node_lists(node, param, &values));
    struct key* keys = alloc_memory64((uint64_t)num * sizeof(*keys));
    unsigned char* firsts = alloc_memory64((uint64_t)num);
    int status = keys && firsts ? TENGINE_OK : no_memory(node);
    if (status == TENGINE_OK)
        status = allocate_table(node, num, num, choose_weights(param).targets->num, out_table);
    if (status == TENGINE_OK)
        status = fill_table(node, feature_num, &values, keys, firsts, out_table);
    free_memory(keys);
    free_memory(firsts);
    if (status != TENGINE_OK) release_tree_table(out_table);
    return status;
}

// ---- TreeEnsemble ----

static int check_ensemble_lists(const struct node* node, const struct tree_ensemble_param* param)
{
    const int num = param->nodes_featureids.num;
    const int leaves = param->leaf_targetids.num;
    const struct numbers splits = {"nodes_splits", NULL, &param->nodes_splits};
    const struct numbers weights = {"leaf_weights", NULL, &param->leaf_weights};
    TENGINE_RETURN_IF_ERROR(require_numbers(node, &splits, num));
    TENGINE_RETURN_IF_ERROR(require_numbers(node, &weights, leaves));
    if (param->nodes_modes.data_type != TENGINE_DT_UINT8 || param->nodes_modes.size != (size_t)num)
        return fail_node(node, TENGINE_EINVAL, "nodes_modes must be %d values of uint8", num);
    TENGINE_RETURN_IF_ERROR(
        require_ints(node, "nodes_truenodeids", &param->nodes_truenodeids, num));
    TENGINE_RETURN_IF_ERROR(
        require_ints(node, "nodes_falsenodeids", &param->nodes_falsenodeids, num));
    TENGINE_RETURN_IF_ERROR(require_ints(node, "nodes_trueleafs", &param->nodes_trueleafs, num));
    TENGINE_RETURN_IF_ERROR(require_ints(node, "nodes_falseleafs", &param->nodes_falseleafs, num));
    if (param->nodes_missing_value_tracks_true.num > 0)
        TENGINE_RETURN_IF_ERROR(require_ints(node, "nodes_missing_value_tracks_true",
                                             &param->nodes_missing_value_tracks_true, num));
    for (int i = 0; i < param->tree_roots.num; ++i)
        TENGINE_RETURN_IF_ERROR(
            require_range(node, "tree_roots", i, param->tree_roots.values[i], num));
    return TENGINE_OK;
}

static int find_ensemble_branch(const struct node* node, int index, const char* name,
                                const struct op_ints* ids, const struct op_ints* leaf_flags,
                                const struct tree_ensemble_param* param, int* out_index)
{
    const bool is_leaf = leaf_flags->values[index] != 0;
    const int nodes = param->nodes_featureids.num;
    const int end = is_leaf ? param->leaf_targetids.num : nodes;
    TENGINE_RETURN_IF_ERROR(require_range(node, name, index, ids->values[index], end));
    *out_index = (int)ids->values[index] + (is_leaf ? nodes : 0);
    return TENGINE_OK;
}

static int fill_ensemble_node(const struct node* node, int index, int feature_num,
                              struct tree_node* to)
{
    const struct tree_ensemble_param* param = node->op.param_mem;
    const struct op_ints* missing = &param->nodes_missing_value_tracks_true;
    const struct numbers splits = {"nodes_splits", NULL, &param->nodes_splits};
    to->mode = ((const uint8_t*)param->nodes_modes.data)[index];
    TENGINE_RETURN_IF_ERROR(require_range(node, "nodes_modes", index, to->mode, TREE_LEAF));
    TENGINE_RETURN_IF_ERROR(require_range(node, "nodes_featureids", index,
                                          param->nodes_featureids.values[index], feature_num));
    to->feature = (int)param->nodes_featureids.values[index];
    to->value = number_at(&splits, index);
    to->missing_tracks_true = missing->num > 0 && missing->values[index] != 0;
    TENGINE_RETURN_IF_ERROR(find_ensemble_branch(node, index, "nodes_truenodeids",
                                                 &param->nodes_truenodeids, &param->nodes_trueleafs,
                                                 param, &to->yes));
    return find_ensemble_branch(node, index, "nodes_falsenodeids", &param->nodes_falsenodeids,
                                &param->nodes_falseleafs, param, &to->no);
}

// Sets follow each other in the order of the nodes, with a NaN after each.
static int fill_members(const struct node* node, struct tree_table* table)
{
    const struct tree_ensemble_param* param = node->op.param_mem;
    const struct numbers list = {"membership_values", NULL, &param->membership_values};
    const int64_t num = count_numbers(&list);
    TENGINE_RETURN_IF_ERROR(require_numbers(node, &list, num));
    table->members = alloc_memory64((uint64_t)num * sizeof(*table->members));
    if (!table->members) return no_memory(node);
    for (int64_t i = 0; i < num; ++i)
        table->members[i] = number_at(&list, i);
    int64_t next = 0;
    for (int i = 0; i < param->nodes_featureids.num; ++i) {
        struct tree_node* branch = &table->nodes[i];
        if (branch->mode != TREE_MEMBER) continue;
        if (next >= num)
            return fail_node(node, TENGINE_EINVAL, "membership_values has no set for node %d", i);
        branch->first = (int)next;
        while (next < num && !isnan(table->members[next]))
            ++next;
        branch->num = (int)next - branch->first;
        ++next;
    }
    return TENGINE_OK;
}

static int fill_ensemble(const struct node* node, int feature_num, struct tree_table* table)
{
    const struct tree_ensemble_param* param = node->op.param_mem;
    const struct numbers weights = {"leaf_weights", NULL, &param->leaf_weights};
    const int nodes = param->nodes_featureids.num;
    for (int i = 0; i < nodes; ++i)
        TENGINE_RETURN_IF_ERROR(fill_ensemble_node(node, i, feature_num, &table->nodes[i]));
    for (int i = 0; i < param->leaf_targetids.num; ++i) {
        const int64_t target = param->leaf_targetids.values[i];
        TENGINE_RETURN_IF_ERROR(require_range(node, "leaf_targetids", i, target, param->n_targets));
        table->nodes[nodes + i] = (struct tree_node){.mode = TREE_LEAF, .first = i, .num = 1};
        table->weights[i] = (struct tree_weight){(int)target, number_at(&weights, i)};
    }
    for (int i = 0; i < param->tree_roots.num; ++i)
        table->roots[table->root_num++] = (int)param->tree_roots.values[i];
    table->target_num = param->n_targets;
    table->is_double = param->nodes_splits.data_type == TENGINE_DT_FP64;
    TENGINE_RETURN_IF_ERROR(fill_members(node, table));
    return check_circles(node, table);
}

int make_tree_ensemble_table(const struct node* node, int feature_num, struct tree_table* out_table)
{
    const struct tree_ensemble_param* param = node->op.param_mem;
    const int64_t nodes = (int64_t)param->nodes_featureids.num + param->leaf_targetids.num;
    memset(out_table, 0, sizeof(*out_table));
    TENGINE_RETURN_IF_ERROR(check_ensemble_lists(node, param));
    if (nodes > INT_MAX)
        return fail_node(node, TENGINE_ELIMIT, "%lld nodes and leaves", (long long)nodes);
    int status =
        allocate_table(node, nodes, param->tree_roots.num, param->leaf_targetids.num, out_table);
    if (status == TENGINE_OK) status = fill_ensemble(node, feature_num, out_table);
    if (status != TENGINE_OK) release_tree_table(out_table);
    return status;
}
