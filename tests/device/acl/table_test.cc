// SPDX-License-Identifier: Apache-2.0
// The tables of docs/acl.md: TENGINE_WRITE_TABLE=1 device_acl_test --gtest_filter='AclTable.*'
// prints them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

#include "device/acl/docs_table.h"
#include "device/acl/node_case.h"
#include "tengine/device.h"

namespace tengine::acl {
namespace {

struct Found
{
    std::set<std::string> types;
    int cases = 0;
    int taken = 0;
    double error = 0;
    double bound = 0;
    double differing = 0;
    double number = 0;
};

void print(const std::map<std::string, Found>& rows, bool of_bytes)
{
    for (const auto& [op, found] : rows) {
        DocsRow row;
        for (const char* type : {"fp32", "fp16", "int8", "uint8"})
            if (found.types.count(type) != 0)
                row.types += (row.types.empty() ? "" : " ") + std::string(type);
        row.cases = std::to_string(found.cases);
        row.taken = std::to_string(found.taken);
        row.difference = format_relative(found.error);
        row.last = format_relative(found.bound);
        if (of_bytes) {
            char share[32];
            std::snprintf(share, sizeof share, "%.2f %%", 100 * found.differing / found.number);
            row.difference = std::to_string(static_cast<int>(found.error));
            row.last = found.differing == 0 ? "0" : share;
        }
        print_row(op, row);
    }
}

void add_float(const NodeCase& node_case, Found* row)
{
    const Agreement agreement = compare(node_case, TENGINE_DT_FP32);
    ++row->cases;
    if (!agreement.on_acl) return;
    ++row->taken;
    row->types.insert("fp32");
    row->error = std::max(row->error, agreement.error);
    row->bound = std::max(row->bound, agreement.bound);
    if (moves_elements(node_case.of) != moves_elements(node_case.of.op)) return;
    if (compare(node_case, TENGINE_DT_FP16).on_acl) row->types.insert("fp16");
    if (!moves_elements(node_case.of.op)) return;
    if (compare(node_case, TENGINE_DT_INT8).on_acl) row->types.insert("int8");
    if (compare(node_case, TENGINE_DT_UINT8).on_acl) row->types.insert("uint8");
}

void add_bytes(const NodeCase& node_case, Found* row)
{
    ++row->cases;
    for (const int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        if (!node_case.is_of(data_type)) continue;
        const Steps steps = compare_steps(node_case, data_type);
        if (!steps.on_acl) continue;
        row->taken += data_type == TENGINE_DT_INT8;
        row->types.insert(data_type == TENGINE_DT_INT8 ? "int8" : "uint8");
        row->error = std::max(row->error, steps.largest);
        row->differing += static_cast<double>(steps.differing);
        row->number += static_cast<double>(steps.number);
    }
}

TEST(AclTable, OfTheDocs)
{
    if (!std::getenv("TENGINE_WRITE_TABLE"))
        GTEST_SKIP() << "prints the tables of docs/acl.md when TENGINE_WRITE_TABLE is set";
    std::map<std::string, Found> floats, bytes;
    for (const NodeCase& node_case : list_cases())
        if (!node_case.pointwise) add_float(node_case, &floats[node_case.of.op]);
    for (const NodeCase& node_case : list_quantized_cases())
        add_bytes(node_case, &bytes[node_case.of.op]);
    print(floats, false);
    print(bytes, true);
}

// The operators that the device declares are those of the tables.
TEST(AclTable, HasTheOperatorsOfTheDevice)
{
    const test::IrBuilder builder;
    device* acl = find_device_via_name("ACL");
    vector* operators = create_vector(sizeof(int), nullptr);
    vector* blocked = create_vector(sizeof(int), nullptr);
    vector* types = create_vector(sizeof(int), nullptr);
    ASSERT_EQ(acl->allocator->describe(acl, operators, blocked, types), TENGINE_OK);
    std::set<std::string> offered, listed;
    for (int i = 0; i < get_vector_num(operators); ++i)
        offered.insert(find_op_name(*static_cast<int*>(get_vector_data(operators, i))));
    for (const bool of_bytes : {false, true})
        for (const auto& [op, row] : read_docs_rows(of_bytes))
            listed.insert(op.substr(op.rfind('.') + 1));
    for (vector* list : {operators, blocked, types})
        release_vector(list);
    EXPECT_EQ(listed, offered);
}

}  // namespace
}  // namespace tengine::acl
