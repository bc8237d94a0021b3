// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <unordered_map>

#ifdef TENGINE_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>
#endif
#ifdef TENGINE_HAVE_OPENBLAS
#include <cblas.h>
#endif

namespace tengine {
#if defined(TENGINE_HAVE_ONEDNN) || defined(TENGINE_HAVE_OPENBLAS)
namespace {

using Shape = std::vector<int64_t>;

Shape shape_of(const tools::Case& node_case, size_t input)
{
    return {node_case.inputs[input].dims.begin(), node_case.inputs[input].dims.end()};
}

int find_int(const tools::Case& node_case, const std::string& name, int otherwise)
{
    for (const auto& [key, value] : node_case.ints)
        if (key == name) return value;
    return otherwise;
}

// Matrix products of a stack: c = a b, b transposed if Gemm's transB is set.
struct ProductSizes
{
    int64_t batch, m, n, k;
    bool is_transposed;
};

bool find_product(const tools::Case& node_case, ProductSizes* out_sizes)
{
    const bool is_gemm = node_case.op == "Gemm";
    if (!is_gemm && node_case.op != "MatMul") return false;
    const Shape a = shape_of(node_case, 0), b = shape_of(node_case, 1);
    const bool is_transposed = find_int(node_case, "transB", 0) != 0;
    const int64_t stack = std::accumulate(a.begin(), a.end() - 2, int64_t{1}, std::multiplies<>());
    const int64_t k = a.back(), rows = a[a.size() - 2];
    const bool is_one = b.size() == 2;  // one for all matrices of a
    *out_sizes = {is_one ? 1 : stack, is_one ? stack * rows : rows, is_transposed ? b[0] : b.back(),
                  k, is_transposed};
    return true;
}

#ifdef TENGINE_HAVE_ONEDNN

using Memory = dnnl::memory;

// A primitive with its memory, in the layout that oneDNN prefers.
struct Primitive
{
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    dnnl::primitive primitive;
    std::unordered_map<int, Memory> arguments;

    void add(int argument, const Memory::desc& desc)
    {
        Memory memory(desc, engine);
        float* values = static_cast<float*>(memory.get_data_handle());
        std::fill_n(values, desc.get_size() / sizeof(float), 0.5f);
        arguments.emplace(argument, memory);
    }
    void run()
    {
        primitive.execute(stream, arguments);
        stream.wait();
    }
};

Memory::desc any_layout(const Shape& shape)
{
    return {shape, Memory::data_type::f32, Memory::format_tag::any};
}

void prepare_convolution(const tools::Case& node_case, Primitive* out_primitive)
{
    const Shape input = shape_of(node_case, 0);
    Shape weight = shape_of(node_case, 1), output = {input[0], weight[0]};
    Shape strides(2, 1), dilations(2, 1), pads(4, 0);
    for (const auto& [name, values] : node_case.lists)
        (name == "strides" ? strides : name == "dilations" ? dilations : pads) = values;
    for (size_t i = 0; i < 2; ++i) {
        const int64_t reach = (weight[i + 2] - 1) * dilations[i] + 1;
        output.push_back((input[i + 2] + pads[i] + pads[i + 2] - reach) / strides[i] + 1);
        --dilations[i];  // oneDNN counts the elements between taps
    }
    const int64_t group = find_int(node_case, "group", 1), channels = weight[0];
    if (group > 1) {
        weight[0] /= group;
        weight.insert(weight.begin(), group);
    }
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, any_layout(input),
        any_layout(weight), any_layout({channels}), any_layout(output), strides, dilations,
        {pads[0], pads[1]}, {pads[2], pads[3]});
    const dnnl::convolution_forward::primitive_desc chosen(desc, out_primitive->engine);
    out_primitive->add(DNNL_ARG_SRC, chosen.src_desc());
    out_primitive->add(DNNL_ARG_WEIGHTS, chosen.weights_desc());
    out_primitive->add(DNNL_ARG_BIAS, chosen.bias_desc());
    out_primitive->add(DNNL_ARG_DST, chosen.dst_desc());
    out_primitive->primitive = dnnl::convolution_forward(chosen);
}

void prepare_product(const ProductSizes& sizes, Primitive* out_primitive)
{
    const auto stack = [&](int64_t rows, int64_t columns) {
        return any_layout({sizes.batch, rows, columns});
    };
    const dnnl::matmul::desc desc(stack(sizes.m, sizes.k), stack(sizes.k, sizes.n),
                                  stack(sizes.m, sizes.n));
    const dnnl::matmul::primitive_desc chosen(desc, out_primitive->engine);
    out_primitive->add(DNNL_ARG_SRC, chosen.src_desc());
    out_primitive->add(DNNL_ARG_WEIGHTS, chosen.weights_desc());
    out_primitive->add(DNNL_ARG_DST, chosen.dst_desc());
    out_primitive->primitive = dnnl::matmul(chosen);
}

void add_onednn(const tools::Case& node_case, std::vector<Peer>* peers)
{
    ProductSizes sizes = {};
    const bool is_product = find_product(node_case, &sizes);
    if (!is_product && (node_case.op != "Conv" || node_case.inputs[0].dims.size() != 4)) return;
    peers->push_back({"oneDNN", [=] {
                          const auto primitive = std::make_shared<Primitive>();
                          if (is_product)
                              prepare_product(sizes, primitive.get());
                          else
                              prepare_convolution(node_case, primitive.get());
                          return [primitive] { primitive->run(); };
                      }});
}

#endif

#ifdef TENGINE_HAVE_OPENBLAS

struct Matrices
{
    explicit Matrices(const ProductSizes& product)
        : sizes(product),
          a(count(product.m, product.k), 0.5f),
          b(count(product.k, product.n), 0.5f),
          c(count(product.m, product.n))
    {
    }

