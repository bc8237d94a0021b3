// SPDX-License-Identifier: Apache-2.0
// Broadcasting split over threads: the parts together visit every output once, with the right
// inputs, for any beginning of a part.
#include "device/cpu/shared/broadcast.h"

#include <atomic>
#include <gtest/gtest.h>
#include <vector>

namespace tengine::cpu {
namespace {

tensor make_shape(const std::vector<int>& dims)
{
    tensor made = {};
    made.shape_set = 1;
    made.dim_num = static_cast<uint8_t>(dims.size());
    made.elem_num = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
        made.dims[i] = dims[i];
        made.elem_num *= dims[i];
    }
    return made;
}

struct Visits
{
    std::vector<int64_t> first;
    std::vector<int64_t> second;
    std::atomic<int64_t> elements{0};
};

void visit(const void* argument, const BroadcastRun& run)
{
    auto* visits = static_cast<Visits*>(const_cast<void*>(argument));
    for (int64_t i = 0; i < run.count; ++i) {
        visits->first[run.position + i] = run.offsets[0] + i * run.strides[0];
        visits->second[run.position + i] = run.offsets[1] + i * run.strides[1];
    }
    visits->elements += run.count;
}

TEST(Broadcast, OverThreads)
{
    // Large enough for many parts, with runs that parts cut.
    const tensor output = make_shape({3, 5, 77, 101});
    const tensor first = make_shape({3, 5, 77, 101});
    const tensor second = make_shape({5, 1, 101});
    const tensor* const inputs[] = {&first, &second};
    thread_pool_t* pool = nullptr;
    ASSERT_EQ(create_thread_pool(4, 0, &pool), 0);
    Visits visits;
    visits.first.resize(output.elem_num, -1);
    visits.second.resize(output.elem_num, -1);
    broadcast(pool, &output, inputs, 2, visit, &visits);
    destroy_thread_pool(pool);

    EXPECT_EQ(visits.elements, output.elem_num);
    for (int64_t i = 0; i < output.elem_num; ++i) {
        ASSERT_EQ(visits.first[i], i);
        const int64_t channel = i / (77 * 101) % 5;
        ASSERT_EQ(visits.second[i], channel * 101 + i % 101);
    }
}

TEST(Broadcast, EqualShapesAreOneRun)
{
    const tensor shape = make_shape({2, 1, 3, 4});
    const tensor* const inputs[] = {&shape, &shape};
    int runs = 0;
    broadcast(
        nullptr, &shape, inputs, 2,
        [](const void* argument, const BroadcastRun& run) {
            ++*static_cast<int*>(const_cast<void*>(argument));
            EXPECT_EQ(run.count, 24);
        },
        &runs);
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace tengine::cpu
