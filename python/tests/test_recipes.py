"""The recipes of packaging/ say the version and the dependencies that CMake says."""

import json
import re

import pytest
from conftest import ROOT

CMAKE = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(carom VERSION ([0-9.]+)", CMAKE)[1]
# Names of CMake's packages in the order of cmake/CaromDependencies.cmake, with the least version.
NEEDED = {
    name: least
    for name, least in re.findall(
        r"^ *carom_(?:header_)?dependency\((\w+) TARGET \S+(?: VERSION ([0-9.]+))?",
        (ROOT / "cmake" / "CaromDependencies.cmake").read_text(),
        re.M,
    )
    if name not in ("GTest", "benchmark")
} | {"HDF5": ""}
COMMAND = ("CLI11", "fmt", "nlohmann_json", "HDF5")  # of the command, which not every recipe has
# As each recipe calls them; None: no package, fetched.
NAMES = {
    "conda/recipe.yaml": {"Eigen3": "eigen", "Boost": "libboost-headers", "Random123": "random123", "TBB": "tbb-devel",
                          "CLI11": "cli11", "fmt": "fmt", "nlohmann_json": "nlohmann_json", "HDF5": "hdf5"},
    "vcpkg/vcpkg.json": {"Eigen3": "eigen3", "Boost": "boost-random", "Random123": None, "TBB": "tbb"},
    "conan/conanfile.py": {"Eigen3": "eigen", "Boost": "boost", "Random123": None, "TBB": "onetbb"},
    "spack/package.py": {"Eigen3": "eigen", "Boost": "boost", "Random123": "random123", "TBB": "tbb",
                         "CLI11": "cli11", "fmt": "fmt", "nlohmann_json": "nlohmann-json", "HDF5": "hdf5"},
    "ros/package.xml": {"Eigen3": "eigen", "Boost": "libboost-dev", "Random123": None, "TBB": "tbb",
                        "CLI11": "cli11", "fmt": "fmt", "nlohmann_json": "nlohmann-json-dev", "HDF5": "hdf5"},
}  # fmt: skip


def found_in(recipe):
    """{name: least or exact version, "" where any}, of the libraries."""
    text = (ROOT / "packaging" / recipe).read_text()
    if recipe.endswith(".yaml"):
        host = text.split("  host:\n")[1].split("tests:")[0]
        return dict(re.findall(r"^    - ([\w-]+)(?: >=([0-9.]+))?$", host, re.M))
    if recipe.endswith(".json"):
        listed = [one if isinstance(one, dict) else {"name": one} for one in json.loads(text)["dependencies"]]
        return {one["name"]: one.get("version>=", "") for one in listed if not one.get("host")}
    if recipe.startswith("conan"):
        return dict(re.findall(r'"([a-z]\w*)/([0-9.]+)"', text))
    if recipe.startswith("spack"):
        found = dict(re.findall(r'depends_on\("([\w-]+)(?:@([0-9.]+):)?"', text))
        return {name: least for name, least in found.items() if name not in ("c", "cxx", "cmake")}
    return dict.fromkeys(re.findall(r"<depend>([\w-]+)</depend>", text), "")


def numbers(version):
    return tuple(int(part) for part in version.split("."))


@pytest.mark.parametrize("recipe", NAMES)
def test_recipe(recipe):
    text = (ROOT / "packaging" / recipe).read_text()
    assert len(re.findall(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])", text)) == 1
    found = found_in(recipe)
    names = NAMES[recipe]
    expected = {names[name] for name in NEEDED if names.get(name)}
    assert set(names) >= {name for name in NEEDED if name not in COMMAND}
    assert set(found) - {"boost-multiprecision"} == expected
    for name, least in NEEDED.items():
        stated = found.get(names.get(name), "")
        if least and stated:
            assert numbers(stated)[: len(numbers(least))] >= numbers(least), (name, stated)
