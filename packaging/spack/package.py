from spack.package import *


class Carom(CMakePackage):
    """Batched small contact-mechanics problems on CPU and GPU, every answer certified."""

    license("BSD-3-Clause")
    version("0.1.0")

    variant("shared", default=True, description="Shared library")
    variant("cli", default=True, description="The carom command")

    depends_on("cxx", type="build")
    depends_on("c", type="build", when="+cli")
    depends_on("cmake@3.22:", type="build")
    depends_on("eigen@3.4:")
    depends_on("boost@1.70:")
    depends_on("random123")
    depends_on("tbb")
    depends_on("cli11@2.1:", when="+cli")
    depends_on("fmt@8:", when="+cli")
    depends_on("nlohmann-json@3.10:", when="+cli")
    depends_on("hdf5", when="+cli")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("CAROM_BUILD_CLI", "cli"),
            self.define("CAROM_CUDA", False),
            self.define("CAROM_FETCH", False),
            self.define("CAROM_BUILD_TESTS", False),
            self.define("CAROM_BUILD_EXAMPLES", False),
        ]
