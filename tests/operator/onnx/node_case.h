// SPDX-License-Identifier: Apache-2.0
// One node on constant inputs, whose values follow the formula with which results of ONNX Runtime
// were recorded.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {

// Returns `number` values in eighths from -11 to 11, which every float type represents; `seed`
// changes them.
inline std::vector<float> make_pattern(size_t number, int seed)
{
    std::vector<float> values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] = static_cast<float>(
                        static_cast<int>((i * 37 + static_cast<size_t>(seed) * 101) % 23) - 11) /
                    8;
    return values;
}

class NodeCase
{
  public:
    explicit NodeCase(std::string op) : op_(std::move(op)) {}

    template <class T = float>
    NodeCase& values(const std::vector<int>& dims, const std::vector<T>& values)
    {
        const std::string name = "i" + std::to_string(inputs_.size());
        graph_->input(name, dims, values);
        inputs_.push_back(name);
        return *this;
    }
    template <class T = float>
    NodeCase& pattern(const std::vector<int>& dims, int seed)
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        const std::vector<float> floats = make_pattern(number, seed);
        return values<T>(dims, std::vector<T>(floats.begin(), floats.end()));
    }
    NodeCase& bools(const std::vector<int>& dims, const std::vector<uint8_t>& values)
    {
        const std::string name = "i" + std::to_string(inputs_.size());
        graph_->bools(name, dims, values);
        inputs_.push_back(name);
        return *this;
    }
    NodeCase& absent()
    {
        inputs_.push_back("");
        return *this;
    }
    NodeCase& number(const char* name, int value)
    {
        attributes_.push_back([=](node* made) { return set_node_int(made, name, value); });
        return *this;
    }
    NodeCase& real(const char* name, float value)
    {
        attributes_.push_back([=](node* made) { return set_node_float(made, name, value); });
        return *this;
    }
    NodeCase& text(const char* name, const std::string& value)
    {
        attributes_.push_back(
            [=](node* made) { return set_node_text(made, name, value.data(), value.size()); });
        return *this;
    }
    NodeCase& list(const char* name, const std::vector<int64_t>& values)
    {
        attributes_.push_back([=](node* made) {
            return set_node_ints(made, name, values.data(), static_cast<int>(values.size()));
        });
        return *this;
    }
    NodeCase& reals(const char* name, const std::vector<float>& values)
    {
        attributes_.push_back([=](node* made) {
            return set_node_floats(made, name, values.data(), static_cast<int>(values.size()));
        });
        return *this;
    }
    NodeCase& outputs(std::vector<std::string> names)
    {
        outputs_ = std::move(names);
        return *this;
    }

    // Returns the output `name`, as ConstantGraph evaluates it.
    const tensor* evaluate(const std::string& name = "y")
    {
        add();
        return graph_->evaluate(name);
    }
    void expect_failure(int code, const std::string& part)
    {
        add();
        graph_->expect_failure(code, part);
    }
    // Expects numbers within `tolerance` of the recorded ones.
    void expect(const std::vector<float>& wanted, float tolerance, const std::string& name = "y")
    {
        const std::vector<float> numbers = numbers_of(evaluate(name));
        ASSERT_EQ(numbers.size(), wanted.size()) << op_;
        for (size_t i = 0; i < wanted.size(); ++i)
            EXPECT_NEAR(numbers[i], wanted[i], tolerance) << op_ << ", element " << i;
    }

  private:
    void add()
    {
        if (is_added_) return;
        is_added_ = true;
        node* made = graph_->add(op_, inputs_, outputs_);
        for (const auto& attribute : attributes_)
            EXPECT_EQ(attribute(made), TENGINE_OK) << tengine_error_message();
    }

    const std::string op_;
    std::unique_ptr<ConstantGraph> graph_ = std::make_unique<ConstantGraph>();
    std::vector<std::string> inputs_;
    std::vector<std::string> outputs_ = {"y"};
    std::vector<std::function<int(node*)>> attributes_;
    bool is_added_ = false;
};

}  // namespace tengine::test
