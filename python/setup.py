# SPDX-License-Identifier: Apache-2.0
"""The tag of the wheel: any Python 3, on the processor of the library in the package."""
import os

import setuptools
from wheel.bdist_wheel import bdist_wheel


class TaggedWheel(bdist_wheel):
    """A wheel for the platform that build_wheel.py names; without one for any, without library."""

    def get_tag(self):
        """The three parts of the tag."""
        return "py3", "none", os.environ.get("TENGINE_WHEEL_PLATFORM", "any")


setuptools.setup(cmdclass={"bdist_wheel": TaggedWheel})
