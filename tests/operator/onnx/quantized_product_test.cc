// SPDX-License-Identifier: Apache-2.0
// MatMulNBits, DynamicQuantizeMatMul and MatMulIntegerToFloat against their definitions, and
// refusals of shape inference.
#include <cfloat>

#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

constexpr const char* kNbits = "com.microsoft.MatMulNBits";
constexpr const char* kDynamic = "com.microsoft.DynamicQuantizeMatMul";
constexpr const char* kIntegerToFloat = "com.microsoft.MatMulIntegerToFloat";

// Returns multiples of a quarter between -2 and 2, which every float type represents.
template <class T>
std::vector<T> random_quarters(size_t number, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<T> values(number);
    for (T& value : values)
        value = static_cast<T>((static_cast<float>(random() % 17) - 8) / 4);
    return values;
}

template <class T>
constexpr double kEpsilon = cpu::is_half<T> ? 0x1p-8 : FLT_EPSILON;

enum class ZeroPoints
{
    kAbsent,
    kPacked,
    kFloat
};

struct NbitsCase
{
    std::vector<int> rows;  // dimensions of A before the last
    int k, n, bits, block_size;
    ZeroPoints zero_points = ZeroPoints::kAbsent;
    bool has_indices = false, has_bias = false;

    int blocks() const { return (k + block_size - 1) / block_size; }
    int block_bytes() const { return block_size * bits / 8; }
    int zero_point_step() const { return (blocks() * bits + 7) / 8; }
};

// Returns element `index` of a list of 2, 4 or 8 bits each.
int element(const uint8_t* bytes, int index, int bits)
{
    if (bits == 2) return bytes[index / 4] >> 2 * (index % 4) & 3;
    return bits == 8        ? bytes[index]
           : index % 2 == 0 ? bytes[index / 2] & 15
                            : bytes[index / 2] >> 4;
}

template <class T>
struct NbitsInputs
{
    int rows = 1;
    std::vector<T> a, scales, zeros, bias;
    std::vector<uint8_t> b, packed_zeros;
    std::vector<int32_t> indices;

    explicit NbitsInputs(const NbitsCase& c)
    {
        for (const int dim : c.rows)
            rows *= dim;
        const auto number = [](int count) { return static_cast<size_t>(count); };
        a = random_quarters<T>(number(rows * c.k), 1);
        b = random_bytes<uint8_t>(number(c.n * c.blocks() * c.block_bytes()), 2);
        scales = random_quarters<T>(number(c.n * c.blocks()), 3);
        zeros = random_quarters<T>(number(c.n * c.blocks()), 4);
        packed_zeros = random_bytes<uint8_t>(number(c.n * c.zero_point_step()), 5);
        bias = random_quarters<T>(number(c.n), 6);
        for (int k = 0; k < c.k; ++k)
            indices.push_back(k * 7 % c.blocks());
    }

    double weight(const NbitsCase& c, int n, int k) const
    {
        const int block = c.has_indices ? indices[static_cast<size_t>(k)] : k / c.block_size;
        const auto at = static_cast<size_t>(n * c.blocks() + block);
        double zero = c.bits == 2 ? 2 : c.bits == 4 ? 8 : 128;
        if (c.zero_points == ZeroPoints::kFloat) zero = zeros[at];
        if (c.zero_points == ZeroPoints::kPacked)
            zero = element(packed_zeros.data() + n * c.zero_point_step(), block, c.bits);
        const int q = element(b.data() + n * c.blocks() * c.block_bytes(), k, c.bits);
        return (q - zero) * static_cast<double>(scales[at]);
    }
};

