// SPDX-License-Identifier: Apache-2.0
// How kernels made of matrix products use the workers. A kernel cuts its work into tiles, each of
// which may need a matrix in scratch. Where there are at least as many tiles as workers they are
// spread, every worker has a matrix of its own and a tile runs on one worker; else the tiles come
// one after the other, and each may spread itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/product/matrix_product.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {

inline bool spreads_tiles(const KernelContext& context, int64_t tile_num)
{
    return tile_num >= get_thread_pool_size(context.pool);
}

// For prepare(): scratch of run_tiles() with matrices of `matrix_size` floats. A tile that spreads
// itself needs `worker_size` floats more for each worker but one.
inline uint64_t find_tile_scratch(const KernelContext& context, int64_t tile_num,
                                  uint64_t matrix_size, uint64_t worker_size = 0)
{
    const uint64_t others = static_cast<uint64_t>(get_thread_pool_size(context.pool)) - 1;
    const uint64_t more = spreads_tiles(context, tile_num) ? matrix_size : worker_size;
    return (matrix_size + others * more) * sizeof(float);
}

// Calls body(pool, tile, matrix) for tiles 0..tile_num-1; the pool is null where the tiles are
// spread.
template <class Body>
void run_tiles(const KernelContext& context, int64_t tile_num, uint64_t matrix_size,
               const Body& body)
{
    float* scratch = static_cast<float*>(context.scratch);
    if (!spreads_tiles(context, tile_num)) {
        for (int64_t tile = 0; tile < tile_num; ++tile)
            body(context.pool, tile, scratch);
        return;
    }
    parallel_for(context.pool, tile_num, 1, [&](int64_t first, int64_t last, int worker) {
        float* matrix =
            matrix_size ? scratch + matrix_size * static_cast<uint64_t>(worker) : nullptr;
        for (int64_t tile = first; tile < last; ++tile)
            body(static_cast<thread_pool_t*>(nullptr), tile, matrix);
    });
}

// For tiles that are a block of a plane's positions, with `bytes` of packed input for each: as many
// positions as half of the L2 cache holds, in blocks of one size.
constexpr int64_t kPositionUnit = 64;    // a multiple of any vector's lanes, divides every block
constexpr int64_t kMostPositions = 256;  // of a block

inline int64_t find_position_block(int64_t plane, int64_t bytes)
{
    constexpr int64_t kUnit = kPositionUnit;
    const int64_t fitting =
        static_cast<int64_t>(get_cpu_cache_size().l2 / 2) / std::max<int64_t>(bytes, 1);
    const int64_t largest = std::clamp(fitting / kUnit * kUnit, kUnit, kMostPositions);
    const int64_t fewest = std::max<int64_t>(divide_up(plane, largest), 1);
    const int64_t even = divide_up(plane, fewest);
    return std::max(round_up(even, kUnit), kUnit);
}

// prepare() and run() of a kernel whose work is a Problem: `describe` reads it from the node's
// shapes, `run_tile` does one tile. A Problem has tile_num() and matrix_size(), for prepare() the
// workspace_size() of its products, one of which is part of matrix_size(), and for run() bind(),
// which takes the addresses of the tensors.
template <class Problem, int (*describe)(const node&, Problem*)>
int prepare_tiled(KernelContext& context)
{
    prepare_products();
    Problem problem = {};
    TENGINE_RETURN_IF_ERROR(describe(*context.node, &problem));
    context.scratch_size = find_tile_scratch(context, problem.tile_num(), problem.matrix_size(),
                                             problem.workspace_size());
    return keep_problem(context, problem);
}

template <class Problem, void (*run_tile)(const Problem&, thread_pool_t*, int64_t, float*)>
int run_tiled(KernelContext& context)
{
    Problem problem = kept_problem<Problem>(context);
    problem.bind(context);
    run_tiles(context, problem.tile_num(), problem.matrix_size(),
              [&](thread_pool_t* pool, int64_t tile, float* matrix) {
                  run_tile(problem, pool, tile, matrix);
              });
    return TENGINE_OK;
}

}  // namespace tengine::cpu
