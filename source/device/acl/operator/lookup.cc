// SPDX-License-Identifier: Apache-2.0
// Lookup: each byte is replaced by an entry of a table of 256.
#include "device/acl/operator_table.h"

#if ACL_HAS_TABLE_LOOKUP
#include <arm_compute/runtime/Lut.h>
#include <arm_compute/runtime/NEON/functions/NETableLookup.h>
#include <cstring>

#include "operator/onnx/qlinear_param.h"

namespace tengine::acl {
namespace {

using Table = std::vector<uint8_t>;

// ACL's function with its table, which is not a tensor.
class TableLookup final : public arm_compute::IFunction
{
  public:
    // NETableLookup supports all of uint8, and has no validate().
    static arm_compute::Status validate(const ITensorInfo*, const Table&, const ITensorInfo*)
    {
        return {};
    }
    void configure(ITensor* input, const Table& table, ITensor* output)
    {
        std::memcpy(lut_.buffer(), table.data(), table.size());
        function_.configure(input, &lut_, output);
    }
    void run() override { function_.run(); }

  private:
    arm_compute::Lut lut_{LOOKUP_TABLE_SIZE, DataType::U8};
    arm_compute::NETableLookup function_;
};

TensorInfo unsigned_info(const tensor& tensor)
{
    return make_info(to_acl_info(tensor).tensor_shape(), DataType::U8);
}

bool build_lookup(Builder& builder)
{
    if (!builder.require_constant(1, "table")) return false;
    const uint8_t* table = builder.source(1)->u8;
    return builder.add<TableLookup>(builder.input(0, unsigned_info(*builder.source(0))),
                                    Table(table, table + LOOKUP_TABLE_SIZE),
                                    builder.output(0, unsigned_info(*builder.target())));
}

constexpr Operator kLookupRows[] = {
    {"tengine.Lookup", kBytes, build_lookup},
};

}  // namespace

extern const OperatorTable lookup_operators;
const OperatorTable lookup_operators = make_table(kLookupRows);

}  // namespace tengine::acl
#else

namespace tengine::acl {

extern const OperatorTable lookup_operators;
const OperatorTable lookup_operators = {nullptr, 0};

}  // namespace tengine::acl
#endif