template <class T>
node* add_nbits(ConstantGraph* graph, const NbitsCase& c, const NbitsInputs<T>& inputs)
{
    std::vector<int> dims = c.rows;
    dims.push_back(c.k);
    graph->input<T>("a", dims, inputs.a);
    graph->input<uint8_t>("b", {c.n, c.blocks(), c.block_bytes()}, inputs.b);
    graph->input<T>("scales", {c.n * c.blocks()}, inputs.scales);
    graph->input<T>("zeros", {c.n, c.blocks()}, inputs.zeros);
    graph->input<uint8_t>("packed_zeros", {c.n * c.zero_point_step()}, inputs.packed_zeros);
    graph->input<int32_t>("indices", {c.k}, inputs.indices);
    graph->input<T>("bias", {c.n}, inputs.bias);
    const char* const zero_points[] = {"", "packed_zeros", "zeros"};
    node* made =
        graph->add(kNbits, {"a", "b", "scales", zero_points[static_cast<int>(c.zero_points)],
                            c.has_indices ? "indices" : "", c.has_bias ? "bias" : ""});
    set_node_int(made, "K", c.k);
    set_node_int(made, "N", c.n);
    set_node_int(made, "bits", c.bits);
    set_node_int(made, "block_size", c.block_size);
    return made;
}

template <class T>
void check_nbits(const NbitsCase& c)
{
    SCOPED_TRACE(testing::Message() << c.k << " x " << c.n << ", " << c.bits << " bits, blocks of "
                                    << c.block_size << ", " << sizeof(T) << " bytes");
    const NbitsInputs<T> inputs(c);
    ConstantGraph graph;
    add_nbits(&graph, c, inputs);
    const tensor* y = graph.evaluate();
    std::vector<int> dims = c.rows;
    dims.push_back(c.n);
    ASSERT_EQ(dims_of(y), dims);
    const std::vector<T> values = values_of<T>(y);
    for (int m = 0; m < inputs.rows; ++m)
        for (int n = 0; n < c.n; ++n) {
            double sum = c.has_bias ? static_cast<double>(inputs.bias[static_cast<size_t>(n)]) : 0;
            double magnitude = std::abs(sum);
            for (int k = 0; k < c.k; ++k) {
                const double product =
                    inputs.weight(c, n, k) *
                    static_cast<double>(inputs.a[static_cast<size_t>(m * c.k + k)]);
                sum += product;
                magnitude += std::abs(product);
            }
            // Sums of k products, each of which is rounded once more for its weight, in fp32; then
            // to T.
            const double bound =
                (c.k + 3) * double{FLT_EPSILON} * magnitude + kEpsilon<T> * std::abs(sum);
            ASSERT_NEAR(static_cast<double>(values[static_cast<size_t>(m * c.n + n)]), sum, bound)
                << m << ", " << n;
        }
}

TEST(MatMulNBits, IsItsDefinition)
{
    check_nbits<float>({{1}, 32, 5, 4, 32});
    check_nbits<float>({{3}, 64, 17, 4, 16, ZeroPoints::kPacked, false, true});
    check_nbits<float>({{2, 3}, 96, 40, 4, 32, ZeroPoints::kFloat});
    check_nbits<float>({{5}, 77, 33, 4, 32, ZeroPoints::kPacked});
    check_nbits<float>({{}, 130, 9, 4, 128, ZeroPoints::kAbsent, false, true});
    check_nbits<float>({{1}, 64, 9, 8, 32});
    check_nbits<float>({{7}, 100, 19, 8, 16, ZeroPoints::kPacked, false, true});
    check_nbits<float>({{2}, 300, 33, 8, 256, ZeroPoints::kFloat});
    check_nbits<float>({{40}, 160, 70, 4, 32, ZeroPoints::kPacked, false, true});
    check_nbits<float>({{3}, 128, 6, 2, 64, ZeroPoints::kPacked});
    check_nbits<float>({{1}, 33, 19, 2, 16});
    check_nbits<float>({{20}, 200, 40, 2, 32, ZeroPoints::kFloat, false, true});
}

TEST(MatMulNBits, BlocksAreThoseOfAnIndex)
{
    for (const ZeroPoints zero_points :
         {ZeroPoints::kAbsent, ZeroPoints::kPacked, ZeroPoints::kFloat})
        check_nbits<float>({{2}, 75, 6, 4, 16, zero_points, true});
}

TEST(MatMulNBits, HalfTypes)
{
    check_nbits<Half>({{3}, 64, 7, 4, 32, ZeroPoints::kFloat, false, true});
    check_nbits<BFloat16>({{3}, 40, 7, 8, 16, ZeroPoints::kPacked, false, true});
    check_nbits<BFloat16>({{3}, 40, 7, 2, 16, ZeroPoints::kPacked, false, true});
}

