// SPDX-License-Identifier: Apache-2.0
#include "support/fault_address.h"

#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <sys/mman.h>

namespace tengine::test {
namespace {

sigjmp_buf after_fault;
void* volatile fault_address;

void see(int, siginfo_t* info, void*)
{
    fault_address = info->si_addr;
    siglongjmp(after_fault, 1);
}

// Returns the address that the handler sees when the first byte is read.
void* address_of_fault(const volatile char* bytes)
{
    struct sigaction action = {}, before = {};
    action.sa_sigaction = see;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, &before);
    fault_address = nullptr;
    if (sigsetjmp(after_fault, 1) == 0) static_cast<void>(*bytes);
    sigaction(SIGBUS, &before, nullptr);
    return fault_address;
}

}  // namespace

bool faults_have_addresses()
{
    FILE* empty = std::tmpfile();
    if (!empty) return false;
    const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fileno(empty), 0);
    const bool have = bytes != MAP_FAILED && address_of_fault(static_cast<char*>(bytes)) == bytes;
    if (bytes != MAP_FAILED) munmap(bytes, size);
    std::fclose(empty);
    return have;
}

}  // namespace tengine::test
