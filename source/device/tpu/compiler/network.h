// SPDX-License-Identifier: Apache-2.0
// A part of a graph as layers and the values between them. Made of nodes by read.h, one family of
// operators a file; then simplified: look-ups merge into the layer before, unread layers are
// dropped.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/tpu/compiler/layer.h"
#include "device/tpu/machine/config.h"

namespace tengine::tpu {

struct Value
{
    Shape shape;
    int element_bytes = 1;
    bool is_input = false, is_output = false;  // the part's
    bool is_constant = false;
    std::vector<uint8_t> data;  // a constant's, as it lies

    int64_t bytes() const { return shape.elements() * element_bytes; }
};

struct Network
{
    std::vector<Value> values;
    std::vector<std::unique_ptr<Layer>> layers;
};

class NetworkBuilder
{
  public:
    NetworkBuilder(const Config& config, Network* network) : config_(config), network_(*network) {}

    const Config& config() const { return config_; }

    void set_node(int position) { node_ = position; }
    void set_outputs(std::set<int> tensors) { outputs_ = std::move(tensors); }
    void set_inputs(std::set<int> tensors) { inputs_ = std::move(tensors); }
    bool is_output(const tensor& tensor) const;

    // The value of a tensor, made when it is new, seen in the tensor's shape.
    Ref ref(const tensor& tensor);
    Ref constant(std::vector<uint8_t> bytes, const Shape& shape, int element_bytes);
    // A value between two layers of a node.
    Ref temporary(const Shape& shape, int element_bytes);
    // `to` has the same bytes as `from`.
    void alias(const tensor& to, const tensor& from);
    // `to` is `from` with all axes but the images in one, channels first; a reader may rather read
    // `from`. Null when there is none.
    void note_flattened(const tensor& to, const tensor& from) { flattened_[to.index] = &from; }
    const tensor* unflattened(const tensor& tensor) const;

    void add(std::unique_ptr<Layer> layer);

    // To be called once all nodes are there.
    void finish();

  private:
    void fuse_into_products();
    void drop_unread();
    std::vector<int> count_readers() const;

    const Config& config_;
    Network& network_;
    int node_ = 0;
    std::set<int> inputs_, outputs_;  // tensors
    std::map<int, int> values_;       // by tensor
    std::map<int, const tensor*> flattened_;
};

// A tensor's elements as values lie: with the channels last when it has rank 4.
std::vector<uint8_t> store_constant(const tensor& tensor);

}  // namespace tengine::tpu
