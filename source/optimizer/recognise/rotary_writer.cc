// SPDX-License-Identifier: Apache-2.0
#include "optimizer/recognise/rotary_writer.h"

#include <algorithm>
#include <cstring>

#include "optimizer/pass.h"

namespace tengine {
namespace {

int table_width(const tensor& table)
{
    return table.dims[table.dim_num - 1];
}

bool has_dims(const tensor& value, const Vector<int>& dims)
{
    return std::equal(dims.begin(), dims.end(), value.dims, value.dims + value.dim_num);
}

}  // namespace

void RotaryWriter::draft(const Match& match, NodeDraft* draft)
{
    const RotaryShape shape = shape_of(match);
    tensor* x = match.operands[kOperandX];
    if (is_reshaped(match)) x = reshape(x, {shape.batch, shape.sequence, shape.heads * shape.size});
    draft->inputs = {x};
    for (const PatternOperand operand : {kOperandCosines, kOperandSines})
        draft->inputs.push_back(make_table(*match.operands[operand], shape, match.is_interleaved));
    draft->ints = {{"interleaved", match.is_interleaved}};
    if (!shape.has_heads_first) draft->ints.push_back({"num_heads", shape.heads});
}

bool RotaryWriter::is_reshaped(const Match& match)
{
    return !shape_of(match).has_heads_first && match.operands[kOperandX]->dim_num == 4;
}

NodeDraft RotaryWriter::draft_reshape(const Match& match, tensor* rotated)
{
    const tensor& result = *get_ir_node_output(&match.last(), 0);
    const Vector<int64_t> dims(result.dims, result.dims + result.dim_num);
    return {"",
            "Reshape",
            match.last().name,
            match.last().core->source_index,
            {rotated, rewriter_.add_list(String(result.name) + "_shape", dims)},
            {String(result.name) + "_heads"}};
}

RotaryShape RotaryWriter::shape_of(const Match& match)
{
    RotaryShape shape = {};
    const auto operand = [&](int i) -> const tensor& { return *match.operands[i]; };
    find_rotary_shape(operand(kOperandX), operand(kOperandCosines), operand(kOperandSines), &shape);
    return shape;
}

tensor* RotaryWriter::make_table(tensor& origin, const RotaryShape& shape, bool is_interleaved)
{
    const Vector<int> dims = {shape.batch, shape.sequence, shape.size / 2};
    if (has_dims(origin, dims)) return &origin;
    for (const Table& table : tables_)
        if (table.origin == &origin && table.is_interleaved == is_interleaved && table.dims == dims)
            return table.made;
    tensor* made = is_constant(&origin) ? cut_constant(origin, dims, is_interleaved)
                                        : cut(origin, dims, is_interleaved);
    tables_.push_back({&origin, is_interleaved, dims, made});
    return made;
}

// Batches that share their rows get copies.
tensor* RotaryWriter::cut_constant(const tensor& origin, const Vector<int>& dims,
                                   bool is_interleaved)
{
    const size_t size = origin.elem_size, half = static_cast<size_t>(dims[2]);
    const size_t width = static_cast<size_t>(table_width(origin));
    const size_t step = is_interleaved && width != half ? 2 : 1;
    const size_t rows = static_cast<size_t>(dims[0]) * static_cast<size_t>(dims[1]);
    const size_t origin_rows = static_cast<size_t>(origin.elem_num) / width;
    Vector<unsigned char> storage;
    const unsigned char* from = read_constant(rewriter_.graph(), origin, &storage);
    Vector<unsigned char> bytes(rows * half * size);
    for (size_t i = 0; i < rows * half; ++i) {
        const size_t place = i / half % origin_rows * width + i % half * step;
        std::memcpy(bytes.data() + i * size, from + place * size, size);
    }
    return rewriter_.add_constant(String(origin.name) + "_pairs", origin.data_type, dims,
                                  bytes.data());
}

tensor* RotaryWriter::cut(tensor& origin, const Vector<int>& dims, bool is_interleaved)
{
    const String name = origin.name;
    const int width = table_width(origin);
    tensor* value = &origin;
    if (width != dims[2])
        value = add("Slice", name + "_pairs",
                    {value, rewriter_.add_list(name + "_starts", {0}),
                     rewriter_.add_list(name + "_ends", {is_interleaved ? width : dims[2]}),
                     rewriter_.add_list(name + "_axes", {-1}),
                     rewriter_.add_list(name + "_steps", {is_interleaved ? 2 : 1})});
    const int rows = static_cast<int>(origin.elem_num / width) / dims[1];
    value = reshape(value, {rows, dims[1], dims[2]});
    if (!value || rows == dims[0]) return value;
    const Vector<int64_t> list(dims.begin(), dims.end());
    return add("Expand", name + "_batch", {value, rewriter_.add_list(name + "_dims", list)});
}

tensor* RotaryWriter::reshape(tensor* value, const Vector<int>& dims)
{
    if (!value || has_dims(*value, dims)) return value;
    const Vector<int64_t> list(dims.begin(), dims.end());
    const String name = value->name;
    return add("Reshape", name + "_tokens",
               {value, rewriter_.add_list(name + "_tokens_shape", list)});
}

tensor* RotaryWriter::add(const char* op, const String& name, const Vector<tensor*>& inputs)
{
    const node* made = rewriter_.add_node({"", op, name, -1, inputs, {name}});
    return made ? get_ir_node_output(made, 0) : nullptr;
}

}  // namespace tengine
