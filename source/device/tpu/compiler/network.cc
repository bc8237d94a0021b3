// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/network.h"

#include <algorithm>
#include <cstring>

#include "device/tpu/compiler/element_layer.h"
#include "device/tpu/compiler/product_layer.h"

namespace tengine::tpu {

std::vector<uint8_t> store_constant(const tensor& tensor)
{
    const auto* data = static_cast<const uint8_t*>(tensor.data);
    const size_t element = tensor.elem_size;
    std::vector<uint8_t> bytes(get_ir_tensor_bytes(&tensor));
    if (tensor.dim_num != 4) {
        std::memcpy(bytes.data(), data, bytes.size());
        return bytes;
    }
    const Shape shape = shape_of(tensor);
    const size_t plane = static_cast<size_t>(shape.h) * static_cast<size_t>(shape.w);
    const auto channels = static_cast<size_t>(shape.c);
    for (size_t n = 0; n < static_cast<size_t>(shape.n); ++n)
        for (size_t c = 0; c < channels; ++c)
            for (size_t i = 0; i < plane; ++i)
                std::memcpy(bytes.data() + ((n * plane + i) * channels + c) * element,
                            data + ((n * channels + c) * plane + i) * element, element);
    return bytes;
}

bool NetworkBuilder::is_output(const tensor& tensor) const
{
    return outputs_.count(tensor.index) != 0;
}

Ref NetworkBuilder::ref(const tensor& tensor)
{
    const auto known = values_.find(tensor.index);
    if (known != values_.end()) return {known->second, shape_of(tensor)};
    Value value;
    value.shape = shape_of(tensor);
    value.element_bytes = tensor.elem_size;
    value.is_output = is_output(tensor);
    value.is_input = inputs_.count(tensor.index) != 0;
    value.is_constant = tensor.tensor_type == TENSOR_TYPE_CONST;
    if (value.is_constant) value.data = store_constant(tensor);
    network_.values.push_back(std::move(value));
    const int index = static_cast<int>(network_.values.size()) - 1;
    values_[tensor.index] = index;
    return {index, shape_of(tensor)};
}

Ref NetworkBuilder::constant(std::vector<uint8_t> bytes, const Shape& shape, int element_bytes)
{
    Value value;
    value.shape = shape;
    value.element_bytes = element_bytes;
    value.is_constant = true;
    value.data = std::move(bytes);
    network_.values.push_back(std::move(value));
    return {static_cast<int>(network_.values.size()) - 1, shape};
}

Ref NetworkBuilder::temporary(const Shape& shape, int element_bytes)
{
    Value value;
    value.shape = shape;
    value.element_bytes = element_bytes;
    network_.values.push_back(std::move(value));
    return {static_cast<int>(network_.values.size()) - 1, shape};
}

void NetworkBuilder::alias(const tensor& to, const tensor& from)
{
    values_[to.index] = ref(from).value;
}

const tensor* NetworkBuilder::unflattened(const tensor& tensor) const
{
    const auto known = flattened_.find(tensor.index);
    return known == flattened_.end() ? nullptr : known->second;
}

void NetworkBuilder::add(std::unique_ptr<Layer> layer)
{
    layer->node = node_;
    network_.layers.push_back(std::move(layer));
}

std::vector<int> NetworkBuilder::count_readers() const
{
    std::vector<int> readers(network_.values.size());
    for (const auto& layer : network_.layers)
        for (const Ref& input : layer->inputs)
            ++readers[static_cast<size_t>(input.value)];
    for (size_t i = 0; i < readers.size(); ++i)
        if (network_.values[i].is_output) ++readers[i];
    return readers;
}

// Merges a look-up of a product's result into the table of its activation, and a clamp into its
// limits.
void NetworkBuilder::fuse_into_products()
{
    const std::vector<int> readers = count_readers();
    std::map<int, ProductLayer*> products;  // by value, if nothing else reads the result
    auto& layers = network_.layers;
    for (auto& layer : layers) {
        if (auto* product = dynamic_cast<ProductLayer*>(layer.get())) {
            const auto value = static_cast<size_t>(product->output.value);
            if (readers[value] == 1 && !network_.values[value].is_output)
                products[product->output.value] = product;
            continue;
        }
        if (layer->inputs.empty()) continue;
        const auto found = products.find(layer->inputs[0].value);
        if (found == products.end()) continue;
        Epilogue& epilogue = found->second->epilogue;
        if (auto* lookup = dynamic_cast<LookupLayer*>(layer.get())) {
            if (!epilogue.table.empty()) continue;
            epilogue.table = lookup->table;
        } else if (auto* clamp = dynamic_cast<ClampLayer*>(layer.get())) {
            epilogue.high = std::min(clamp->high, std::max(clamp->low, epilogue.high));
            epilogue.low = std::min(clamp->high, std::max(clamp->low, epilogue.low));
        } else {
            continue;
        }
        // The result has the same elements, perhaps in another shape.
        found->second->output.value = layer->output.value;
        layer.reset();
    }
    layers.erase(std::remove(layers.begin(), layers.end(), nullptr), layers.end());
}

void NetworkBuilder::drop_unread()
{
    std::vector<int> readers = count_readers();
    auto& layers = network_.layers;
    for (size_t i = layers.size(); i-- > 0;) {
        if (readers[static_cast<size_t>(layers[i]->output.value)] > 0) continue;
        for (const Ref& input : layers[i]->inputs)
            --readers[static_cast<size_t>(input.value)];
        layers[i].reset();
    }
    layers.erase(std::remove(layers.begin(), layers.end(), nullptr), layers.end());
}

void NetworkBuilder::finish()
{
    drop_unread();
    fuse_into_products();
}

}  // namespace tengine::tpu
