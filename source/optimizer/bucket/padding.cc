// SPDX-License-Identifier: Apache-2.0
// Whether padding is exact: walks the execution graphs of a bucket and of a request together,
// from the outputs to the inputs, and lets the rules judge the nodes in the order of a run. Nothing
// is assumed about the way in which shapes follow from each other, since both graphs have them:
// whatever differs beside them, such as a constant, must be covered by a rule.
#include <cstring>
#include <memory>
#include <utility>

#include "base/guard.hpp"
#include "base/maps.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/late_constant.h"
#include "operator/operator.h"
#include "operator/param.h"
#include "optimizer/bucket/step.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

String name_of(const tensor& value)
{
    return String("'") + value.name + "'";
}

// ---- constants ----

// Whether the elements of `part` are those of the same indices in `whole`.
bool is_corner(const tensor& whole, const tensor& part)
{
    const int rank = whole.dim_num;
    const size_t size = whole.elem_size;
    if (rank == 0) return std::memcmp(whole.data, part.data, size) == 0;
    const auto row = static_cast<size_t>(part.dims[rank - 1]) * size;
    int index[MAX_SHAPE_DIM_NUM] = {};
    for (const char* at = static_cast<const char*>(part.data);;) {
        size_t place = 0;
        for (int i = 0; i < rank; ++i)
            place = place * static_cast<size_t>(whole.dims[i]) + static_cast<size_t>(index[i]);
        if (std::memcmp(static_cast<const char*>(whole.data) + place * size, at, row) != 0)
            return false;
        at += row;
        int axis = rank - 2;
        for (; axis >= 0 && ++index[axis] == part.dims[axis]; --axis)
            index[axis] = 0;
        if (axis < 0) return true;
    }
}

bool has_equal_bytes(const tensor& a, const tensor& b)
{
    return get_ir_tensor_bytes(&a) == get_ir_tensor_bytes(&b) &&
           std::memcmp(a.data, b.data, get_ir_tensor_bytes(&a)) == 0;
}

bool holds_for_constants(const Pair& pair)
{
    const tensor &a = *pair.bucket, &b = *pair.request;
    if (a.elem_num == 0 || find_ir_constant_place(&a) == find_ir_constant_place(&b))
        return !pair.differs();
    if (!a.data || !b.data || b.elem_num == 0) return false;
    if (a.data_type == TENGINE_DT_STRING) return false;
    if (!pair.differs()) return has_equal_bytes(a, b);
    return get_data_type_bits(a.data_type) >= 8 && is_corner(a, b);
}

// ---- pairs ----

bool is_comparable(const tensor& a, const tensor& b)
{
    if (a.data_type != b.data_type || a.dim_num != b.dim_num) return false;
    if (!is_ir_tensor_shape_known(&a) || !is_ir_tensor_shape_known(&b)) return false;
    for (int i = 0; i < a.dim_num; ++i)
        if (a.dims[i] < b.dims[i]) return false;
    return true;
}

// Whether padding of such an input is zeros; bytes may be quantised.
bool is_plain(int data_type)
{
    return data_type == TENGINE_DT_FP32 || data_type == TENGINE_DT_INT64 ||
           data_type == TENGINE_DT_INT32;
}

int find_input(const graph& execution, const tensor& value)
{
    for (int i = 0; i < execution.input_tensor_num; ++i)
        if (execution.input_tensors[i] == value.index) return i;
    return -1;
}

int find_output(const node& node, const tensor& value)
{
    int place = 0;
    while (place < node.output_num && node.output_tensors[place] != value.index)
        ++place;
    return place;
}

// The only output of the node, if it is one of those that passes leave out where input and output
// have the same shape.
const node* find_shape_node(const graph& execution, const tensor& value)
{
    const node* writer = get_ir_graph_node(&execution, value.producer);
    const bool is_plain = is_op(writer, "Reshape") || is_op(writer, "Flatten") ||
                          is_op(writer, "Expand") || is_op(writer, "Identity");
    return is_plain ? writer : nullptr;
}

class Comparison
{
  public:
    Comparison(const graph& bucket, const graph& request) : bucket_(bucket), request_(request) {}

    // "" if padding is exact.
    String judge()
    {
        for (int i = 0; i < request_.output_tensor_num; ++i) {
            const Pair* output = visit({bucket_.output_tensors[i], request_.output_tensors[i]});
            if (!output->fault.empty()) return output->fault;
        }
        return "";
    }

  private:
    using Key = std::pair<int32_t, int32_t>;

    struct Entry
    {
        Pair pair;
        Step step;
        Vector<Key> reads;  // the pairs of the step's inputs; {-1, -1}: absent
        bool is_open = false;
        bool is_judged = false;
    };

    const tensor& bucket_tensor(const Key& key) const { return *bucket_.tensor_list[key.first]; }
    const tensor& request_tensor(const Key& key) const { return *request_.tensor_list[key.second]; }

    Entry& find(const Key& key)
    {
        Entry& entry = entries_[key];
        if (!entry.pair.bucket) {
            entry.pair.bucket = &bucket_tensor(key);
            entry.pair.request = &request_tensor(key);
        }
        return entry;
    }

    // Judges a pair after all that it depends on. A stack of our own, since graphs may be deep.
    const Pair* visit(const Key& wanted)
    {
        Vector<Key> stack{wanted};
        while (!stack.empty()) {
            Entry& entry = find(stack.back());
            if (!entry.is_judged && !entry.is_open) {
                entry.is_open = true;
                open(entry);
                for (const Key& key : entry.reads)
                    if (key.first >= 0 && !find(key).is_judged) stack.push_back(key);
                continue;
            }
            if (!entry.is_judged) close(entry);
            stack.pop_back();
        }
        return &find(wanted).pair;
    }

