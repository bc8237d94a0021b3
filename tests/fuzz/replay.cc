// SPDX-License-Identifier: Apache-2.0
// The main() of a fuzz target without libFuzzer: on every compiler and processor.
//     <target> <folder of inputs>… [--seconds=<number> [--seed=<number>]]
// Feeds each file, and each that the target starts from, as it is and with damage that is the same
// in every run and on every machine. The file that was last named is the one that ended the
// program; a folder with that file alone repeats it.
//
// With --seconds it searches for that time instead: inputs that could be run are damaged further.
// The input that ends it, or takes more than half a minute, stays in the file that it names.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

#include "fuzz/refusal.h"
#include "support/emulated.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// A target may define these.
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* number, char*** arguments);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned int seed);
// Defined by libFuzzer for such a target.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

// In a file of a few hundred bytes most words are hit. An emulator is slow.
constexpr uint32_t kMutations = tengine::test::kEmulated ? 30 : 120;
constexpr uint32_t kCuts = 16;
constexpr size_t kGrowth = 8192;  // a mutator may start from a larger input

// The standard defines its numbers; it does not define those of distributions.
std::mt19937 engine;

uint32_t draw(size_t below)
{
    return engine() % static_cast<uint32_t>(below);
}

void spoil_byte(uint8_t* byte)
{
    static constexpr uint8_t kExtremes[] = {0, 1, 0x7f, 0x80, 0xff};
    const uint32_t choice = draw(8 + std::size(kExtremes));
    *byte = choice < 8 ? static_cast<uint8_t>(*byte ^ (1u << choice)) : kExtremes[choice - 8];
}

// Changes sizes, offsets and numbers: values that wrap, that are just too large, and that are off
// by one.
void spoil_word(uint8_t* place, size_t size)
{
    uint32_t word;
    std::memcpy(&word, place, sizeof word);
    const auto end = static_cast<uint32_t>(size);
    const uint32_t words[] = {0,          1,        0x3fffffff, 0x40000000, 0x7fffffff, 0x80000000,
                              0xfffffffc, ~0u,      end - 4,    end,        end + 1,    word + 1,
                              word - 1,   word + 4, word << 1,  ~word};
    word = words[draw(std::size(words))];
    std::memcpy(place, &word, sizeof word);
}

