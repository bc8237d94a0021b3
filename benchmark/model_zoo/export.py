#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes the models of the zoo, or the named ones: structures of public exporters, with seeded
# random weights (nothing is downloaded). docs/model_zoo.md lists the requirements.
import argparse
import pathlib

import zoo


def main():
    known = zoo.models()
    parser = argparse.ArgumentParser(description="Writes the models of the zoo to ONNX.")
    parser.add_argument("--out", type=pathlib.Path, default=zoo.default_folder(),
                        help="the folder (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="prints the names of the models")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"'{unknown[0]}' is not one of the zoo's models: {', '.join(known)}")
    for name in arguments.names or known:
        if arguments.list:
            print(name)
        else:
            zoo.build(name, arguments.out / f"{name}.onnx")


if __name__ == "__main__":
    main()
