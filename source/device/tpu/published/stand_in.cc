// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/published/stand_in.h"

#include <algorithm>

#include "tengine/c_api.h"

namespace tengine::tpu {
namespace {

constexpr uint64_t kFactorOne = 1u << 30;  // with shift 30

uint32_t narrow(int64_t value)
{
    return static_cast<uint32_t>(value);
}

class Builder
{
  public:
    explicit Builder(const Config& config) : config_(config)
    {
        program_.fingerprint = fingerprint_of(config);
    }

    Instruction& add(Opcode opcode)
    {
        program_.instructions.emplace_back();
        program_.instructions.back().opcode = opcode;
        return program_.instructions.back();
    }

    void fetch_tile(uint64_t address)
    {
        Instruction& in = add(Opcode::kReadWeights);
        in.tiles = 1;
        in.host_address = address;
    }

    // Adds another tile to weight memory, and its fetch.
    void fetch_new_tile()
    {
        fetch_tile(weight_bytes_);
        weight_bytes_ += static_cast<size_t>(config_.rows) * static_cast<size_t>(config_.columns);
    }

    void tag(uint32_t node)
    {
        program_.nodes.push_back("layer" + std::to_string(node));
        add(Opcode::kTag).value = node;
    }

    // Adds parameters that leave sums unchanged to the constants; reads them to `address` of the
    // buffer.
    void add_parameters(int number, int64_t address)
    {
        const uint64_t begin = program_.constants.size();
        for (int c = 0; c < number; ++c) {
            const uint32_t words[] = {0, narrow(kFactorOne), 30};
            for (const uint32_t word : words)
                for (int byte = 0; byte < 4; ++byte)
                    program_.constants.push_back(static_cast<uint8_t>(word >> 8 * byte));
        }
        Instruction& in = add(Opcode::kReadHost);
        in.outer = in.inner = 1;
        in.length = narrow(program_.constants.size() - begin);
        in.host_address = begin;
        in.d.address = narrow(address);
    }

    // Binds a tensor of `dims` after everything that is in host memory so far.
    uint64_t bind(const char* name, bool is_output, const std::vector<int>& dims)
    {
        Binding binding;
        binding.name = name;
        binding.is_output = is_output;
        binding.data_type = TENGINE_DT_INT8;
        binding.channels_last = dims.size() == 4;
        binding.dims = dims;
        program_.host_bytes = std::max<uint64_t>(program_.host_bytes, program_.constants.size());
        binding.address = program_.host_bytes;
        uint64_t bytes = 1;
        for (const int dim : dims)
            bytes *= static_cast<uint64_t>(dim);
        program_.host_bytes += bytes;
        program_.bindings.push_back(binding);
        return binding.address;
    }

    Program finish()
    {
        add(Opcode::kHalt);
        program_.host_bytes = std::max<uint64_t>(program_.host_bytes, program_.constants.size());
        program_.weights = std::vector<uint8_t>(weight_bytes_);
        return std::move(program_);
    }

  private:
    const Config& config_;
    Program program_;
    size_t weight_bytes_ = 0;
};

void set_range(Instruction* in)
{
    in->flags |= kSignedD;
    in->lowest = 0x80;  // -128
    in->highest = 0x7f;
}

class DenseBuilder
{
  public:
    DenseBuilder(const DenseNetwork& network, const Config& config)
        : network_(network), config_(config), builder_(config)
    {
        widest_ = *std::max_element(network.widths.begin(), network.widths.end());
        const int64_t values = int64_t{network.batch} * widest_;
        parameters_ = 2 * values;
        sums_alternate_ = 2 * network.batch <= config.accumulator_rows;
    }

    Program build()
    {
        const int layers = static_cast<int>(network_.widths.size()) - 1;
        int64_t at = parameters_;
        for (int l = 0; l < layers; ++l) {
            const int outputs = network_.widths[static_cast<size_t>(l) + 1];
            builder_.add_parameters(outputs, at);
            at += int64_t{outputs} * kParameterBytes;
        }
        transfer(false, network_.widths.front(), 0);
        at = parameters_;
        for (int l = 0; l < layers; ++l) {
            builder_.tag(static_cast<uint32_t>(l));
            add_layer(l, at);
            at += int64_t{network_.widths[static_cast<size_t>(l) + 1]} * kParameterBytes;
        }
        transfer(true, network_.widths.back(), layers);
        return builder_.finish();
    }

