// SPDX-License-Identifier: Apache-2.0
// Look-up of operators, against a walk over all rows in the order of registration.
#include "operator/registry.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "module/module.h"

namespace {

std::string domain_of(const method& row)
{
    return row.domain ? row.domain : "";
}

std::string full_name_of(const method& row)
{
    return (row.domain ? domain_of(row) + "." : "") + row.name;
}

std::vector<const method*> all_rows()
{
    std::vector<const method*> rows;
    for (int i = 0; i < get_op_method_count(); ++i)
        rows.push_back(find_op_method_via_index(i));
    return rows;
}

// Returns the first row of the operator that applies to `version`; 0: of those with the highest
// first version, the first.
const method* walk(const method& operator_row, int version)
{
    const method* newest = nullptr;
    for (const method* row : all_rows()) {
        if (full_name_of(*row) != full_name_of(operator_row)) continue;
        const int until = row->until ? row->until : NEWEST_KNOWN_OPSET;
        if (version > 0 && row->version <= version && version <= until) return row;
        if (!newest || row->version > newest->version) newest = row;
    }
    return version > 0 ? nullptr : newest;
}

class OperatorRegistryTest : public testing::Test
{
  protected:
    void SetUp() override { ASSERT_EQ(init_modules(), TENGINE_OK) << tengine_error_message(); }
};

TEST_F(OperatorRegistryTest, EveryRowIsFound)
{
    ASSERT_GT(get_op_method_count(), 100);
    for (const method* row : all_rows()) {
        const int type = get_op_type(row->domain, row->name);
        ASSERT_GE(type, 0) << full_name_of(*row);
        EXPECT_EQ(get_op_type_by_name(full_name_of(*row).c_str()), type) << full_name_of(*row);
        EXPECT_STREQ(find_op_name(type), row->name);
        for (int version = 0; version <= NEWEST_KNOWN_OPSET + 1; ++version)
            EXPECT_EQ(find_op_method(type, version), walk(*row, version))
                << full_name_of(*row) << " " << version;
    }
}

TEST_F(OperatorRegistryTest, TypesTellOperatorsApart)
{
    std::set<std::string> names;
    std::set<int> types;
    for (const method* row : all_rows()) {
        names.insert(full_name_of(*row));
        types.insert(get_op_type(row->domain, row->name));
    }
    EXPECT_EQ(types.size(), names.size());
}

TEST_F(OperatorRegistryTest, WhatIsAlmostANameIsNone)
{
    for (const char* name :
         {"", ".", "Con", "Convx", "conv", "zzz", "tengine", "tengine.", "tengine.Con", ".Conv",
          "Conv.", "onnx.Conv", "com.microsoft", "com.microsoft.Conv", "ai.onnx.", "ai.onnx.Con"})
        EXPECT_EQ(get_op_type_by_name(name), -1) << name;
    EXPECT_EQ(get_op_type_by_name("ai.onnx.Conv"), get_op_type("", "Conv"));
    EXPECT_EQ(get_op_type(nullptr, "Conv"), get_op_type("", "Conv"));
    EXPECT_EQ(get_op_type("com", "microsoft.QGemm"), -1) << "another domain";
    EXPECT_EQ(get_op_type("", "com.microsoft.QGemm"), -1);
    for (int type : {-1, 1 << 30}) {
        EXPECT_EQ(find_op_name(type), nullptr);
        EXPECT_EQ(find_op_method(type, 0), nullptr);
    }
}

// Rows may be registered in any order, and all end with the registry.
TEST_F(OperatorRegistryTest, RowsComeInAnyOrder)
{
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i)
        names.push_back("Made" + std::to_string(i));
    std::vector<method> rows;
    for (const std::string& name : names)
        for (const int version : {13, 1}) {
            method row = {};
            row.name = name.c_str();
            row.domain = "test.registry";
            row.version = version;
            row.until = version == 1 ? 12 : 0;
            rows.push_back(row);
        }
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::mt19937 random(6);
    const int conv = get_op_type("", "Conv");
    for (int round = 0; round < 12; ++round) {
        const int count = get_op_method_count();
        std::shuffle(order.begin(), order.end(), random);
        std::vector<bool> is_there(rows.size(), false);
        for (const size_t index : order) {
            const method& row = rows[index];
            ASSERT_EQ(register_op(-1, row.name, &row), TENGINE_OK) << tengine_error_message();
            is_there[index] = true;
            const int type = get_op_type(row.domain, row.name);
            for (const size_t i : {index, index ^ 1})
                ASSERT_EQ(find_op_method(type, rows[i].version), is_there[i] ? &rows[i] : nullptr);
        }
        EXPECT_EQ(get_op_method_count() - count, static_cast<int>(rows.size()));
        EXPECT_EQ(get_op_type("", "Conv"), conv);
        release_modules();
        ASSERT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(get_op_type("test.registry", rows[0].name), -1);
    }
}

}  // namespace