// ---- MatMulBnb4 ----

// The values of the codes, from bitsandbytes: FP4 is a sign and a fraction, NF4 quantiles.
constexpr double kFp4[] = {0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 0.5, 1.0 / 6, 0.25};
constexpr double kNf4[] = {-1.0,
                           -0.6961928009986877,
                           -0.5250730514526367,
                           -0.39491748809814453,
                           -0.28444138169288635,
                           -0.18477343022823334,
                           -0.09105003625154495,
                           0.0,
                           0.07958029955625534,
                           0.16093020141124725,
                           0.24611230194568634,
                           0.33791524171829224,
                           0.44070982933044434,
                           0.5626170039176941,
                           0.7229568362236023,
                           1.0};

template <class T>
void check_bnb4(int rows, int k, int n, int block_size, int quant_type, bool is_transposed)
{
    SCOPED_TRACE(testing::Message() << n << " x " << k << ", blocks of " << block_size << ", type "
                                    << quant_type << is_transposed);
    const int depth = is_transposed ? k : n, columns = is_transposed ? n : k;
    const int blocks = (n * k + block_size - 1) / block_size;
    const auto a = random_quarters<T>(static_cast<size_t>(rows * depth), 1);
    const auto b = random_bytes<uint8_t>(static_cast<size_t>((n * k + 1) / 2), 2);
    const auto largest = random_quarters<T>(static_cast<size_t>(blocks), 3);
    ConstantGraph graph;
    graph.input<T>("a", {rows, depth}, a);
    graph.input<uint8_t>("b", {static_cast<int>(b.size())}, b);
    graph.input<T>("largest", {blocks}, largest);
    node* made = graph.add("com.microsoft.MatMulBnb4", {"a", "b", "largest"});
    set_node_int(made, "K", k);
    set_node_int(made, "N", n);
    set_node_int(made, "block_size", block_size);
    set_node_int(made, "quant_type", quant_type);
    set_node_int(made, "transB", is_transposed);
    const tensor* y = graph.evaluate();
    ASSERT_EQ(dims_of(y), (std::vector<int>{rows, columns}));
    const auto values = values_of<T>(y);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            double sum = 0;
            for (int i = 0; i < depth; ++i) {
                const int at = is_transposed ? column * k + i : i * k + column;
                const int byte = b[static_cast<size_t>(at / 2)];
                const int code = at % 2 == 0 ? byte / 16 : byte % 16;
                const double step = quant_type == 1 ? kNf4[code]
                                    : code < 8      ? kFp4[code]
                                                    : -kFp4[code - 8];
                sum += static_cast<double>(a[static_cast<size_t>(row * depth + i)]) * step *
                       static_cast<double>(largest[static_cast<size_t>(at / block_size)]);
            }
            ASSERT_NEAR(static_cast<double>(values[static_cast<size_t>(row * columns + column)]),
                        sum, 1e-5 * depth + kEpsilon<T> * std::abs(sum))
                << row << ", " << column;
        }
}

TEST(MatMulBnb4, IsItsDefinition)
{
    for (const int quant_type : {0, 1})
        for (const bool is_transposed : {true, false}) {
            check_bnb4<float>(2, 64, 8, 32, quant_type, is_transposed);
            check_bnb4<float>(3, 33, 5, 16, quant_type, is_transposed);
            check_bnb4<float>(1, 7, 3, 16, quant_type, is_transposed);
        }
    check_bnb4<Half>(2, 20, 9, 16, 1, true);
    check_bnb4<BFloat16>(2, 20, 9, 64, 0, true);
}

