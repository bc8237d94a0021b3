// SPDX-License-Identifier: Apache-2.0
// The functions that declare operators. Every file operator/<stem>.cc defines the table
// <stem>_operators; CMake finds them and generates the list.
#pragma once

#include <cstddef>

#include "device/acl/builder.h"

namespace tengine::acl {

// Sets of data types: bit TENGINE_DT_*.
constexpr unsigned kFloats = 1U << TENGINE_DT_FP32 | 1U << TENGINE_DT_FP16;
constexpr unsigned kBytes = 1U << TENGINE_DT_INT8 | 1U << TENGINE_DT_UINT8;

struct Operator
{
    const char* name;  // "Conv", or with its domain "com.microsoft.QGemm"
    unsigned types;    // of input 0; an operator may have several rows
    // Declares the node's functions; false when it has refused.
    bool (*build)(Builder& builder);
};

struct OperatorTable
{
    const Operator* rows;
    size_t row_num;
};

template <size_t number>
constexpr OperatorTable make_table(const Operator (&rows)[number])
{
    return {rows, number};
}

// Generated from the files.
extern const OperatorTable* const operator_tables[];
extern const int operator_table_num;

// The names of all operators, each once.
std::vector<const char*> list_operators();

// Declares a node by the row for its type; false when there is none or it refuses.
bool build_node(Builder& builder);

// Whether ACL supports the node by itself; the verdict gives the reason.
void judge_node(const node& node, const Settings& settings, ir_verdict_t* verdict);

// The function of an activation node, for nodes that can compute it with their own.
bool read_activation(const node& node, ActivationLayerInfo* out_info);

}  // namespace tengine::acl
