// SPDX-License-Identifier: Apache-2.0
// A part of a graph as layers and the values between them. read.h makes them of nodes, a file for
// each family of operators. Then look-ups are merged into the previous layer, and layers without
// readers are dropped.
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
    std::vector<uint8_t> data;  // of a constant, in the order of memory

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

    // The value of a tensor, in the tensor's shape; created if it is new.
    Ref ref(const tensor& tensor);
    Ref constant(std::vector<uint8_t> bytes, const Shape& shape, int element_bytes);
    // A value between two layers of a node.
    Ref temporary(const Shape& shape, int element_bytes);
    // Gives `to` the bytes of `from`.
    void alias(const tensor& to, const tensor& from);
    // Records that `to` is `from` with all axes but the images flattened, channels first; readers
    // may use `from` instead. find_flattened() returns null when there is none.
    void note_flattened(const tensor& to, const tensor& from) { flattened_[to.index] = &from; }
    const tensor* unflattened(const tensor& tensor) const;

    void add(std::unique_ptr<Layer> layer);

    // To be called after the last node.
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

// The elements of a constant in the order of values: channels last if it has rank 4.
std::vector<uint8_t> store_constant(const tensor& tensor);

}  // namespace tengine::tpu