TEST(MatMulBnb4, RefusesWhatDoesNotFit)
{
    const auto refuse = [](int k, int block_size, const char* part) {
        ConstantGraph graph;
        graph.input<float>("a", {1, 16}, std::vector<float>(16, 1));
        graph.input<uint8_t>("b", {16}, std::vector<uint8_t>(16));
        graph.input<float>("largest", {2}, {1, 1});
        node* made = graph.add("com.microsoft.MatMulBnb4", {"a", "b", "largest"});
        set_node_int(made, "K", k);
        set_node_int(made, "N", 2);
        set_node_int(made, "block_size", block_size);
        set_node_int(made, "quant_type", 1);
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    refuse(18, 16, "A has rank 2 and 16 columns, expected 18");
    refuse(16, 24, "block_size is 24, expected a power of two");
    refuse(16, 32, "'largest' has 2 values, expected 1");
}

TEST(MatMulNBits, NoRows)
{
    const NbitsCase c = {{0}, 32, 5, 4, 32};
    ConstantGraph graph;
    add_nbits(&graph, c, NbitsInputs<float>(c));
    EXPECT_EQ(dims_of(graph.evaluate()), (std::vector<int>{0, 5}));
}

void refuse_value(const char* attribute, int value, int code, const char* part)
{
    const NbitsCase c = {{2}, 64, 5, 4, 32};
    ConstantGraph graph;
    set_node_int(add_nbits(&graph, c, NbitsInputs<float>(c)), attribute, value);
    graph.expect_failure(code, part);
}

TEST(MatMulNBits, RefusesAttributes)
{
    refuse_value("bits", 3, TENGINE_ENOTSUP, "bits is 3, expected 2, 4 or 8");
    refuse_value("block_size", 48, TENGINE_EINVAL, "block_size is 48, expected a power of two");
    refuse_value("weight_prepacked", 1, TENGINE_ENOTSUP, "weight_prepacked is 1, expected 0");
    refuse_value("K", 65, TENGINE_EINVAL, "A has rank 2 and 64 columns, expected 65");
    refuse_value("N", 6, TENGINE_EINVAL, "input 1 'b' has 160 values, expected 192");
    refuse_value("block_size", 64, TENGINE_EINVAL, "'scales' has 10 values, expected 5");
}

void refuse_input(int index, const char* name, int code, const char* part)
{
    const NbitsCase c = {{2}, 64, 5, 4, 32};
    ConstantGraph graph;
    graph.input<float>("floats", {3}, {1, 2, 3});
    graph.input<double>("double", {1, 64}, std::vector<double>(64));
    graph.input<int32_t>("wrong", {64}, std::vector<int32_t>(64, 2));
    node* made = add_nbits(&graph, c, NbitsInputs<float>(c));
    ASSERT_EQ(set_ir_node_input_tensor(made, index, graph.builder().find(name)), 0);
    graph.expect_failure(code, part);
}

TEST(MatMulNBits, RefusesInputs)
{
    refuse_input(0, "double", TENGINE_EDTYPE, "expected one of: fp32");
    refuse_input(1, "floats", TENGINE_EDTYPE, "expected one of: uint8");
    refuse_input(2, "b", TENGINE_EDTYPE, "expected one of: fp32");
    refuse_input(3, "floats", TENGINE_EINVAL, "'floats' has 3 values, expected 10");
    refuse_input(3, "b", TENGINE_EINVAL, "'b' has 160 values, expected 5");
    refuse_input(3, "indices", TENGINE_EDTYPE, "expected one of: fp32 uint8");
    refuse_input(4, "floats", TENGINE_EDTYPE, "expected one of: int32");
    refuse_input(4, "wrong", TENGINE_ERANGE, "value 0 of g_idx 'wrong' is 2, expected 0 to 1");
    refuse_input(5, "floats", TENGINE_EINVAL, "'floats' has 3 values, expected 5");
}

TEST(MatMulNBits, AnIndexThatIsNoConstant)
{
    const NbitsCase c = {{2}, 64, 5, 4, 32};
    ConstantGraph graph;
    node* made = add_nbits(&graph, c, NbitsInputs<float>(c));
    ASSERT_EQ(
        set_ir_node_input_tensor(made, 4, graph.builder().input("given", {64}, TENGINE_DT_INT32)),
        0);
    graph.expect_failure(TENGINE_ENOTSUP, "g_idx 'given' is not a constant");
}

TEST(MatMulNBits, MultiplyAccumulates)
{
    const NbitsCase c = {{2, 3}, 64, 5, 4, 32};
    ConstantGraph graph;
    node* made = add_nbits(&graph, c, NbitsInputs<float>(c));
    ASSERT_EQ(made->op.infer_shape(made), 0);
    EXPECT_EQ(get_ir_node_macs(made), 6 * 64 * 5);
}

// The number of scales and zero points of b: one, one for each column, or one for each column of
// each matrix.
enum class Slices
{
    kOne,
    kColumns,
    kMatrices
};

struct BytesCase
{
    std::vector<int> a, b;  // dimensions
    Slices slices = Slices::kOne;
    bool has_zero_points = true, has_bias = true;

    int k() const { return a.back(); }
    int n() const { return b.back(); }
    int rows() const { return a[a.size() - 2]; }
    int matrices() const { return a.size() > 2 ? a[0] : 1; }
    int b_matrices() const { return b.size() > 2 ? b[0] : 1; }
};

template <class B>
struct Bytes
{
    std::vector<B> values, zeros;
    std::vector<float> scales, bias;

    explicit Bytes(const BytesCase& c)
    {
        const int slices = c.slices == Slices::kOne       ? 1
                           : c.slices == Slices::kColumns ? c.n()
                                                          : c.n() * c.b_matrices();
        values = random_bytes<B>(static_cast<size_t>(c.b_matrices() * c.k() * c.n()), 2);
        for (int i = 0; i < slices; ++i) {
            scales.push_back(0.01f + 0.0007f * static_cast<float>(i));
            zeros.push_back(static_cast<B>(i - 5));
        }
        for (int i = 0; i < c.n(); ++i)
            bias.push_back(0.3f * static_cast<float>(i - 2));
    }
};

template <class B>
void add_bytes(ConstantGraph* graph, const BytesCase& c, const Bytes<B>& b)
{
    graph->input<B>("b", c.b, b.values);
    const int slices = static_cast<int>(b.scales.size());
    std::vector<int> dims = {slices};
    if (c.slices == Slices::kMatrices) dims = {c.b_matrices(), 1, c.n()};
    graph->input<float>("b_scale", dims, b.scales);
    graph->input<B>("b_zero", dims, b.zeros);
    graph->input<float>("bias", {c.n()}, b.bias);
}

// Returns the products of `a` less `a_zero`.
template <class A, class B>
void check_sums(const BytesCase& c, const std::vector<A>& a, int a_zero, double a_scale,
                const Bytes<B>& b, const std::vector<float>& values)
{
    ASSERT_EQ(values.size(), static_cast<size_t>(c.matrices() * c.rows() * c.n()));
    for (int i = 0; i < static_cast<int>(values.size()); ++i) {
        const int n = i % c.n(), row = i / c.n();
        const int matrix = c.b_matrices() > 1 ? row / c.rows() : 0;
        const auto slice = static_cast<size_t>(c.slices == Slices::kOne       ? 0
                                               : c.slices == Slices::kColumns ? n
                                                                              : matrix * c.n() + n);
        int64_t sum = 0;
        for (int k = 0; k < c.k(); ++k) {
            const B w = b.values[static_cast<size_t>((matrix * c.k() + k) * c.n() + n)];
            sum += (a[static_cast<size_t>(row * c.k() + k)] - a_zero) *
                   (w - (c.has_zero_points ? b.zeros[slice] : 0));
        }
        const double bias = c.has_bias ? double{b.bias[static_cast<size_t>(n)]} : 0;
        const double product = static_cast<double>(sum) * a_scale * double{b.scales[slice]};
        // Roundings in fp32: the sum, the factor, their product and the addition of the bias.
        ASSERT_NEAR(double{values[static_cast<size_t>(i)]}, product + bias,
                    2 * double{FLT_EPSILON} * (std::abs(product) + std::abs(bias)))
            << i;
    }
}

std::vector<BytesCase> list_byte_cases()
{
    return {{{1, 1}, {1, 1}},
            {{5, 13}, {13, 7}, Slices::kColumns},
            {{3, 40}, {40, 130}, Slices::kColumns, false, true},
            {{2, 3, 17}, {17, 9}, Slices::kOne, true, false},
            {{2, 3, 17}, {2, 17, 9}, Slices::kMatrices},
            {{4, 40000}, {40000, 2}, Slices::kOne, true, false}};
}

template <class A, class B>
void check_integer_to_float(const BytesCase& c)
{
    const auto a = random_bytes<A>(static_cast<size_t>(c.matrices() * c.rows() * c.k()), 1);
    const Bytes<B> b(c);
    ConstantGraph graph;
    add_tensor<A>(&graph, "a", c.a, a, 0.03f, 17);
    add_bytes(&graph, c, b);
    graph.add(kIntegerToFloat, {"a", "b", "a_scale", "b_scale", c.has_zero_points ? "a_zero" : "",
                                c.has_zero_points ? "b_zero" : "", c.has_bias ? "bias" : ""});
    check_sums<A, B>(c, a, c.has_zero_points ? 17 : 0, double{0.03f}, b,
                     values_of<float>(graph.evaluate()));
}

TEST(MatMulIntegerToFloat, IsItsDefinition)
{
    for (const BytesCase& c : list_byte_cases()) {
        check_integer_to_float<int8_t, int8_t>(c);
        check_integer_to_float<int8_t, uint8_t>(c);
        check_integer_to_float<uint8_t, int8_t>(c);
        check_integer_to_float<uint8_t, uint8_t>(c);
    }
}

// A is quantised as DynamicQuantizeLinear does for all of A, whose range includes 0.
template <class B>
void check_dynamic(const BytesCase& c, float low, float high)
{
    SCOPED_TRACE(testing::Message() << c.k() << " x " << c.n() << ", " << low << " to " << high);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> uniform(low, high);
    std::vector<float> a(static_cast<size_t>(c.matrices() * c.rows() * c.k()));
    for (float& value : a)
        value = low == high ? low : uniform(random);
    ConstantGraph scaled;
    scaled.input<float>("a", c.a, a);
    scaled.add("DynamicQuantizeLinear", {"a"}, {"y", "y_scale", "y_zero"});
    scaled.builder().outputs({"y", "y_scale", "y_zero"});
    const std::vector<uint8_t> bytes = values_of<uint8_t>(scaled.evaluate());
    const Bytes<B> b(c);
    ConstantGraph graph;
    graph.input<float>("a", c.a, a);
    add_bytes(&graph, c, b);
    graph.add(kDynamic,
              {"a", "b", "b_scale", c.has_zero_points ? "b_zero" : "", c.has_bias ? "bias" : ""});
    const float lowest = std::min(0.0f, *std::min_element(a.begin(), a.end()));
    const float highest = std::max(0.0f, *std::max_element(a.begin(), a.end()));
    const float scale = lowest == highest ? 1.0f : (highest - lowest) / 255.0f;
    const int zero = static_cast<int>(std::nearbyint(-lowest / scale));
    check_sums<uint8_t, B>(c, bytes, zero, double{scale}, b, values_of<float>(graph.evaluate()));
}

TEST(DynamicQuantizeMatMul, IsItsDefinition)
{
    for (const BytesCase& c : list_byte_cases())
        for (const auto& [low, high] : std::vector<std::pair<float, float>>{
                 {-1.0f, 3.0f}, {2.0f, 5.0f}, {-7.0f, -1.0f}, {0.0f, 0.0f}}) {
            check_dynamic<int8_t>(c, low, high);
            check_dynamic<uint8_t>(c, low, high);
        }
}

// Each row is an independent product.
TEST(RowQuantizeMatMul, IsThatOfEachRow)
{
    const BytesCase c = {{1, 6}, {6, 4}, Slices::kColumns, true, true};
    const std::vector<float> first = {0.5f, -1.5f, 2, 0.25f, 0, 1}, second = {3, 4, 5, 6, 7, 8};
    const auto multiply = [&](const char* op, std::vector<int> dims, const std::vector<float>& a) {
        ConstantGraph graph;
        graph.input<float>("a", dims, a);
        add_bytes(&graph, c, Bytes<int8_t>(c));
        graph.add(op, {"a", "b", "b_scale", "b_zero", "bias"});
        return values_of<float>(graph.evaluate());
    };
    std::vector<float> expected = multiply(kDynamic, {1, 6}, first), both = first;
    const std::vector<float> rest = multiply(kDynamic, {1, 6}, second);
    expected.insert(expected.end(), rest.begin(), rest.end());
    both.insert(both.end(), second.begin(), second.end());
    const std::vector<float> made = multiply("tengine.RowQuantizeMatMul", {2, 1, 6}, both);
    ASSERT_EQ(made.size(), expected.size());
    for (size_t i = 0; i < made.size(); ++i)
        EXPECT_FLOAT_EQ(made[i], expected[i]) << i;  // of doubles in another order
    EXPECT_NE(multiply(kDynamic, {2, 1, 6}, both), expected) << "with one scale for both rows";
}

TEST(RowQuantizeMatMul, NeedsAMatrix)
{
    ConstantGraph graph;
    graph.input<float>("a", {2, 1, 3}, std::vector<float>(6));
    graph.input<int8_t>("b", {2, 3, 4}, std::vector<int8_t>(24));
    graph.input<float>("b_scale", {}, {1});
    graph.add("tengine.RowQuantizeMatMul", {"a", "b", "b_scale"});
    graph.expect_failure(TENGINE_EINVAL, "B has rank 3, expected a matrix");
}

void refuse_bytes(const char* op, std::vector<std::string> inputs, size_t index, const char* name,
                  int code, const char* part)
{
    const BytesCase c = {{2, 3}, {3, 4}, Slices::kColumns};
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "a", c.a, std::vector<uint8_t>(6), 0.5f, 1);
    graph.input<float>("reals", c.a, std::vector<float>(6));
    graph.input<float>("two", {2}, {1, 1});
    graph.input<float>("negative", {1}, {-1});
    graph.input<int8_t>("zero", {}, {1});
    add_bytes(&graph, c, Bytes<uint8_t>(c));
    inputs[index] = name;
    graph.add(op, inputs);
    graph.expect_failure(code, part);
}

