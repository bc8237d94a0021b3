// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that put elements in another order, each against its definition in loops.
#include <numeric>
#include <random>

#include "naive.h"

namespace tengine::test {
namespace {

using Ints = std::vector<int64_t>;

TengineCase& set_order(TengineCase& made, const std::vector<int>& order)
{
    static const char* const names[] = {"order0", "order1", "order2", "order3"};
    for (size_t i = 0; i < order.size(); ++i)
        made.attr(names[i], order[i]);
    return made;
}

TEST(TenginePermute, TakesEveryOrder)
{
    const Array x = make_array({2, 3, 4, 5});
    std::vector<int> order = {0, 1, 2, 3};
    do {
        TengineCase made("tengine.Permute");
        made.input(x).attr("flag", 1);
        expect_close(set_order(made, order).run_one(), transposed(x, order), 0);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(TenginePermute, TakesFewerDimensions)
{
    const Array x = make_array({2, 3, 4});
    TengineCase made("tengine.Permute");
    made.input(x);
    expect_close(set_order(made, {1, 0, 2, 3}).run_one(), transposed(x, {1, 0, 2}), 0);
}

TEST(TenginePermute, RefusesWhatIsNoOrder)
{
    for (const auto& [order, part] :
         {std::pair<std::vector<int>, std::string>{{0, 0, 1, 2}, "0 at"},
          {{0, 1, 2, 4}, "4 at index 3"},
          {{-1, 1, 2, 3}, "-1 at index 0"}}) {
        TengineCase made("tengine.Permute");
        made.input(make_array({1, 2, 2, 2}));
        set_order(made, order).expect_failure(TENGINE_ERANGE, part);
    }
    TengineCase five("tengine.Permute");
    five.input(make_array({1, 1, 1, 1, 2})).expect_failure(TENGINE_EINVAL, "5 dimensions");
}

TEST(TengineTranspose, TakesAnyRank)
{
    const std::pair<std::vector<int>, Ints> cases[] = {{{3}, {0}},
                                                       {{3, 4}, {1, 0}},
                                                       {{2, 3, 4}, {2, 0, 1}},
                                                       {{2, 1, 3, 2, 2}, {4, 0, 2, 1, 3}},
                                                       {{2, 1, 3, 2, 2, 2}, {5, 4, 3, 2, 1, 0}}};
    for (const auto& [dims, order] : cases) {
        const Array x = make_array(dims);
        expect_close(TengineCase("tengine.Transpose").input(x).attr("tr_shape", order).run_one(),
                     transposed(x, {order.begin(), order.end()}), 0);
    }
    const Array x = make_array({2, 3, 4});
    TengineCase old("tengine.Transpose");
    old.input(x).attr("dim_0", 1).attr("dim_1", 2).attr("dim_2", 0);
    expect_close(old.run_one(), transposed(x, {1, 2, 0}), 0);
}

TEST(TengineTranspose, RefusesWhatIsNoOrder)
{
    const Array x = make_array({2, 3});
    TengineCase("tengine.Transpose").input(x).expect_failure(TENGINE_EINVAL, "0 values");
    TengineCase("tengine.Transpose")
        .input(x)
        .attr("tr_shape", Ints{0})
        .expect_failure(TENGINE_EINVAL, "1 values");
    TengineCase("tengine.Transpose")
        .input(x)
        .attr("tr_shape", Ints{1, 1})
        .expect_failure(TENGINE_ERANGE, "1 at index 1");
    TengineCase("tengine.Transpose")
        .input(x)
        .attr("tr_shape", Ints{0, INT64_MAX})
        .expect_failure(TENGINE_ERANGE, "9223372036854775807");
}

TEST(TengineTranspose, IsRaised)
{
    std::mt19937 random(3);
    for (int round = 0; round < 24; ++round) {
        std::vector<int> dims(1 + random() % 6);
        for (int& dim : dims)
            dim = 1 + static_cast<int>(random() % 3);
        Ints order(dims.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        TengineCase made("Transpose");
        made.input(make_array(dims, round)).attr("perm", order);
        made.expect_raised(order == Ints{0, 2, 3, 1} ? "tengine.Permute" : "tengine.Transpose", 0);
    }
    const Array x = make_array({2, 3, 4, 5});
    TengineCase("Transpose")
        .input(x)
        .attr("perm", Ints{0, 2, 3, 1})
        .expect_raised("tengine.Permute", 0);
    TengineCase("Transpose").input(x).expect_raised("tengine.Transpose", 0);
}

TEST(TengineSwapAxis, Swaps)
{
    const Array x = make_array({2, 3, 4});
    expect_close(TengineCase("tengine.SwapAxis").input(x).run_one(), transposed(x, {1, 0, 2}), 0);
    TengineCase ends("tengine.SwapAxis");
    ends.input(x).attr("dim_0", 0).attr("dim_1", -1);
    expect_close(ends.run_one(), transposed(x, {2, 1, 0}), 0);
    TengineCase("tengine.SwapAxis").input(x).attr("dim_1", 3).expect_failure(TENGINE_ERANGE, "3");
}

TEST(TengineShuffleChannel, Shuffles)
{
    for (const int group : {1, 2, 3, 6}) {
        const Array x = make_array({2, 6, 3, 5});
        const int width = 6 / group;
        const Array expected = build(x.dims, [&](const Place& place) {
            const int channel = place[1] % group * width + place[1] / group;
            return at(x, {place[0], channel, place[2], place[3]});
        });
        TengineCase made("tengine.ShuffleChannel");
        expect_close(made.input(x).attr("group", group).run_one(), expected, 0);
    }
}

TEST(TengineShuffleChannel, RefusesOtherGroups)
{
    for (const int group : {0, -2, 4, INT32_MIN})
        TengineCase("tengine.ShuffleChannel")
            .input(make_array({1, 6, 1, 1}))
            .attr("group", group)
            .expect_failure(TENGINE_ERANGE, "group is " + std::to_string(group));
    TengineCase("tengine.ShuffleChannel")
        .input(make_array({6}))
        .expect_failure(TENGINE_EINVAL, "1");
}

// ---- Blocks and channels ----

// Channels are outer, positions in the block inner.
Array depth_to_space(const Array& x, int block)
{
    const std::vector<int>& dims = x.dims;
    return build(
        {dims[0], dims[1] / (block * block), dims[2] * block, dims[3] * block},
        [&](const Place& p) {
            const int inside = p[2] % block * block + p[3] % block;
            return at(x, {p[0], p[1] * block * block + inside, p[2] / block, p[3] / block});
        });
}

// Positions in the block are outer, channels inner.
Array space_to_depth(const Array& x, int block)
{
    const std::vector<int>& dims = x.dims;
    return build({dims[0], dims[1] * block * block, dims[2] / block, dims[3] / block},
                 [&](const Place& p) {
                     const int inside = p[1] / dims[1];
                     return at(x, {p[0], p[1] % dims[1], p[2] * block + inside / block,
                                   p[3] * block + inside % block});
                 });
}

TEST(TengineDepthToSpace, SpreadsChannels)
{
    for (const int block : {1, 2, 3}) {
        const Array x = make_array({2, 2 * block * block, 3, 5});
        TengineCase made("tengine.Depthtospace");
        expect_close(made.input(x).attr("block_size", block).run_one(), depth_to_space(x, block),
                     0);
    }
}

TEST(TengineSpaceToDepth, GathersChannels)
{
    for (const int block : {1, 2, 3}) {
        const Array x = make_array({2, 3, 2 * block, 5 * block});
        TengineCase made("tengine.Spacetodepth");
        expect_close(made.input(x).attr("block_size", block).run_one(), space_to_depth(x, block),
                     0);
    }
}

TEST(TengineBlocks, RefuseSizesThatDoNotDivide)
{
    const Array x = make_array({1, 4, 4, 6});
    for (const char* op : {"tengine.Depthtospace", "tengine.Spacetodepth"}) {
        for (const int block : {0, -1, INT32_MAX, INT32_MIN})
            TengineCase(op)
                .input(x)
                .attr("block_size", block)
                .expect_failure(TENGINE_ERANGE, "block_size is " + std::to_string(block));
        TengineCase(op).input(make_array({4, 4})).expect_failure(TENGINE_EINVAL, "4");
    }
    TengineCase("tengine.Depthtospace")
        .input(x)
        .attr("block_size", 3)
        .expect_failure(TENGINE_EINVAL, "a multiple of 9");
    TengineCase("tengine.Spacetodepth")
        .input(x)
        .attr("block_size", 3)
        .expect_failure(TENGINE_EINVAL, "the height is 4");
    TengineCase("tengine.Spacetodepth")
        .input(x)
        .attr("block_size", 4)
        .expect_failure(TENGINE_EINVAL, "the width is 6");
}

TEST(TengineBlocks, AreRaised)
{
    const std::string six = "tengine.Reshape tengine.Transpose tengine.Reshape";
    for (const int block : {2, 3}) {
        const Array deep = make_array({2, 2 * block * block, 3, 5});
        const Array wide = make_array({2, 3, 2 * block, 5 * block});
        TengineCase crd("DepthToSpace");
        crd.input(deep).attr("blocksize", block).attr("mode", std::string("CRD"));
        crd.expect_raised("tengine.Depthtospace", 0);
        TengineCase("DepthToSpace").input(deep).attr("blocksize", block).expect_raised(six, 0);
        TengineCase("SpaceToDepth").input(wide).attr("blocksize", block).expect_raised(six, 0);
    }
}

// The loop of darknet's reorg layer, on flat memory.
Array reorganised(const Array& x, int stride)
{
    const int c = x.dims[1], h = x.dims[2], w = x.dims[3];
    const int out_c = c / (stride * stride);
    Array made{{x.dims[0], c * stride * stride, h / stride, w / stride}, x.values};
    size_t place = 0;
    for (int b = 0; b < x.dims[0]; ++b)
        for (int k = 0; k < c; ++k)
            for (int j = 0; j < h; ++j)
                for (int i = 0; i < w; ++i) {
                    const int column = i * stride + k / out_c % stride;
                    const int row = j * stride + k / out_c / stride;
                    const int from =
                        column + w * stride * (row + h * stride * (k % out_c + out_c * b));
                    made.values[place++] = x.values[static_cast<size_t>(from)];
                }
    return made;
}

TEST(TengineReorg, FollowsDarknet)
{
    for (const int stride : {1, 2, 3}) {
        const Array x = make_array({2, 2 * stride * stride, 2 * stride, 3 * stride});
        TengineCase made("tengine.Reorg");
        expect_close(made.input(x).attr("stride", stride).run_one(), reorganised(x, stride), 0);
    }
}

TEST(TengineReorg, RefusesStridesThatDoNotDivide)
{
    const Array x = make_array({1, 3, 4, 4});
    TengineCase("tengine.Reorg")
        .input(x)
        .attr("stride", 0)
        .expect_failure(TENGINE_ERANGE, "stride is 0");
    TengineCase("tengine.Reorg")
        .input(x)
        .attr("stride", 2)
        .expect_failure(TENGINE_EINVAL, "channels is 3");
    TengineCase("tengine.Reorg")
        .input(x)
        .attr("stride", 65536)
        .expect_failure(TENGINE_ERANGE, "65536");
}

// ---- Blocks and batches ----

struct Block
{
    int x, y, top, bottom, left, right;
};

TengineCase& set_block(TengineCase& made, const Block& block, const std::string& border)
{
    return made.attr("dilation_x", block.x)
        .attr("dilation_y", block.y)
        .attr(border + "_top", block.top)
        .attr(border + "_bottom", block.bottom)
        .attr(border + "_left", block.left)
        .attr(border + "_right", block.right);
}

TEST(TengineSpaceToBatch, TakesBlocksApart)
{
    const Array x = make_array({2, 3, 4, 5});
    for (const Block& b : {Block{1, 1, 0, 0, 0, 0}, Block{5, 2, 0, 0, 0, 0},
                           Block{2, 3, 1, 1, 0, 1}, Block{4, 2, 2, 0, 3, 0}}) {
        const std::vector<int> dims = {2 * b.x * b.y, 3, (4 + b.top + b.bottom) / b.y,
                                       (5 + b.left + b.right) / b.x};
        const Array expected = build(dims, [&](const Place& p) {
            const int row = p[2] * b.y + p[0] / 2 / b.x - b.top;
            const int column = p[3] * b.x + p[0] / 2 % b.x - b.left;
            const bool inside = row >= 0 && row < 4 && column >= 0 && column < 5;
            return inside ? at(x, {p[0] % 2, p[1], row, column}) : 0;
        });
        TengineCase made("tengine.Spacetobatchnd");
        expect_close(set_block(made.input(x), b, "pad").run_one(), expected, 0);
    }
}

TEST(TengineBatchToSpace, PutsBlocksTogether)
{
    for (const Block& b : {Block{1, 1, 0, 0, 0, 0}, Block{3, 2, 0, 0, 0, 0},
                           Block{3, 2, 1, 0, 2, 1}, Block{2, 2, 0, 1, 0, 0}}) {
        const Array x = make_array({2 * b.x * b.y, 3, 4, 5});
        const std::vector<int> dims = {2, 3, 4 * b.y - b.top - b.bottom,
                                       5 * b.x - b.left - b.right};
        const Array expected = build(dims, [&](const Place& p) {
            const int row = p[2] + b.top;
            const int column = p[3] + b.left;
            const int batch = (row % b.y * b.x + column % b.x) * 2 + p[0];
            return at(x, {batch, p[1], row / b.y, column / b.x});
        });
        TengineCase made("tengine.Batchtospacend");
        expect_close(set_block(made.input(x), b, "crop").run_one(), expected, 0);
    }
}

TEST(TengineBatches, RefuseHostileFields)
{
    const Array x = make_array({2, 3, 4, 5});
    const std::string to = "tengine.Spacetobatchnd", from = "tengine.Batchtospacend";
    TengineCase(to).input(x).expect_failure(TENGINE_ERANGE, "dilation_x is 0");
    TengineCase(from).input(x).expect_failure(TENGINE_ERANGE, "dilation_x is 0");
    const auto expect = [&](const std::string& op, const Block& block, int code,
                            const std::string& part) {
        TengineCase made(op);
        set_block(made.input(x), block, op == to ? "pad" : "crop").expect_failure(code, part);
    };
    expect(to, {2, 2, 0, 0, 0, 0}, TENGINE_EINVAL, "width with padding is 5");
    expect(to, {1, 3, 0, 0, 0, 0}, TENGINE_EINVAL, "height with padding is 4");
    expect(to, {1, 1, -1, 0, 0, 0}, TENGINE_ERANGE, "pad_top is -1");
    expect(to, {1, 1, INT32_MAX, INT32_MAX, 0, 0}, TENGINE_ERANGE, "");
    expect(from, {3, 1, 0, 0, 0, 0}, TENGINE_EINVAL, "batches is 2");
    expect(from, {2, 1, 0, -1, 0, 0}, TENGINE_ERANGE, "0 and -1 of 4 rows");
    expect(from, {2, 1, 0, 0, 5, 5}, TENGINE_ERANGE, "5 and 5 of 10 columns");
    expect(from, {2, 1, INT32_MAX, INT32_MAX, 0, 0}, TENGINE_ERANGE, "of 4 rows");
}

// ---- Reverse ----

TEST(TengineReverse, TurnsOneAxisRound)
{
    const Array x = make_array({2, 3, 4, 5});
    for (int axis = -4; axis < 4; ++axis) {
        const auto turned = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
        const Array expected = build(x.dims, [&](Place place) {
            place[turned] = x.dims[turned] - 1 - place[turned];
            return at(x, place);
        });
        TengineCase made("tengine.Reverse");
        made.input(x).constant(int_list({static_cast<double>(axis)}, TENGINE_DT_INT32));
        expect_close(made.run_one(), expected, 0);
    }
}

TEST(TengineReverse, WantsAConstantAxis)
{
    const Array x = make_array({2, 3});
    TengineCase("tengine.Reverse")
        .input(x)
        .constant(int_list({2}, TENGINE_DT_INT32))
        .expect_failure(TENGINE_ERANGE, "2");
    TengineCase("tengine.Reverse")
        .input(x)
        .input(int_list({1}, TENGINE_DT_INT32))
        .expect_failure(TENGINE_ENOTSUP, "run time");
    TengineCase("tengine.Reverse")
        .input(x)
        .constant(int_list({}, TENGINE_DT_INT32))
        .expect_failure(TENGINE_EINVAL, "empty");
}

}  // namespace
}  // namespace tengine::test