  private:
    // Returns the place of the values before layer l; two places alternate.
    int64_t values(int l) const { return l % 2 * int64_t{network_.batch} * widest_; }

    void transfer(bool is_output, int width, int l)
    {
        const uint64_t host =
            builder_.bind(is_output ? "output" : "input", is_output, {network_.batch, width});
        Instruction& in = builder_.add(is_output ? Opcode::kWriteHost : Opcode::kReadHost);
        in.outer = 1;
        in.inner = static_cast<uint16_t>(network_.batch);
        in.length = narrow(width);
        in.host_address = host;
        Operand& buffer = is_output ? in.a : in.d;
        Operand& memory = is_output ? in.d : in.a;
        buffer = {narrow(values(l)), 0, narrow(width)};
        memory = {0, 0, narrow(width)};
    }

    void add_layer(int l, int64_t parameters)
    {
        const int inputs = network_.widths[static_cast<size_t>(l)];
        const int outputs = network_.widths[static_cast<size_t>(l) + 1];
        for (int n = 0; n < outputs; n += config_.columns) {
            const int columns = std::min(config_.columns, outputs - n);
            const int sums = sums_alternate_ ? n / config_.columns % 2 * network_.batch : 0;
            for (int k = 0; k < inputs; k += config_.rows) {
                builder_.fetch_new_tile();
                Instruction& in = builder_.add(Opcode::kMatrixMultiply);
                in.flags = static_cast<uint16_t>(kNextTile | kSignedA | (k > 0 ? kAccumulate : 0));
                in.outer = 1;
                in.inner = static_cast<uint16_t>(network_.batch);
                in.length = narrow(std::min(config_.rows, inputs - k));
                in.columns = static_cast<uint16_t>(columns);
                in.a = {narrow(values(l) + k), 0, narrow(inputs)};
                in.d.address = narrow(sums);
            }
            Instruction& in = builder_.add(Opcode::kActivate);
            set_range(&in);
            in.outer = 1;
            in.inner = static_cast<uint16_t>(network_.batch);
            in.length = narrow(columns);
            in.a.address = narrow(sums);
            in.b.address = narrow(parameters + int64_t{n} * kParameterBytes);
            in.d = {narrow(values(l + 1) + n), 0, narrow(outputs)};
        }
    }

    const DenseNetwork& network_;
    const Config& config_;
    Builder builder_;
    int widest_ = 0;
    int64_t parameters_ = 0;
    bool sums_alternate_ = false;
};

class ConvolutionBuilder
{
  public:
    ConvolutionBuilder(const ConvolutionNetwork& network, const Config& config)
        : network_(network), config_(config), builder_(config)
    {
        padding_ = network.taps / 2;
        width_ = network.size + 2 * padding_;
        image_ = int64_t{width_} * width_ * network.channels;
    }

    Program build()
    {
        const int64_t parameters = 2 * image_ * network_.batch;
        for (int l = 0; l < network_.layers; ++l)
            builder_.add_parameters(network_.channels,
                                    parameters + int64_t{l} * network_.channels * kParameterBytes);
        clear_padding();
        transfer(false, 0);
        for (int l = 0; l < network_.layers; ++l) {
            builder_.tag(static_cast<uint32_t>(l));
            for (int n = 0; n < network_.channels; n += config_.columns)
                add_columns(l, n,
                            parameters + (int64_t{l} * network_.channels + n) * kParameterBytes);
        }
        transfer(true, network_.layers);
        return builder_.finish();
    }

  private:
    // Returns the place of image i before layer l, with its padding; two places alternate.
    int64_t image(int l, int i) const { return (l % 2 * network_.batch + i) * image_; }
    // Returns the image without its padding.
    Operand inside(int l, int i) const
    {
        return {narrow(image(l, i) + (int64_t{width_} + 1) * padding_ * network_.channels),
                narrow(width_ * network_.channels), narrow(network_.channels)};
    }

    void clear_padding()
    {
        Instruction& in = builder_.add(Opcode::kFill);
        in.outer = 1;
        in.inner = static_cast<uint16_t>(2 * network_.batch);
        in.length = narrow(image_);
        in.d = {0, 0, narrow(image_)};
    }

