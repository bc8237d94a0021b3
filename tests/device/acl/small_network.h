// SPDX-License-Identifier: Apache-2.0
// Small networks with the blocks of those that boards run (fire modules, inverted residuals,
// residual blocks), with random weights: a wrong result of any node is one of the network.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "device/acl/acl_run.h"

namespace tengine::acl {

// Adds nodes to a graph, each with the name of its result, which it returns.
class NetworkWriter
{
  public:
    explicit NetworkWriter(test::IrBuilder& builder) : builder_(builder) {}

    std::string input(const std::vector<int>& dims);
    // A square window with "same" padding and a bias.
    std::string conv(const std::string& from, int channels, int size, int stride = 1,
                     int group = 1);
    std::string norm(const std::string& from);
    std::string relu(const std::string& from) { return add("Relu", {from}, channels_[from]); }
    std::string clip6(const std::string& from);
    std::string sum(const std::string& a, const std::string& b);
    std::string concat(const std::string& a, const std::string& b);
    // 3 x 3 windows, stride 2.
    std::string max_pool(const std::string& from);
    // A global mean and Flatten: features of the image.
    std::string features(const std::string& from);
    std::string dense(const std::string& from, int features);

    // SqueezeNet's: `expanded` channels of windows of 1 and as many of 3.
    std::string fire(const std::string& from, int squeezed, int expanded);
    // MobileNet v2's, with `expansion` times the channels inside.
    std::string inverted_residual(const std::string& from, int expansion, int channels, int stride);
    // ResNet's of two 3 x 3 convolutions.
    std::string residual(const std::string& from, int channels, int stride);

    // All computed tensors so far.
    const std::vector<std::string>& values() const { return values_; }

  private:
    std::string add(const std::string& op, const std::vector<std::string>& inputs, int channels);
    std::string constant(const std::vector<int>& dims, float low, float high);
    node* last() { return test::find_node(builder_.get(), values_.back()); }

    test::IrBuilder& builder_;
    std::mt19937 random_{20};
    std::map<std::string, int> channels_;
    std::vector<std::string> values_;
    int constants_ = 0;
};

// The seed of the input, for AclRun::feed_all(): ranges are those of these values.
constexpr unsigned kSmallNetworkSeed = 7;

struct SmallNetwork
{
    const char* name;
    // Returns the result.
    std::string (*write)(NetworkWriter& writer);
};

const std::vector<SmallNetwork>& list_small_networks();
// SqueezeNet 1.1, MobileNet v2 and ResNet 18, layer by layer, on an image of 64 x 64.
const std::vector<SmallNetwork>& list_classic_networks();

// Builds the network with its result as the output.
Build build_network(const SmallNetwork& network);
// The same with every computed tensor calibrated for a run in int8 or uint8, from its range in a
// float run on the default device.
Build build_calibrated_network(const SmallNetwork& network, int precision);

}  // namespace tengine::acl