// Memory that ends at an unreadable page, so that reads beyond the end of an input are detected
// without a sanitizer, too.
class Room
{
  public:
    explicit Room(size_t size)
    {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        size_ = (size / page + 2) * page;
        void* begin =
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end_ = static_cast<uint8_t*>(begin) + size_ - page;
        if (begin == MAP_FAILED || mprotect(end_, page, PROT_NONE) != 0) std::abort();
        begin_ = begin;
    }
    ~Room() { munmap(begin_, size_); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    // Inputs alternately end at the end, begin at an aligned address, and begin at an odd one.
    void feed(const Bytes& bytes)
    {
        uint8_t* place = end_ - bytes.size();
        const size_t turn = inputs_++ % 3;
        if (turn != 0) place -= reinterpret_cast<uintptr_t>(place) % kAlignment;
        if (turn == 2) --place;
        std::copy(bytes.begin(), bytes.end(), place);
        LLVMFuzzerTestOneInput(place, bytes.size());
    }

  private:
    static constexpr size_t kAlignment = 64;

    void* begin_ = nullptr;
    uint8_t* end_ = nullptr;
    size_t size_ = 0;
    size_t inputs_ = 0;
};

Bytes mutate(Bytes bytes)
{
    const size_t size = bytes.size();
    const auto seed = static_cast<unsigned int>(engine());
    const auto spoil = [](uint8_t* data, size_t length, size_t max_length, unsigned int) {
        return LLVMFuzzerMutate(data, length, max_length);
    };
    bytes.resize(size + kGrowth);
    const size_t left = (LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator : +spoil)(
        bytes.data(), size, bytes.size(), seed);
    bytes.resize(left);
    return bytes;
}

void feed_damaged(const Bytes& bytes, Room* room)
{
    for (uint32_t i = 0; i < kCuts; ++i) {
        const size_t size = bytes.size() * i / kCuts;
        room->feed(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    if (!bytes.empty()) room->feed(Bytes(bytes.begin(), bytes.end() - 1));
    for (uint32_t i = 0; i < kMutations; ++i)
        room->feed(mutate(bytes));
}

Bytes read_file(const fs::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

std::vector<fs::path> list_files(const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

// Whether the target accepts any of the files unchanged: a corpus of another version of a format
// tests little.
bool replay(const fs::path& folder)
{
    const std::vector<fs::path> files = list_files(folder);
    size_t accepted_files = 0;
    for (const fs::path& file : files) {
        std::printf("%s\n", file.c_str());
        std::fflush(stdout);
        const Bytes bytes = read_file(file);
        std::seed_seq seed(bytes.begin(), bytes.end());
        engine.seed(seed);
        Room room(bytes.size() + kGrowth);
        const size_t before = tengine::test::accepted_inputs;
        for (int i = 0; i < 3; ++i)
            room.feed(bytes);
        accepted_files += tengine::test::accepted_inputs - before == 3;
        feed_damaged(bytes, &room);
    }
    std::printf(
        "%s: %zu of %zu files, each damaged in %u ways, and %zu inputs in all are accepted\n",
        folder.c_str(), accepted_files, files.size(), kMutations, tengine::test::accepted_inputs);
    return accepted_files > 0;
}

// Some inputs of a folder, and those that were found from them.
class Search
{
  public:
    explicit Search(uint32_t seed) { engine.seed(seed); }

    void add(const fs::path& folder)
    {
        for (const fs::path& file : list_files(folder))
            inputs_.push_back(read_file(file));
    }

    void run(long seconds, const fs::path& last)
    {
        std::printf("searching for %ld seconds from %zu inputs; the last is in %s\n", seconds,
                    inputs_.size(), last.c_str());
        std::fflush(stdout);
        const size_t given = inputs_.size();
        const size_t accepted = tengine::test::accepted_inputs;
        const size_t ran = tengine::test::run_inputs;
        size_t fed = 0;
        const time_t end = time(nullptr) + seconds;
        for (; time(nullptr) < end; ++fed) {
            const size_t before = tengine::test::run_inputs;
            const Bytes bytes = mutate(inputs_[draw(inputs_.size())]);
            feed(bytes, last);
            if (tengine::test::run_inputs > before) keep(bytes, given);
        }
        std::printf("%zu inputs were fed, %zu accepted, %zu of these run\n", fed,
                    tengine::test::accepted_inputs - accepted, tengine::test::run_inputs - ran);
    }

  private:
    static constexpr size_t kMostKept = 4096;
    static constexpr size_t kLargestKept = 4096;
    static constexpr unsigned kMostSeconds = 30;

    static void feed(const Bytes& bytes, const fs::path& last)
    {
        std::ofstream(last, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        Room room(bytes.size());
        alarm(kMostSeconds);
        room.feed(bytes);
        alarm(0);
    }

    void keep(const Bytes& bytes, size_t given)
    {
        if (bytes.size() > kLargestKept) return;
        if (inputs_.size() < given + kMostKept)
            inputs_.push_back(bytes);
        else
            inputs_[given + draw(kMostKept)] = bytes;
    }

    std::vector<Bytes> inputs_;
};

long read_option(const char* argument, const char* name)
{
    const size_t length = std::strlen(name);
    return std::strncmp(argument, name, length) == 0 ? std::atol(argument + length) : -1;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size)
{
    if (size < sizeof(uint32_t)) {
        std::fill_n(data, std::min(max_size, sizeof(uint32_t)), uint8_t{0xff});
        return std::min(max_size, sizeof(uint32_t));
    }
    switch (draw(4)) {
        case 0:
            return draw(size) + 1;
        case 1:
            spoil_byte(data + draw(size));
            return size;
        case 2:
            spoil_word(data + draw(size / sizeof(uint32_t)) * sizeof(uint32_t), size);
            return size;
        default:
            spoil_word(data + draw(size - sizeof(uint32_t) + 1), size);
            return size;
    }
}

int main(int argument_num, char** arguments)
{
    std::vector<fs::path> folders;
    long seconds = 0, seed = 0;
    for (int i = 1; i < argument_num; ++i) {
        if (arguments[i][0] != '-')
            folders.emplace_back(arguments[i]);
        else if (const long given = read_option(arguments[i], "--seconds="); given > 0)
            seconds = given;
        else if (const long number = read_option(arguments[i], "--seed="); number >= 0)
            seed = number;
        else
            return 1;
    }
    if (folders.empty()) return 1;
    // The target writes its first inputs, such as files of the present writer, into the first
    // folder.
    const fs::path seeds = fs::temp_directory_path() / ("replay_" + std::to_string(getpid()));
    fs::create_directory(seeds);
    std::string folder = seeds.string();
    char* words[] = {arguments[0], folder.data(), nullptr};
    char** given = words;
    int number = 2;
    bool is_good = !LLVMFuzzerInitialize || LLVMFuzzerInitialize(&number, &given) == 0;
    if (!fs::is_empty(seeds)) folders.push_back(seeds);
    for (size_t i = 0; is_good && seconds == 0 && i < folders.size(); ++i)
        is_good = replay(folders[i]);
    if (is_good && seconds > 0) {
        Search search(static_cast<uint32_t>(seed));
        for (const fs::path& each : folders)
            search.add(each);
        search.run(seconds, fs::temp_directory_path() / ("last_" + std::to_string(getpid())));
    }
    fs::remove_all(seeds);
    return is_good ? 0 : 1;
}
