// SPDX-License-Identifier: Apache-2.0
// The handler for uncaught C++ exceptions in minimal builds with GCC. libstdc++'s own handler,
// which this one replaces, would print the exception's readable name, for which it needs 50 kB.
#include <stdlib.h>

// __gnu_cxx::__verbose_terminate_handler(), as C++ calls it.
void _ZN9__gnu_cxx27__verbose_terminate_handlerEv(void);

void _ZN9__gnu_cxx27__verbose_terminate_handlerEv(void)
{
    abort();
}
