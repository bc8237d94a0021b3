// SPDX-License-Identifier: Apache-2.0
// Sparse constants. Axes are stored level by level in an order of the file's, those of blocks last.
// A level is dense, or has in a list which elements are there; the values follow in that order.
#include <cstring>

#include "graph/graph.h"
#include "serializer/tflite/values.h"

namespace tengine::tflite {
namespace {

constexpr uint32_t kMostSparseLevels = 2 * MAX_SHAPE_DIM_NUM;

struct Level
{
    bool is_dense = true;
    int64_t size = 0;    // elements along the axis, or a block's
    int64_t stride = 0;  // between them, in elements of the dense tensor
    Vector<int32_t> segments;
    Vector<int32_t> indices;
};

// The numbers of a table whose field 0 is a vector of them.
class IndexReader
{
  public:
    explicit IndexReader(Reading& reading)
        : reading_(reading),
          verifier_(reinterpret_cast<const uint8_t*>(reading.image->bytes()), reading.image->size())
    {
    }

    int read(int type, const file::Indices* indices, Vector<int32_t>* out_values)
    {
        const auto* table = reinterpret_cast<const flatbuffers::Table*>(indices);
        if (!table) return fail();
        switch (type) {
            case 1:
                return read_as<int32_t>(*table, out_values);
            case 2:
                return read_as<uint16_t>(*table, out_values);
            case 3:
                return read_as<uint8_t>(*table, out_values);
            default:
                return fail();
        }
    }

  private:
    template <class Value>
    int read_as(const flatbuffers::Table& table, Vector<int32_t>* out_values)
    {
        constexpr flatbuffers::voffset_t kPlace = 4;
        if (!table.VerifyOffset(verifier_, kPlace)) return fail();
        const auto* list = table.GetPointer<const flatbuffers::Vector<Value>*>(kPlace);
        if (!list || !verifier_.VerifyVector(list)) return fail();
        TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{list->size()} * sizeof(int32_t)));
        out_values->assign(list->begin(), list->end());
        return TENGINE_OK;
    }

    static int fail()
    {
        return tengine_error_set(TENGINE_EFORMAT, "a list of indices is not inside the file");
    }

    Reading& reading_;
    flatbuffers::Verifier verifier_;
};

class Expander
{
  public:
    Expander(Reading& reading, const struct tensor* tensor, const file::Sparsity& sparsity)
        : reading_(reading), tensor_(tensor), sparsity_(sparsity)
    {
    }

    int run(const uint8_t* values, uint64_t size, uint8_t* out_dense)
    {
        TENGINE_RETURN_IF_ERROR(read_order());
        TENGINE_RETURN_IF_ERROR(read_levels());
        uint64_t number = 0;
        TENGINE_RETURN_IF_ERROR(count_values(&number));
        if (number != size / tensor_->elem_size || size % tensor_->elem_size != 0)
            return fail("%llu bytes of values do not fit its %llu places",
                        static_cast<unsigned long long>(size),
                        static_cast<unsigned long long>(number));
        values_ = values;
        dense_ = out_dense;
        place(0, 0, 0);
        return TENGINE_OK;
    }

  private:
    int read_order();
    int read_levels();
    int read_level(const file::Dimension& record, Level* level);
    int check_segments(const Level& level, uint64_t parents) const;
    int count_values(uint64_t* out_number) const;
    void place(size_t level, int64_t parent, int64_t element);

    template <class... Arguments>
    int fail(const char* format, Arguments... arguments) const
    {
        const String fault = print_text(format, arguments...);
        return tengine_error_set(TENGINE_EFORMAT, "%s is sparse: %s", label(tensor_).c_str(),
                                 fault.c_str());
    }

    Reading& reading_;
    const struct tensor* tensor_;
    const file::Sparsity& sparsity_;
    Vector<int> order_;  // by level: the axis, then, from the rank on, the block
    Vector<int> blocked_;
    Vector<Level> levels_;
    const uint8_t* values_ = nullptr;
    uint8_t* dense_ = nullptr;
};

int Expander::read_order()
{
    const uint32_t rank = static_cast<uint32_t>(tensor_->dim_num);
    const uint32_t blocks = count(sparsity_.block_map());
    const uint32_t number = count(sparsity_.traversal_order());
    if (blocks > rank || number != rank + blocks || count(sparsity_.dimensions()) != number)
        return fail("it has %u levels in an order of %u, expected %u axes and %u blocks",
                    count(sparsity_.dimensions()), number, rank, blocks);
    uint32_t seen = 0, seen_axes = 0;
    for (uint32_t i = 0; i < number; ++i) {
        const int32_t axis = sparsity_.traversal_order()->Get(i);
        const bool is_block = i >= rank;
        if (axis < 0 || axis >= static_cast<int32_t>(number) || (seen >> axis & 1) ||
            (axis >= static_cast<int32_t>(rank)) != is_block)
            return fail("level %u is axis %d", i, axis);
        seen |= 1U << axis;
        order_.push_back(axis);
    }
    for (uint32_t i = 0; i < blocks; ++i) {
        const int32_t axis = sparsity_.block_map()->Get(i);
        if (axis < 0 || axis >= static_cast<int32_t>(rank) || (seen_axes >> axis & 1))
            return fail("block %u is of axis %d", i, axis);
        seen_axes |= 1U << axis;
        blocked_.push_back(axis);
    }
    return TENGINE_OK;
}

