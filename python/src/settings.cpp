#include "settings.hpp"

#include <algorithm>

namespace carom::python {

std::string shown(nb::handle value) { return nb::cast<std::string>(nb::repr(value)); }

void refuse_setting(const char* name, nb::handle value, const std::string& rule) {
  require::refuse({}, name, {}, shown(value), rule);
}

void refuse_unknown(const nb::dict& given, const std::vector<std::string>& known) {
  std::string unknown;
  for (const auto& [key, value] : given) {
    unknown = nb::cast<std::string>(nb::str(key));
    if (std::find(known.begin(), known.end(), unknown) == known.end()) break;
  }
  throw InvalidInput(
      Refusal{.field = unknown, .rule = "no such setting; known are " + joined(known, " and ")});
}

std::int64_t whole_number(const char* name, nb::handle value) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    refuse_setting(name, value, "must be an integer");
  }
  const long long result = PyLong_AsLongLong(index.ptr());
  if (result == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_setting(name, value, "must fit in 64 bits");
  }
  return result;
}

std::uint64_t natural_number(const char* name, nb::handle value) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    refuse_setting(name, value, "must be an integer");
  }
  const unsigned long long result = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_setting(name, value, "must be in 0..2^64 - 1");
  }
  return result;
}

double number(const char* name, nb::handle value) {
  const double result = PyFloat_AsDouble(value.ptr());
  if (result == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_setting(name, value, "must be a number");
  }
  return result;
}

bool truth(const char* name, nb::handle value) {
  const std::string type = nb::cast<std::string>(value.type().attr("__name__"));
  if (type != "bool" && type != "bool_") refuse_setting(name, value, "must be True or False");
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::string word(const char* name, nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) refuse_setting(name, value, "must be a word");
  return nb::cast<std::string>(value);
}

}  // namespace carom::python
