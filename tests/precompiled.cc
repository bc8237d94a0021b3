// SPDX-License-Identifier: Apache-2.0
// A program that does nothing: the one whose precompiled header those of the tests use, which has
// to be compiled as they are.
int main()
{
    return 0;
}