    size_t count(int64_t rows, int64_t columns) const
    {
        return static_cast<size_t>(sizes.batch * rows * columns);
    }

    void multiply()
    {
        const int m = static_cast<int>(sizes.m), n = static_cast<int>(sizes.n),
                  k = static_cast<int>(sizes.k);
        const CBLAS_TRANSPOSE order = sizes.is_transposed ? CblasTrans : CblasNoTrans;
        if (sizes.batch == 1 && m == 1)
            return cblas_sgemv(CblasRowMajor, sizes.is_transposed ? CblasNoTrans : CblasTrans,
                               sizes.is_transposed ? n : k, sizes.is_transposed ? k : n, 1,
                               b.data(), sizes.is_transposed ? k : n, a.data(), 1, 0, c.data(), 1);
        for (int64_t i = 0; i < sizes.batch; ++i)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, order, m, n, k, 1,
                        a.data() + i * sizes.m * sizes.k, k, b.data() + i * sizes.k * sizes.n,
                        sizes.is_transposed ? k : n, 0, c.data() + i * sizes.m * sizes.n, n);
    }

    ProductSizes sizes;
    std::vector<float> a, b, c;
};

void add_openblas(const tools::Case& node_case, std::vector<Peer>* peers)
{
    ProductSizes sizes;
    if (!find_product(node_case, &sizes)) return;
    peers->push_back({"OpenBLAS", [sizes] {
                          const auto matrices = std::make_shared<Matrices>(sizes);
                          return [matrices] { matrices->multiply(); };
                      }});
}

#endif

}  // namespace
#endif

void keep_peers_single_threaded()
{
#ifdef TENGINE_HAVE_ONEDNN
    omp_set_num_threads(1);
#endif
#ifdef TENGINE_HAVE_OPENBLAS
    openblas_set_num_threads(1);
#endif
}

std::vector<Peer> find_peers([[maybe_unused]] const tools::Case& node_case)
{
    std::vector<Peer> peers;
#ifdef TENGINE_HAVE_ONEDNN
    add_onednn(node_case, &peers);
#endif
#ifdef TENGINE_HAVE_OPENBLAS
    add_openblas(node_case, &peers);
#endif
    return peers;
}

}  // namespace tengine