    void transfer(bool is_output, int l)
    {
        const int n = network_.size;
        const uint64_t host = builder_.bind(is_output ? "output" : "input", is_output,
                                            {network_.batch, network_.channels, n, n});
        const int64_t bytes = int64_t{n} * n * network_.channels;
        for (int i = 0; i < network_.batch; ++i) {
            Instruction& in = builder_.add(is_output ? Opcode::kWriteHost : Opcode::kReadHost);
            set_grid(&in);
            in.length = narrow(network_.channels);
            in.host_address = host + static_cast<uint64_t>(i * bytes);
            const Operand dense = {0, narrow(n * network_.channels), narrow(network_.channels)};
            in.a = is_output ? inside(l, i) : dense;
            in.d = is_output ? dense : inside(l, i);
        }
    }

    void set_grid(Instruction* in) const
    {
        in->outer = in->inner = static_cast<uint16_t>(network_.size);
    }

    void add_columns(int l, int n, int64_t parameters)
    {
        const auto blocks = static_cast<int>(divide_up(network_.channels, config_.rows));
        const int tiles = network_.taps * network_.taps * blocks;
        const int columns = std::min(config_.columns, network_.channels - n);
        for (int t = 0; t < tiles; ++t) {
            builder_.fetch_new_tile();
            for (int i = 0; i < network_.batch; ++i)
                add_product(l, i, t / blocks, t % blocks * config_.rows, columns, i == 0);
        }
        for (int i = 0; i < network_.batch; ++i) {
            Instruction& in = builder_.add(Opcode::kActivate);
            set_range(&in);
            set_grid(&in);
            in.length = narrow(columns);
            in.a.address = narrow(sums(i));
            in.b.address = narrow(parameters);
            in.d = inside(l + 1, i);
            in.d.address += narrow(n);
        }
    }

    int64_t sums(int i) const { return int64_t{i} * network_.size * network_.size; }

    void add_product(int l, int i, int tap, int k, int columns, bool is_first)
    {
        Instruction& in = builder_.add(Opcode::kMatrixMultiply);
        in.flags = static_cast<uint16_t>(kSignedA | (is_first ? kNextTile : 0) |
                                         (tap > 0 || k > 0 ? kAccumulate : 0));
        set_grid(&in);
        in.length = narrow(std::min(config_.rows, network_.channels - k));
        in.columns = static_cast<uint16_t>(columns);
        const int y = tap / network_.taps, x = tap % network_.taps;
        in.a = {narrow(image(l, i) + (int64_t{y} * width_ + x) * network_.channels + k),
                narrow(width_ * network_.channels), narrow(network_.channels)};
        in.d.address = narrow(sums(i));
    }

    const ConvolutionNetwork& network_;
    const Config& config_;
    Builder builder_;
    int padding_ = 0, width_ = 0;
    int64_t image_ = 0;
};

}  // namespace

Program build_dense_program(const DenseNetwork& network, const Config& config)
{
    return DenseBuilder(network, config).build();
}

Program build_convolution_program(const ConvolutionNetwork& network, const Config& config)
{
    return ConvolutionBuilder(network, config).build();
}

Program build_product_program(const ArrayLayer& layer, const Config& config)
{
    Builder builder(config);
    const int64_t folds =
        count_array_cycles(Dataflow::kWeightStationary, config.rows, config.columns, layer).folds;
    // An instruction counts vectors with two numbers of 16 bits.
    int64_t outer = 1;
    while (layer.vectors % outer != 0 || layer.vectors / outer > UINT16_MAX)
        ++outer;
    for (int64_t fold = 0; fold < folds; ++fold) {
        if (fold == 0) {
            builder.fetch_new_tile();
        } else {
            builder.fetch_tile(0);
        }
        Instruction& in = builder.add(Opcode::kMatrixMultiply);
        in.flags = kNextTile | kSignedA;
        in.outer = static_cast<uint16_t>(outer);
        in.inner = static_cast<uint16_t>(layer.vectors / outer);
        in.length = narrow(config.rows);
        in.columns = static_cast<uint16_t>(config.columns);
    }
    return builder.finish();
}

}  // namespace tengine::tpu
