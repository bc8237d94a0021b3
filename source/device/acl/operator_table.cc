// SPDX-License-Identifier: Apache-2.0
#include "device/acl/operator_table.h"

#include <cstring>

namespace tengine::acl {
namespace {

// "com.microsoft.QGemm" is the operator QGemm of the domain com.microsoft.
bool is_operator(const char* name, const node& node)
{
    const char* op = get_ir_node_op(&node);
    const char* domain = get_ir_node_domain(&node);
    if (!*domain) return std::strcmp(name, op) == 0;
    return std::string(name) == std::string(domain) + "." + op;
}

// Calls body(row) for every row of every table, until it returns true.
template <class Body>
const Operator* find_row(const Body& body)
{
    for (int t = 0; t < operator_table_num; ++t)
        for (size_t i = 0; i < operator_tables[t]->row_num; ++i)
            if (body(operator_tables[t]->rows[i])) return &operator_tables[t]->rows[i];
    return nullptr;
}

}  // namespace

std::vector<const char*> list_operators()
{
    std::vector<const char*> names;
    find_row([&](const Operator& row) {
        for (const char* known : names)
            if (std::strcmp(known, row.name) == 0) return false;
        names.push_back(row.name);
        return false;
    });
    return names;
}

bool build_node(Builder& builder)
{
    const tensor* input = builder.source(0);
    const int type = input ? input->data_type : TENGINE_DT_FP32;
    const Operator* row = find_row([&](const Operator& candidate) {
        return (candidate.types >> type & 1U) != 0 && is_operator(candidate.name, builder.of());
    });
    if (row) return builder.check_shapes() && row->build(builder);
    const char* name = get_data_type_name(type);
    return builder.refuse(IR_REASON_DATA_TYPE, input ? input->name : "", name,
                          "ACL does not support %s of %s here", get_ir_node_op(&builder.of()),
                          name);
}

void judge_node(const node& node, const Settings& settings, ir_verdict_t* verdict)
{
    Plan question;
    Builder builder(node, settings, nullptr, &question, verdict);
    if (build_node(builder)) builder.finish();
}

}  // namespace tengine::acl
