// SPDX-License-Identifier: Apache-2.0
// The names that a C++ runtime made for glibc takes from it, for programs that are linked with musl
// (toolchains/musl.cmake).
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// glibc's <dlfcn.h>, as libgcc's unwinder reads it (unwind-dw2-fde-dip.c, GCC 12).
struct dl_find_object
{
    unsigned long long flags;
    void* begin;
    void* end;
    void* link_map;
    void* eh_frame;  // the section .eh_frame_hdr
    unsigned long long reserved[7];
};

// libstdc++ counts references without atomic operations as long as a process has one thread; 0: it
// never does.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

// Finds the code and the tables for exceptions of the object that has `address`. 0, or -1.
int _dl_find_object(void* address, struct dl_find_object* out_found);

typedef struct search
{
    uintptr_t address;
    struct dl_find_object* found;
} search_t;

static int visit(struct dl_phdr_info* info, size_t size, void* data)
{
    search_t* search = data;
    const ElfW(Phdr)* tables = NULL;
    bool has_code = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)* header = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_EH_FRAME) tables = header;
        if (header->p_type != PT_LOAD || search->address < begin ||
            search->address - begin >= header->p_memsz)
            continue;
        has_code = true;
        search->found->begin = (void*)begin;
        search->found->end = (void*)(begin + header->p_memsz);
    }
    if (!has_code || !tables) return 0;
    search->found->eh_frame = (void*)(info->dlpi_addr + tables->p_vaddr);
    return 1;
}

int _dl_find_object(void* address, struct dl_find_object* out_found)
{
    search_t search = {(uintptr_t)address, out_found};
    *out_found = (struct dl_find_object){.flags = 0};
    return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