int Expander::read_level(const file::Dimension& record, Level* level)
{
    level->is_dense = record.format() == 0;
    if (level->is_dense)
        return record.dense_size() == level->size
                   ? TENGINE_OK
                   : fail("a level has %d elements, expected %lld", record.dense_size(),
                          static_cast<long long>(level->size));
    if (record.format() != 1) return fail("a level has the format %d", record.format());
    IndexReader reader(reading_);
    TENGINE_RETURN_IF_ERROR(
        reader.read(record.segments_type(), record.segments(), &level->segments));
    TENGINE_RETURN_IF_ERROR(reader.read(record.indices_type(), record.indices(), &level->indices));
    for (const int32_t index : level->indices)
        if (index < 0 || index >= level->size)
            return fail("index %d of a level of %lld elements", index,
                        static_cast<long long>(level->size));
    return TENGINE_OK;
}

// The sizes of blocks are those of their levels, which come last.
int Expander::read_levels()
{
    const int rank = tensor_->dim_num;
    int64_t strides[MAX_SHAPE_DIM_NUM], sizes[MAX_SHAPE_DIM_NUM], steps[MAX_SHAPE_DIM_NUM];
    int64_t stride = 1;
    for (int i = rank; i-- > 0; stride *= tensor_->dims[i]) {
        strides[i] = steps[i] = stride;
        sizes[i] = tensor_->dims[i];
    }
    levels_.resize(order_.size());
    for (size_t i = order_.size(); i-- > 0;) {
        const file::Dimension& record = *sparsity_.dimensions()->Get(static_cast<uint32_t>(i));
        const bool is_block = order_[i] >= rank;
        const auto axis = static_cast<size_t>(
            is_block ? blocked_[static_cast<size_t>(order_[i] - rank)] : order_[i]);
        if (is_block) {
            const int64_t block = record.dense_size();
            if (record.format() != 0 || block < 1 || sizes[axis] % block != 0)
                return fail("blocks of %lld do not divide the %lld elements of axis %zu",
                            static_cast<long long>(block), static_cast<long long>(sizes[axis]),
                            axis);
            levels_[i].size = block;
            levels_[i].stride = strides[axis];
            sizes[axis] /= block;
            steps[axis] *= block;
            continue;
        }
        levels_[i].size = sizes[axis];
        levels_[i].stride = steps[axis];
        TENGINE_RETURN_IF_ERROR(read_level(record, &levels_[i]));
    }
    return TENGINE_OK;
}

int Expander::check_segments(const Level& level, uint64_t parents) const
{
    const Vector<int32_t>& segments = level.segments;
    if (segments.size() != parents + 1 || segments.front() != 0 ||
        segments.back() != static_cast<int64_t>(level.indices.size()))
        return fail("a level has %zu segments of %zu indices, expected %llu", segments.size(),
                    level.indices.size(), static_cast<unsigned long long>(parents) + 1);
    for (size_t i = 1; i < segments.size(); ++i)
        if (segments[i] < segments[i - 1]) return fail("segment %zu ends before it begins", i - 1);
    return TENGINE_OK;
}

// Neither dense levels nor lists have more places than the tensor has elements, so that the product
// does not wrap.
int Expander::count_values(uint64_t* out_number) const
{
    const auto most = static_cast<uint64_t>(tensor_->elem_num);
    uint64_t number = 1;
    for (const Level& level : levels_) {
        if (!level.is_dense) TENGINE_RETURN_IF_ERROR(check_segments(level, number));
        number = level.is_dense ? number * static_cast<uint64_t>(level.size) : level.indices.size();
        if (number > most)
            return fail("it has more than its %llu elements",
                        static_cast<unsigned long long>(most));
    }
    *out_number = number;
    return TENGINE_OK;
}

// Copies the values below an entry of a level; there are at most kMostSparseLevels levels.
void Expander::place(size_t level, int64_t parent, int64_t element)
{
    if (level == levels_.size()) {
        std::memcpy(dense_ + element * tensor_->elem_size, values_, tensor_->elem_size);
        values_ += tensor_->elem_size;
        return;
    }
    const Level& entries = levels_[level];
    if (entries.is_dense) {
        for (int64_t i = 0; i < entries.size; ++i)
            place(level + 1, parent * entries.size + i, element + i * entries.stride);
        return;
    }
    const auto begin = entries.segments[static_cast<size_t>(parent)];
    const auto end = entries.segments[static_cast<size_t>(parent) + 1];
    for (int32_t i = begin; i < end; ++i)
        place(level + 1, i, element + entries.indices[static_cast<size_t>(i)] * entries.stride);
}

}  // namespace

int expand_sparse(Reading& reading, struct tensor* tensor, const file::Sparsity& sparsity,
                  const uint8_t* values, uint64_t size)
{
    static_assert(kMostSparseLevels < 32, "a set of levels is a word");
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(get_ir_tensor_bytes(tensor)));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    std::memset(tensor->data, 0, get_ir_tensor_bytes(tensor));
    return Expander(reading, tensor, sparsity)
        .run(values, size, static_cast<uint8_t*>(tensor->data));
}

}  // namespace tengine::tflite
