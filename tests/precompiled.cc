// SPDX-License-Identifier: Apache-2.0
// An empty program: the tests' programs use its precompiled header, which must be compiled with
// their options.
int main()
{
    return 0;
}
