// SPDX-License-Identifier: Apache-2.0
// Hash tables: the operators that look them up have their keys and values, in files a resource that
// another operator fills before.
#include "operator/operator.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/values.h"
#include "serializer/tflite/written_subgraph.h"

namespace tengine::tflite {

// The number of its resource among the tensors.
int32_t SubgraphWriter::add_table(const struct tensor& keys, const struct tensor& values)
{
    const Vector<int32_t> content = list_places({keys.index, values.index});
    const auto [known, is_new] = tables_.try_emplace({content[0], content[1]}, 0);
    if (!is_new) return known->second;
    known->second = add_handle(keys.name);
    const auto start = builder_.StartTable();
    builder_.AddElement(flatbuffers::FieldIndexToOffset(0), writing_.table_num++);
    builder_.AddElement(flatbuffers::FieldIndexToOffset(1),
                        static_cast<int8_t>(find_file_type(keys.data_type)));
    builder_.AddElement(flatbuffers::FieldIndexToOffset(2),
                        static_cast<int8_t>(find_file_type(values.data_type)));
    const Offset<file::Options> options(builder_.EndTable(start));
    add_operator(kHashTable, {}, {known->second}, options);
    add_operator(kHashTableImport, {known->second, content[0], content[1]}, {}, {});
    return known->second;
}

// `inputs`: those of the file after the resource; `first_operand`: the keys, before the values.
int SubgraphWriter::write_table_use(const struct node& node, int first_operand,
                                    Vector<int32_t> inputs)
{
    const struct tensor *keys = get_ir_node_input(&node, first_operand),
                        *values = get_ir_node_input(&node, first_operand + 1);
    inputs.insert(inputs.begin(), add_table(*keys, *values));
    Offset<file::Operator> record;
    TENGINE_RETURN_IF_ERROR(write_operator(
        writing_, node, inputs,
        list_places({node.output_tensors, node.output_tensors + node.output_num}), {}, &record));
    operators_.push_back(record);
    return TENGINE_OK;
}

}  // namespace tengine::tflite
