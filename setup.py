"""pip install .: the module gradweave._core is built by CMake, and networks and NPUs are put beside it.

GRADWEAVE_BUILD names a build directory to take it from (made with -DGW_PYTHON=ON); otherwise one is made, without RTL.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        target = Path(self.get_ext_fullpath(extension.name)).resolve()
        build = os.environ.get("GRADWEAVE_BUILD")
        if build is None:
            build = str(Path(self.build_temp).resolve())
            subprocess.run(
                ["cmake", "-S", str(ROOT), "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DGW_RTL=OFF",
                 "-DGW_PYTHON=ON", f"-DGW_PYTHON_EXECUTABLE={sys.executable}"],
                check=True,
            )
        subprocess.run(["cmake", "--build", build, "--target", "python"], check=True)
        (module,) = Path(build, "python", "gradweave").glob("_core.*.so")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module, target)
        for data in ("models", "configs"):  # base/file/own_tree.hpp looks for them there
            shutil.copytree(ROOT / data, target.parent / "share" / "gradweave" / data, dirs_exist_ok=True)


# Beside CMake's build directory, not in the source tree.
OWN = ROOT / "build" / "pip"
OWN.mkdir(parents=True, exist_ok=True)

setup(
    options={"build": {"build_base": str(OWN)}, "egg_info": {"egg_base": str(OWN)}},
    packages=["gradweave"],
    package_dir={"gradweave": "python/gradweave"},
    package_data={"gradweave": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("gradweave._core", [])],
    cmdclass={"build_ext": CMakeBuild},
)