TEST(MatMulIntegerToFloat, RefusesWhatDoesNotFit)
{
    const auto refuse = [](size_t index, const char* name, int code, const char* part) {
        refuse_bytes(kIntegerToFloat, {"a", "b", "a_scale", "b_scale", "a_zero", "b_zero", "bias"},
                     index, name, code, part);
    };
    refuse(0, "reals", TENGINE_EDTYPE, "expected one of: int8 uint8");
    refuse(1, "reals", TENGINE_EDTYPE, "expected one of: int8 uint8");
    refuse(1, "a", TENGINE_EINVAL, "'a' has 3 columns, 'a' has 2 rows");
    refuse(2, "two", TENGINE_EINVAL, "'two' has 2 values, expected 1");
    refuse(2, "negative", TENGINE_ERANGE, "expected a number of 0 or more");
    refuse(3, "two", TENGINE_EINVAL, "'two' has 2 values, expected 1 or 4");
    refuse(4, "zero", TENGINE_EDTYPE, "expected one of: uint8");
    refuse(5, "zero", TENGINE_EDTYPE, "expected one of: uint8");
    refuse(6, "two", TENGINE_EINVAL, "'two' has 2 values, expected 4");
    refuse(6, "a", TENGINE_EDTYPE, "expected one of: fp32");
}

TEST(DynamicQuantizeMatMul, RefusesWhatDoesNotFit)
{
    const auto refuse = [](size_t index, const char* name, int code, const char* part) {
        refuse_bytes(kDynamic, {"reals", "b", "b_scale", "b_zero", "bias"}, index, name, code,
                     part);
    };
    refuse(0, "a", TENGINE_EDTYPE, "expected one of: fp32");
    refuse(2, "two", TENGINE_EINVAL, "'two' has 2 values, expected 1 or 4");
    refuse(2, "a", TENGINE_EDTYPE, "expected one of: fp32");
    refuse(3, "zero", TENGINE_EDTYPE, "expected one of: uint8");
    refuse(4, "two", TENGINE_EINVAL, "'two' has 2 values, expected 4");
}

}  // namespace
}  // namespace tengine::test