    // Finds what the pair depends on. A fault that is already known makes it depend on nothing.
    void open(Entry& entry)
    {
        Pair& pair = entry.pair;
        if (!is_comparable(*pair.bucket, *pair.request)) return open_differing(entry);
        const int place = find_input(bucket_, *pair.bucket);
        if (place >= 0 || find_input(request_, *pair.request) >= 0) return open_input(entry, place);
        if (is_constant(pair.bucket) && is_constant(pair.request)) return open_constants(pair);
        const node* one = get_ir_graph_node(&bucket_, pair.bucket->producer);
        const node* other = get_ir_graph_node(&request_, pair.request->producer);
        if (one && other && has_same_op_param(&one->op, &other->op) &&
            find_output(*one, *pair.bucket) == find_output(*other, *pair.request))
            return open_nodes(entry, *one, *other);
        open_shape_node(entry);
    }

    void open_input(Entry& entry, int place)
    {
        if (place >= 0 && place == find_input(request_, *entry.pair.request))
            entry.pair.is_safe = is_plain(entry.pair.bucket->data_type);
        else
            open_shape_node(entry);
    }

    static void open_constants(Pair& pair)
    {
        pair.is_safe = !pair.differs();
        if (!holds_for_constants(pair))
            pair.fault = "the values of constant " + name_of(*pair.bucket) +
                         " depend on the shapes of inputs";
    }

    void open_nodes(Entry& entry, const node& one, const node& other)
    {
        entry.step.bucket = &one;
        entry.step.request = &other;
        if (one.input_num != other.input_num || one.output_num != other.output_num)
            return open_shape_node(entry);
        for (int i = 0; i < one.input_num; ++i) {
            const Key key{one.input_tensors[i], other.input_tensors[i]};
            if ((key.first < 0) != (key.second < 0)) return open_shape_node(entry);
            entry.reads.push_back(key);
        }
    }

    // One graph has a node that the other one leaves out, for it changes nothing there.
    void open_shape_node(Entry& entry)
    {
        const Pair& pair = entry.pair;
        entry.reads.clear();
        entry.step = {};
        if (const node* more = find_shape_node(bucket_, *pair.bucket)) {
            entry.step.bucket = more;
            entry.reads.push_back({more->input_tensors[0], pair.request->index});
        } else if (const node* less = find_shape_node(request_, *pair.request)) {
            entry.step.request = less;
            entry.reads.push_back({pair.bucket->index, less->input_tensors[0]});
        } else {
            open_differing(entry);
        }
    }

    void open_differing(Entry& entry) const
    {
        const Pair& pair = entry.pair;
        const node* writer = get_ir_graph_node(&bucket_, pair.bucket->producer);
        if (!is_ir_tensor_shape_known(pair.bucket)) {
            entry.pair.fault = "the shape of " + name_of(*pair.bucket) + " depends on data";
            return;
        }
        entry.pair.fault = "tensor " + name_of(*pair.bucket) + " of " + shape_text(*pair.bucket) +
                           " has no counterpart in the graph for the request's shapes";
        if (writer) entry.pair.fault += String(" (node '") + writer->name + "')";
    }

    void close(Entry& entry)
    {
        entry.is_judged = true;
        if (entry.reads.empty() && !entry.step.bucket) return;
        Step step = entry.step;
        for (const Key& key : entry.reads)
            step.inputs.push_back(key.first < 0 ? nullptr : &find(key).pair);
        if (!entry.step.bucket || !entry.step.request) {
            step.outputs.push_back(&entry.pair);
            return judge_step(step);
        }
        close_outputs(entry, step);
    }

    // A rule sees all outputs, of which this pair is one. The others are judged in their turn, if
    // they are needed.
    void close_outputs(Entry& entry, Step& step)
    {
        Vector<Pair> others(static_cast<size_t>(step.bucket->output_num));
        for (int i = 0; i < step.bucket->output_num; ++i) {
            const tensor* one = get_ir_node_output(step.bucket, i);
            const tensor* other = get_ir_node_output(step.request, i);
            Pair& pair = others[static_cast<size_t>(i)];
            pair.bucket = one;
            pair.request = other;
            const bool is_this = one == entry.pair.bucket && other == entry.pair.request;
            const bool is_there = one && other && is_comparable(*one, *other);
            step.outputs.push_back(is_this ? &entry.pair : is_there ? &pair : nullptr);
        }
        judge_step(step);
    }

    const graph& bucket_;
    const graph& request_;
    Map<Key, Entry> entries_;
};

String judge_outputs(const graph& bucket, const graph& request)
{
    if (bucket.output_tensor_num != request.output_tensor_num ||
        bucket.input_tensor_num != request.input_tensor_num)
        return "the graphs for both shapes have other inputs or outputs";
    return Comparison(bucket, request).judge();
}

}  // namespace
}  // namespace tengine

int judge_ir_padding(const struct graph* bucket, const struct graph* request, char out_reason[],
                     size_t capacity)
{
    return tengine::guarded(
        [&]() -> int {
            const tengine::String reason = tengine::judge_outputs(*bucket, *request);
            const size_t length = reason.size() < capacity ? reason.size() : capacity - 1;
            std::memcpy(out_reason, reason.c_str(), length);
            out_reason[length] = '\0';
            return TENGINE_OK;
        },
        "graph '%s': out of memory while comparing shapes", request->name);
}
