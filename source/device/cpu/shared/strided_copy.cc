// SPDX-License-Identifier: Apache-2.0
// The copy engine of strided_copy.h. The innermost dimension is copied as a row: memcpy when it is
// dense on both sides. When it is dense in the target only and another dimension is dense in the
// source (a transposition), those two are copied in square tiles, so that every cache line of both
// sides is used as a whole while it is near. All other dimensions are counted through.
#include "device/cpu/shared/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/minimal.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

using Dimension = StridedCopy::Dimension;

// Tile side: 16 elements of 4 bytes are a cache line, and two tiles stay well inside a 32 KiB
// cache.
constexpr int64_t kTile = 16;
// Smaller copies are not worth a second thread.
constexpr int64_t kGrain = 16384;

template <class T>
void copy_row(const Dimension& row, const T* source, T* target)
{
    if (row.source_stride == 1 && row.target_stride == 1) {
        std::memcpy(target, source, static_cast<size_t>(row.size) * sizeof(T));
    } else if (row.target_stride == 1 && row.source_stride == 0) {
        std::fill_n(target, row.size, *source);
    } else {
        for (int64_t i = 0; i < row.size; ++i)
            target[i * row.target_stride] = source[i * row.source_stride];
    }
}

// A strip of at most kTile columns, which are dense in the source; the row is dense in the target.
template <class T>
void copy_strip(const Dimension& column, const Dimension& row, const T* source, T* target)
{
    for (int64_t begin = 0; begin < row.size; begin += kTile) {
        const int64_t end = std::min(begin + kTile, row.size);
        for (int64_t c = 0; c < column.size; ++c) {
            const T* from = source + c;
            T* to = target + c * column.target_stride;
            for (int64_t r = begin; r < end; ++r)
                to[r] = from[r * row.source_stride];
        }
    }
}

// Counts through the outer dimensions, keeping both offsets.
class Cursor
{
  public:
    Cursor(const Dimension* dims, int rank, int64_t position) : dims_(dims), rank_(rank)
    {
        for (int i = rank - 1; i >= 0; --i) {
            index_[i] = position % dims[i].size;
            position /= dims[i].size;
            source += index_[i] * dims[i].source_stride;
            target += index_[i] * dims[i].target_stride;
        }
    }
    void next()
    {
        for (int i = rank_ - 1; i >= 0; --i) {
            source += dims_[i].source_stride;
            target += dims_[i].target_stride;
            if (++index_[i] < dims_[i].size) return;
            index_[i] = 0;
            source -= dims_[i].size * dims_[i].source_stride;
            target -= dims_[i].size * dims_[i].target_stride;
        }
    }

    // Index of the innermost dimension.
    int64_t last() const { return rank_ > 0 ? index_[rank_ - 1] : 0; }

    int64_t source = 0;
    int64_t target = 0;

  private:
    const Dimension* dims_;
    int rank_;
    int64_t index_[2 * MAX_SHAPE_DIM_NUM];
};

int64_t count_elements(const Dimension* dims, int rank)
{
    int64_t count = 1;
    for (int i = 0; i < rank; ++i)
        count *= dims[i].size;
    return count;
}

// Calls body(cursor) for every index of `dims`.
template <class Body>
void for_each_index(thread_pool_t* pool, const Dimension* dims, int rank, int64_t grain,
                    const Body& body)
{
    parallel_for(pool, count_elements(dims, rank), grain, [&](int64_t begin, int64_t end, int) {
        Cursor cursor(dims, rank, begin);
        for (int64_t i = begin; i < end; ++i, cursor.next())
            body(cursor);
    });
}

template <class T>
void copy_rows(thread_pool_t* pool, const Dimension* outer, int outer_rank, const Dimension& row,
               const T* source, T* target)
{
    const int64_t grain = std::max<int64_t>(kGrain / row.size, 1);
    for_each_index(pool, outer, outer_rank, grain, [&](const Cursor& cursor) {
        copy_row(row, source + cursor.source, target + cursor.target);
    });
}

// Elements of 16 bytes as rows of two of 8; dense ones make one longer row.
void copy_wide(thread_pool_t* pool, const Dimension* dims, int rank, const uint64_t* source,
               uint64_t* target)
{
    Dimension row = {2, 1, 1};
    if (rank > 0 && dims[rank - 1].source_stride == 1 && dims[rank - 1].target_stride == 1)
        row.size *= dims[--rank].size;
    Dimension outer[2 * MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        outer[i] = {dims[i].size, 2 * dims[i].source_stride, 2 * dims[i].target_stride};
    copy_rows(pool, outer, rank, row, source, target);
}

// `outer` has room for one dimension more, which counts the strips of `column`.
template <class T>
void copy_strips(thread_pool_t* pool, Dimension* outer, int outer_rank, const Dimension& column,
                 const Dimension& row, const T* source, T* target)
{
    outer[outer_rank] = {(column.size + kTile - 1) / kTile, kTile, kTile * column.target_stride};
    const int64_t grain = std::max<int64_t>(kGrain / (row.size * kTile), 1);
    for_each_index(pool, outer, outer_rank + 1, grain, [&](const Cursor& cursor) {
        Dimension strip = column;
        strip.size = std::min(kTile, column.size - cursor.last() * kTile);
        copy_strip(strip, row, source + cursor.source, target + cursor.target);
    });
}

// A dimension other than the last that is dense in the source, when that makes a transposition.
int find_transposed(const Dimension* dims, int rank)
{
    const Dimension& row = dims[rank - 1];
    if (row.target_stride != 1 || row.source_stride == 1 || row.source_stride == 0) return -1;
    for (int i = rank - 2; i >= 0; --i)
        if (dims[i].source_stride == 1) return i;
    return -1;
}

}  // namespace

void StridedCopy::add(int64_t size, int64_t source_stride, int64_t target_stride)
{
    if (size == 0) empty_ = true;
    if (size == 1 || empty_) return;
    if (rank_ > 0) {
        Dimension& last = dims_[rank_ - 1];
        if (last.source_stride == size * source_stride &&
            last.target_stride == size * target_stride) {
            last = {last.size * size, source_stride, target_stride};
            return;
        }
    }
    dims_[rank_++] = {size, source_stride, target_stride};
}

void StridedCopy::run(thread_pool_t* pool, int element_size, const void* source, void* target) const
{
    if (empty_) return;
    if (!IS_MINIMAL && element_size == 16)
        return copy_wide(pool, dims_, rank_, static_cast<const uint64_t*>(source),
                         static_cast<uint64_t*>(target));
    const Dimension row = rank_ > 0 ? dims_[rank_ - 1] : Dimension{1, 1, 1};
    const int transposed = rank_ > 0 ? find_transposed(dims_, rank_) : -1;
    Dimension outer[kMaxRank];
    int outer_rank = 0;
    for (int i = 0; i < rank_ - 1; ++i)
        if (i != transposed) outer[outer_rank++] = dims_[i];

    (void)dispatch_size(element_size, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = static_cast<const T*>(source);
        T* to = static_cast<T*>(target);
        if (transposed >= 0)
            copy_strips(pool, outer, outer_rank, dims_[transposed], row, from, to);
        else
            copy_rows(pool, outer, outer_rank, row, from, to);
        return TENGINE_OK;
    });
}

void fill_dense_strides(const int dims[], int rank, int64_t* out_strides)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
        out_strides[i] = stride;
        stride *= dims[i];
    }
}

}  // namespace tengine::cpu
