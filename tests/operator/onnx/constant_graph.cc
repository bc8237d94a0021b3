// SPDX-License-Identifier: Apache-2.0
// See constant_graph.h.
#include "constant_graph.h"

#include "graph/string_pool.h"
#include "operator/registry.h"

namespace tengine::test {

graph* ConstantGraph::prepare(const std::string& output)
{
    builder_.outputs({output});
    destroy_ir_graph(execution_);
    tengine_error_clear();
    execution_ = make_execution_graph(builder_.get());
    return execution_;
}

const tensor* ConstantGraph::evaluate(const std::string& name)
{
    if (!prepare(name)) {
        ADD_FAILURE() << tengine_error_message();
        return nullptr;
    }
    const tensor* value = find_tensor(execution_, name);
    EXPECT_NE(value, nullptr);
    if (value && value->elem_num > 0) {
        EXPECT_NE(value->data, nullptr) << name << " is not constant";
    }
    return value;
}

void ConstantGraph::expect_failure(int code, const std::string& part)
{
    EXPECT_EQ(prepare("y"), nullptr);
    EXPECT_EQ(tengine_error_code(), code);
    const std::string sentence = tengine_error_message();
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
}

std::vector<int> dims_of(const tensor* value)
{
    if (!value) return {-1};
    return {value->dims, value->dims + value->dim_num};
}

std::vector<float> numbers_of(const tensor* value)
{
    using namespace cpu;
    using Types = TypeList<float, Half, BFloat16, double, uint8_t>;
    std::vector<float> numbers;
    if (!value) return numbers;
    const int type = value->data_type == TENGINE_DT_BOOL ? TENGINE_DT_UINT8 : value->data_type;
    const int status = dispatch_type(Types{}, type, [&](auto tag) {
        const auto* data = static_cast<const typename decltype(tag)::type*>(value->data);
        for (int64_t i = 0; i < value->elem_num; ++i)
            numbers.push_back(static_cast<float>(data[i]));
        return 0;
    });
    EXPECT_EQ(status, 0);
    return numbers;
}

void ConstantGraph::texts(const std::string& name, std::vector<int> dims,
                          const std::vector<std::string>& values)
{
    std::vector<const char*> pointers;
    for (const std::string& value : values) {
        pointers.push_back(nullptr);
        ASSERT_EQ(keep_ir_string(builder_.get(), value.data(), value.size(), &pointers.back()), 0);
    }
    builder_.constant(name, std::move(dims), pointers, TENGINE_DT_STRING);
}

std::vector<std::string> texts_of(const tensor* value)
{
    if (!value) return {};
    EXPECT_EQ(value->data_type, TENGINE_DT_STRING);
    const auto* texts = static_cast<const char* const*>(value->data);
    return {texts, texts + value->elem_num};
}

std::set<std::string> list_operators(uint32_t trait)
{
    const ConstantGraph registries;
    std::set<std::string> names;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method& row = *find_op_method_via_index(i);
        if (!(row.traits & trait)) continue;
        names.insert(row.domain ? std::string(row.domain) + "." + row.name : row.name);
    }
    return names;
}

}  // namespace tengine::test
