import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy


class Carom(ConanFile):
    name = "carom"
    version = "0.1.0"
    license = "BSD-3-Clause"
    description = "Batched small contact-mechanics problems on CPU and GPU, every answer certified"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    # The library alone; Random123 has no recipe and is fetched as the project's own configuration does it.
    requires = "eigen/3.4.0", "boost/1.83.0", "onetbb/2021.12.0"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("CUDA", "BUILD_CLI", "BUILD_TESTS", "BUILD_EXAMPLES"):
            toolchain.cache_variables[f"CAROM_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["carom"]
        self.cpp_info.system_libs = ["pthread"]
