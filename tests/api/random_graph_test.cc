// SPDX-License-Identifier: Apache-2.0
// Graphs of random operators, connections, types, shapes and attributes: most are invalid, and each
// has to end with a result or with a message. Most useful with the address sanitizer.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

const char* const kAttributes[] = {
    "axis",      "axes",     "perm",    "group",        "kernel_shape",
    "strides",   "pads",     "alpha",   "blocksize",    "keepdims",
    "epsilon",   "mode",     "to",      "dilations",    "ceil_mode",
    "exclusive", "equation", "transA",  "num_outputs",  "hidden_size",
    "direction", "size",     "largest", "output_shape", "batch_dims"};
const char* const kWords[] = {"SAME_UPPER", "VALID",   "linear",  "nearest", "ij,jk->ik",
                              "i->",        "reflect", "reverse", "mean",    "CRD"};

class RandomGraph
{
  public:
    explicit RandomGraph(unsigned seed) : random_(seed), same_(pick(2) == 0)
    {
        graph_ = create_graph(nullptr, nullptr, nullptr);
        for (int i = 0; i < 1 + pick(2); ++i)
            add_source("in", TENSOR_TYPE_INPUT);
        for (int i = 0; i < 1 + pick(3); ++i)
            add_source("c", TENSOR_TYPE_CONST);
        for (int i = 0; i < 1 + pick(3); ++i)
            add_operator();
        std::vector<const char*> inputs, outputs;
        for (const std::string& name : names_)
            (name.compare(0, 2, "in") == 0 ? inputs : outputs).push_back(name.c_str());
        set_borders(graph_, inputs, outputs);
    }
    ~RandomGraph() { EXPECT_EQ(destroy_graph(graph_), 0); }

    // Prepares and runs; returns whether that succeeded, and otherwise checks that there is a
    // message.
    bool run()
    {
        clr_tengine_errno();
        bool done = prerun_graph(graph_) == 0;
        for (int i = 0; done && i < tengine_graph_get_input_number(graph_); ++i)
            done = fill(tengine_graph_get_input(graph_, i));
        done = done && run_graph(graph_, 1) == 0;
        if (!done) {
            EXPECT_NE(get_tengine_errno(), 0) << operators_;
            EXPECT_STRNE(get_tengine_error(), "") << operators_;
        }
        return done;
    }

    const std::string& operators() const { return operators_; }

  private:
    int pick(int number) { return static_cast<int>(random_() % static_cast<unsigned>(number)); }
    int pick_type() { return same_ || pick(2) ? TENGINE_DT_FP32 : pick(TENGINE_DT_UINT64 + 1); }

    // Small whole numbers of the tensor's type.
    bool fill(tensor_t tensor)
    {
        std::vector<char> data(static_cast<size_t>(get_tensor_buffer_size(tensor)) + 1, 0);
        const int type = get_tensor_data_type(tensor);
        const size_t size = static_cast<size_t>(tengine_data_type_get_size(type));
        for (size_t at = 0; at + size <= data.size() - 1; at += size) {
            const int value = type == TENGINE_DT_BOOL ? pick(2) : pick(6) - 2;
            const float real = static_cast<float>(value);
            const int64_t whole = value;
            if (type == TENGINE_DT_FP32)
                std::memcpy(&data[at], &real, size);
            else if (type != TENGINE_DT_FP64)
                std::memcpy(&data[at], &whole, size);
        }
        return set_tensor_data(tensor, data.data(), static_cast<int>(data.size()) - 1) == 0;
    }

    void add_source(const std::string& prefix, int tensor_type)
    {
        const std::string name = prefix + std::to_string(tensors_.size());
        int dims[4];
        for (int& dim : dims)
            dim = same_ ? 3 : pick(5);
        const char* op = tensor_type == TENSOR_TYPE_INPUT ? "InputOp" : "Const";
        const node_t node = create_graph_node(graph_, name.c_str(), op);
        const tensor_t tensor = create_graph_tensor(graph_, name.c_str(), pick_type());
        ASSERT_EQ(set_node_output_tensor(node, 0, tensor, tensor_type), 0);
        ASSERT_EQ(set_tensor_shape(tensor, dims, same_ ? 3 : pick(5)), 0);
        ASSERT_TRUE(fill(tensor));
        tensors_.push_back(tensor);
        if (tensor_type == TENSOR_TYPE_INPUT) names_.push_back(name);
    }

    void set_attribute(node_t node, const char* name)
    {
        const int number = pick(7) - 2;
        const float real = static_cast<float>(number);
        int list[4];
        for (int& value : list)
            value = pick(6) - 1;
        const char* word = kWords[pick(std::size(kWords))];
        if (set_node_attr_int(node, name, &number) == 0) return;
        if (set_node_attr_float(node, name, &real) == 0) return;
        if (set_node_attr_generic(node, name, "int[]", list, 4 * pick(5)) == 0) return;
        set_node_attr_generic(node, name, "string", word, static_cast<int>(std::strlen(word)));
    }

    void add_operator()
    {
        static const int kInputs[] = {1, 1, 1, 2, 2, 2, 3, 4};
        const char* op = tengine_operator_get_name(pick(tengine_operator_get_number()));
        const std::string name = "n" + std::to_string(names_.size());
        const node_t node = create_graph_node(graph_, name.c_str(), op);
        for (int i = 0; i < kInputs[pick(8)]; ++i)
            if (pick(10) > 0)
                set_node_input_tensor(
                    node, i,
                    tensors_[static_cast<size_t>(pick(static_cast<int>(tensors_.size())))]);
        for (const char* attribute : kAttributes)
            if (pick(2)) set_attribute(node, attribute);
        for (int i = 0; i < 1 + pick(3) / 2; ++i) {
            const std::string tensor_name = name + "_" + std::to_string(i);
            const tensor_t tensor = create_graph_tensor(graph_, tensor_name.c_str(), pick_type());
            if (set_node_output_tensor(node, i, tensor, TENSOR_TYPE_VAR) == 0)
                tensors_.push_back(tensor);
        }
        names_.push_back(name);
        operators_ += std::string(op) + " ";
    }

    int pick(size_t number) { return pick(static_cast<int>(number)); }

    std::mt19937 random_;
    const bool same_;  // whether all tensors are alike, so that more graphs are valid
    graph_t graph_ = nullptr;
    std::vector<tensor_t> tensors_;
    std::vector<std::string> names_;  // of nodes, without constants
    std::string operators_;
};

class RandomGraphTest : public ApiTest, public testing::WithParamInterface<unsigned>
{
};

TEST_P(RandomGraphTest, EndsWithAResultOrASentence)
{
    constexpr unsigned kGraphs = 100;
    int succeeded = 0;
    for (unsigned seed = GetParam() * kGraphs; seed < (GetParam() + 1) * kGraphs; ++seed) {
        SCOPED_TRACE(seed);
        RandomGraph graph(seed);
        succeeded += graph.run();
        succeeded += graph.run();
        if (HasFailure()) FAIL() << graph.operators();
    }
    EXPECT_GT(succeeded, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphTest, testing::Range(0u, 10u));

}  // namespace
}  // namespace tengine
