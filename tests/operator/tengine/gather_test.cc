// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that pick or place elements by indices.
#include <random>

#include "naive.h"

namespace tengine::test {
namespace {

// Returns the elements of one axis at a list of positions.
Array picked(const Array& x, size_t axis, const std::vector<double>& indices)
{
    std::vector<int> dims = x.dims;
    dims[axis] = static_cast<int>(indices.size());
    return build(dims, [&](Place place) {
        place[axis] = static_cast<int>(indices[static_cast<size_t>(place[axis])]);
        return at(x, place);
    });
}

// ---- Gather ----

TEST(TengineGather, OfTensorflowTakesAList)
{
    const Array x = make_array({2, 3, 4, 5});
    const std::vector<double> indices = {2, 0, 1, 1, 0, 2};
    for (const int type : {TENGINE_DT_INT32, TENGINE_DT_INT64, TENGINE_DT_FP32, TENGINE_DT_UINT8})
        for (const std::vector<int>& dims : {std::vector<int>{6}, {2, 3}, {1, 1, 6}}) {
            TengineCase made("tengine.Gather");
            made.input(x).input(ints(dims, indices, type)).attr("axis", 1);
            expect_close(made.run_one(), picked(x, 1, indices), 0);
        }
    TengineCase fewer("tengine.Gather");
    fewer.input(x).constant(int_list(indices, TENGINE_DT_INT32)).attr("axis", -3);
    expect_close(fewer.attr("indices_num", 4).run_one(), picked(x, 1, {2, 0, 1, 1}), 0);
}

TEST(TengineGather, OfOnnxDropsASingleIndex)
{
    const Array x = make_array({4, 3});
    const auto gather = [&](const std::vector<int>& dims, const std::vector<double>& indices,
                            int num, int axis) {
        TengineCase made("tengine.Gather");
        made.input(x).constant(ints(dims, indices, TENGINE_DT_INT32)).attr("is_onnx", 1);
        return made.attr("indices_num", num).attr("axis", axis).run_one();
    };
    expect_close(gather({1}, {2}, 2, 0), reshaped(picked(x, 0, {2}), {3}), 0);
    expect_close(gather({1}, {0}, 0, 0), picked(x, 0, {0}), 0);
    expect_close(gather({}, {3}, 3, 0), reshaped(picked(x, 0, {3}), {3}), 0);
    expect_close(gather({1}, {2}, 2, 1), picked(x, 1, {2}), 0);
    expect_close(gather({2, 2}, {0, 3, 1, 2}, 0, 0),
                 reshaped(picked(x, 0, {0, 3, 1, 2}), {2, 2, 3}), 0);
    TengineCase alone("tengine.Gather");
    alone.input(x).attr("is_onnx", 1).attr("indices_num", 2);
    expect_close(alone.run_one(), reshaped(picked(x, 0, {2}), {3}), 0);
}

TEST(TengineGather, RefusesHostileFields)
{
    const Array x = make_array({4, 3});
    const Array indices = int_list({0, 1}, TENGINE_DT_INT32);
    TengineCase("tengine.Gather").input(x).expect_failure(TENGINE_EINVAL, "missing");
    TengineCase("tengine.Gather")
        .input(x)
        .constant(indices)
        .attr("axis", 2)
        .expect_failure(TENGINE_ERANGE, "2");
    for (const int num : {3, -1, INT32_MAX})
        TengineCase("tengine.Gather")
            .input(x)
            .constant(indices)
            .attr("indices_num", num)
            .expect_failure(TENGINE_ERANGE, "indices_num is " + std::to_string(num));
}

TEST(TengineGather, IsRaised)
{
    const std::string wrapped = "tengine.Reshape tengine.Gather tengine.Reshape";
    std::mt19937 random(2);
    for (int round = 0; round < 24; ++round) {
        std::vector<int> dims(1 + random() % 4);
        for (int& dim : dims)
            dim = 1 + static_cast<int>(random() % 4);
        const int axis = static_cast<int>(random() % dims.size());
        std::vector<int> index_dims(1 + random() % 2);
        for (int& dim : index_dims)
            dim = 1 + static_cast<int>(random() % 3);
        std::vector<double> indices;
        const int size = dims[static_cast<size_t>(axis)];
        for (int64_t i = 0; i < count_elements(index_dims); ++i)
            indices.push_back(static_cast<int>(random() % (2u * static_cast<unsigned>(size))) -
                              size);
        TengineCase made("Gather");
        made.input(make_array(dims, round)).constant(ints(index_dims, indices)).attr("axis", axis);
        made.expect_raised(dims.size() == 4 && index_dims.size() == 1 ? "tengine.Gather" : wrapped,
                           0);
    }
    TengineCase scalar("Gather");
    scalar.input(make_array({3, 4})).constant(ints({}, {-1})).attr("axis", 1);
    scalar.expect_raised(wrapped, 0);
    TengineCase at_run("Gather");
    at_run.input(make_array({3, 4})).input(int_list({1, -2})).expect_raised(wrapped, 0);
    TengineCase("Gather").input(make_array({3})).constant(ints({}, {1})).expect_refusal("scalar");
}

// ---- Scatter ----

TEST(TengineScatter, PlacesElements)
{
    for (const int axis : {0, 1, -1}) {
        const Array x = make_array({3, 4});
        const Array updates = make_array({2, 3}, 9);
        const std::vector<double> places = {0, 1, 2, 2, 0, -1};
        Array expected = x;
        for (int i = 0; i < 6; ++i) {
            Place place = {i / 3, i % 3};
            const size_t along = axis == 0 ? 0 : 1;
            const int index = static_cast<int>(places[static_cast<size_t>(i)]);
            place[along] = index < 0 ? index + x.dims[along] : index;
            expected.values[static_cast<size_t>(flat_place(x.dims, place))] =
                updates.values[static_cast<size_t>(i)];
        }
        TengineCase made("tengine.Scatter");
        made.input(x).constant(ints({2, 3}, places, TENGINE_DT_INT32)).input(updates);
        made.attr("axis", axis).attr("is_onnx", 1);
        expect_close(made.run_one(), expected, 0);
    }
}

TEST(TengineScatter, PlacesRows)
{
    const Array x = make_array({3, 4});
    const Array updates = make_array({2, 4}, 9);
    Array expected = x;
    for (size_t i = 0; i < 4; ++i) {
        expected.values[8 + i] = updates.values[i];
        expected.values[i] = updates.values[4 + i];
    }
    TengineCase made("tengine.Scatter");
    made.input(x).constant(ints({2, 1}, {2, 0}, TENGINE_DT_INT32)).input(updates);
    expect_close(made.attr("is_onnx", 1).run_one(), expected, 0);
}

TEST(TengineScatter, RefusesOtherShapes)
{
    TengineCase made("tengine.Scatter");
    made.input(make_array({3, 4})).constant(ints({2, 1}, {2, 0})).input(make_array({2, 4}));
    made.attr("axis", 0).expect_failure(TENGINE_EINVAL, "different shapes");
}

TEST(TengineScatter, IsRaised)
{
    TengineCase made("ScatterElements");
    made.input(make_array({3, 4})).constant(ints({1, 2}, {-1, 0})).input(make_array({1, 2}, 4));
    made.attr("axis", -1);
    made.expect_raised("tengine.Scatter", 0);
    EXPECT_EQ(made.raised_attr("axis"), 1);
    TengineCase adding("ScatterElements");
    adding.input(make_array({3, 4})).constant(ints({1, 2}, {1, 0})).input(make_array({1, 2}, 4));
    adding.attr("reduction", std::string("add")).expect_refusal("reduction is 'add'");
}

// ---- Embedding ----

TEST(TengineEmbedding, LooksWordsUp)
{
    const Array table = make_array({5, 3});
    const Array bias = make_array({3}, 7);
    const std::vector<double> words = {4, 0, -3, 99, 2.7, 1};
    const std::vector<double> rows = {4, 0, 0, 4, 2, 1};
    for (const int bias_term : {0, 1})
        for (const std::vector<int>& dims : {std::vector<int>{5, 3}, {15}, {5, 3, 1, 1}}) {
            const Array expected = build({6, 3}, [&](const Place& p) {
                const double added = bias_term ? bias.values[static_cast<size_t>(p[1])] : 0;
                return at(table, {static_cast<int>(rows[static_cast<size_t>(p[0])]), p[1]}) + added;
            });
            TengineCase made("tengine.Embedding");
            made.input({{2, 3}, words}).constant(reshaped(table, dims)).constant(bias);
            made.attr("num_output", 3).attr("input_dim", 5).attr("bias_term", bias_term);
            expect_close(made.run_one(), expected, 1e-6);
        }
}

TEST(TengineEmbedding, GarbageInBiasTermDoesNoHarm)
{
    const Array table = make_array({5, 3});
    TengineCase made("tengine.Embedding");
    made.input(int_list({1, 3}, TENGINE_DT_INT32)).constant(table);
    made.attr("num_output", 3).attr("input_dim", 5).attr("bias_term", -77);
    expect_close(made.run_one(), picked(table, 0, {1, 3}), 0);
}

TEST(TengineEmbedding, RefusesOtherTables)
{
    const auto expect = [](int rows, int columns, const std::string& part) {
        TengineCase made("tengine.Embedding");
        made.input(make_array({2})).constant(make_array({5, 3}));
        made.attr("num_output", columns).attr("input_dim", rows);
        made.expect_failure(TENGINE_EINVAL, part);
    };
    expect(0, 3, "input_dim is 0");
    expect(5, -3, "num_output -3");
    expect(4, 3, "15 elements");
    expect(INT32_MAX, INT32_MAX, "15 elements");
    TengineCase bias("tengine.Embedding");
    bias.input(make_array({2})).constant(make_array({5, 3})).constant(make_array({2}));
    bias.attr("num_output", 3).attr("input_dim", 5).attr("bias_term", 1);
    bias.expect_failure(TENGINE_EINVAL, "the bias has 2");
}

// ---- SparseToDense ----

struct Sparse : TengineCase
{
    Sparse(const Array& indices, const Array& values, int size0, int size1)
        : TengineCase("tengine.SparseToDense")
    {
        input(indices).constant(int_list({1}, TENGINE_DT_INT32)).input(values);
        attr("output_shape_size0", size0).attr("output_shape_size1", size1);
        attr("default_value", -1);
    }
};

TEST(TengineSparseToDense, FillsAList)
{
    const Array expected = {{5}, {-1, 7, -1, 9, -1}};
    const Array values = int_list({7, 9}, TENGINE_DT_INT32);
    const Array list = int_list({1, 3}, TENGINE_DT_INT32);
    expect_close(Sparse(list, values, 5, 0).run_one(), expected, 0);
    expect_close(Sparse(ints({2, 1}, {1, 3}, TENGINE_DT_INT32), values, 5, 0).run_one(), expected,
                 0);
    expect_close(Sparse(list, int_list({4}, TENGINE_DT_INT32), 5, 0).run_one(),
                 {{5}, {-1, 4, -1, 4, -1}}, 0);
    expect_close(
        Sparse(ints({}, {2}, TENGINE_DT_INT32), ints({}, {4}, TENGINE_DT_INT32), 3, 0).run_one(),
        {{3}, {-1, -1, 4}}, 0);
}

TEST(TengineSparseToDense, FillsAMatrix)
{
    const Array indices = ints({3, 2}, {0, 1, 1, 2, 0, 0}, TENGINE_DT_INT32);
    expect_close(Sparse(indices, {{3}, {1.5, 2, 3}}, 2, 3).run_one(),
                 {{2, 3}, {3, 1.5, -1, -1, -1, 2}}, 0);
}

TEST(TengineSparseToDense, RefusesHostileFields)
{
    const Array list = int_list({1, 3}, TENGINE_DT_INT32);
    const Array values = int_list({7, 9}, TENGINE_DT_INT32);
    Sparse(list, values, 0, 0).expect_failure(TENGINE_ERANGE, "output_shape_size0 is 0");
    Sparse(list, int_list({1, 2, 3}), 5, 0).expect_failure(TENGINE_EINVAL, "3 values for 2 places");
    Sparse(ints({1, 3}, {0, 0, 0}), values, 5, 5).expect_failure(TENGINE_EINVAL, "rows of 2");
    Sparse(ints({1, 2}, {0, 0}), values, 5, -5)
        .expect_failure(TENGINE_ERANGE, "output_shape_size1 is -5");
    Sparse(ints({1, 1, 1}, {0}), values, 5, 0).expect_failure(TENGINE_EINVAL, "3 dimensions");
}

}  // namespace
}  // namespace tengine::test
