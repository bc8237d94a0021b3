// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the example messages that NIST publishes with FIPS 180-4, and in pieces.
#include "base/sha256.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>

#include "base/cpu.h"
#include "base/sha256_instructions.h"
#include "tengine/error.h"

namespace tengine {
namespace {

using Digest = std::array<uint8_t, SHA256_BYTES>;

Digest digest_of(const void* data, size_t size)
{
    Digest digest;
    find_sha256(data, size, digest.data());
    return digest;
}

std::string hex_of(const Digest& digest)
{
    std::string text;
    for (const uint8_t byte : digest) {
        const char digits[] = "0123456789abcdef";
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// Hashes with the processor's instructions, where it has them, and without.
class Sha256 : public testing::TestWithParam<bool>
{
  protected:
    void SetUp() override
    {
        const uint64_t none = 0;
        if (!GetParam()) force_cpu_features(&none);
        if (GetParam() && !find_sha256_instructions())
            GTEST_SKIP() << "this processor, or the compiler, has no instructions for SHA-256";
    }
    void TearDown() override { force_cpu_features(nullptr); }
};

INSTANTIATE_TEST_SUITE_P(Instructions, Sha256, testing::Bool(),
                         [](const auto& test) { return test.param ? "WithInstructions" : "InC"; });

TEST_P(Sha256, PublishedMessages)
{
    const struct
    {
        std::string message;
        const char* digest;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "m"
         "nopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
        {std::string(1000000, 'a'),
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (const auto& item : cases)
        EXPECT_EQ(hex_of(digest_of(item.message.data(), item.message.size())), item.digest);
}

TEST_P(Sha256, TheDigestOfPiecesIsThatOfTheirDigests)
{
    constexpr size_t kPiece = SHA256_PIECE_BYTES, kBatch = 256 * kPiece;
    std::string message(kBatch + 3 * kPiece, 'x');
    for (size_t i = 0; i < message.size(); ++i)
        message[i] = static_cast<char>(i * 7 + i / kPiece);
    thread_pool_t* pool = nullptr;
    ASSERT_EQ(create_thread_pool(3, 0, &pool), TENGINE_OK);
    for (const size_t size : {size_t{0}, size_t{1}, kPiece - 1, kPiece, kPiece + 1, 2 * kPiece - 1,
                              2 * kPiece, 3 * kPiece + 7, 4 * kPiece, 5 * kPiece, kBatch - 1,
                              kBatch, kBatch + 1, kBatch + 2 * kPiece + 5}) {
        std::string digests;
        for (size_t begin = 0; begin < size; begin += kPiece) {
            const Digest digest = digest_of(&message[begin], std::min(kPiece, size - begin));
            digests.append(digest.begin(), digest.end());
        }
        for (thread_pool_t* workers : {static_cast<thread_pool_t*>(nullptr), pool}) {
            Digest digest;
            find_sha256_of_pieces(workers, message.data(), size, digest.data());
            EXPECT_EQ(digest, digest_of(digests.data(), digests.size())) << size << " bytes";
        }
    }
    destroy_thread_pool(pool);
}

TEST_P(Sha256, PiecesGiveTheSame)
{
    std::string message;
    for (int i = 0; i < 300; ++i)
        message += static_cast<char>(i * 7);
    for (size_t size = 0; size <= message.size(); ++size) {
        const Digest whole = digest_of(message.data(), size);
        for (const size_t piece : {1, 7, 63, 64, 65}) {
            sha256_t hash;
            start_sha256(&hash);
            for (size_t i = 0; i < size; i += piece)
                update_sha256(&hash, message.data() + i, std::min(piece, size - i));
            Digest digest;
            finish_sha256(&hash, digest.data());
            ASSERT_EQ(digest, whole) << size << " bytes in pieces of " << piece;
        }
    }
}

}  // namespace
}  // namespace tengine
