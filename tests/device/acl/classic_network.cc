// SPDX-License-Identifier: Apache-2.0
// The layers of three networks that boards run, with random weights.
#include "device/acl/small_network.h"

namespace tengine::acl {
namespace {

constexpr int kClasses = 1000;

// F. Iandola et al., SqueezeNet, 2016; version 1.1 of its repository.
std::string write_squeezenet(NetworkWriter& writer)
{
    std::string x = writer.relu(writer.conv(writer.input({1, 3, 64, 64}), 64, 3, 2));
    x = writer.fire(writer.fire(writer.max_pool(x), 16, 64), 16, 64);
    x = writer.fire(writer.fire(writer.max_pool(x), 32, 128), 32, 128);
    x = writer.fire(writer.fire(writer.max_pool(x), 48, 192), 48, 192);
    x = writer.fire(writer.fire(x, 64, 256), 64, 256);
    return writer.features(writer.relu(writer.conv(x, kClasses, 1)));
}

// M. Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018, table 2.
std::string write_mobilenet(NetworkWriter& writer)
{
    struct Stage
    {
        int expansion, channels, blocks, stride;
    };
    std::string x = writer.clip6(writer.norm(writer.conv(writer.input({1, 3, 64, 64}), 32, 3, 2)));
    for (const Stage& stage :
         {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
          Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}})
        for (int i = 0; i < stage.blocks; ++i)
            x = writer.inverted_residual(x, stage.expansion, stage.channels,
                                         i == 0 ? stage.stride : 1);
    x = writer.clip6(writer.norm(writer.conv(x, 1280, 1)));
    return writer.dense(writer.features(x), kClasses);
}

// K. He et al., Deep Residual Learning for Image Recognition, CVPR 2016, table 1.
std::string write_resnet(NetworkWriter& writer)
{
    std::string x = writer.relu(writer.norm(writer.conv(writer.input({1, 3, 64, 64}), 64, 7, 2)));
    x = writer.max_pool(x);
    for (const int channels : {64, 128, 256, 512})
        x = writer.residual(writer.residual(x, channels, channels == 64 ? 1 : 2), channels, 1);
    return writer.dense(writer.features(x), kClasses);
}

}  // namespace

const std::vector<SmallNetwork>& list_classic_networks()
{
    static const std::vector<SmallNetwork> networks = {
        {"SqueezeNet1_1", write_squeezenet},
        {"MobileNetV2", write_mobilenet},
        {"ResNet18", write_resnet},
    };
    return networks;
}

}  // namespace tengine::acl
