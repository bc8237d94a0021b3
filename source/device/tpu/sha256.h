// SPDX-License-Identifier: Apache-2.0
// SHA-256, FIPS 180-4 §6.2: what tells a program file that was altered from one that was not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tengine::tpu {

constexpr int kSha256Bytes = 32;
using Sha256Digest = std::array<uint8_t, kSha256Bytes>;

// Any number of update() calls, then one finish(); the object is not to be used afterwards.
class Sha256
{
  public:
    void update(const void* data, size_t size);
    Sha256Digest finish();

  private:
    static constexpr size_t kBlockBytes = 64;
    void add_block(const uint8_t* block);

    std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<uint8_t, kBlockBytes> pending_{};
    uint64_t size_ = 0;  // of all data so far
};

Sha256Digest sha256_of(const void* data, size_t size);

}  // namespace tengine::tpu
