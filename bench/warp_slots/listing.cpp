#include "listing.hpp"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace carom::warp_slots {

namespace {

using Kind = Operand::Kind;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool starts_with_digit(const std::string& text) {
  const std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (text.size() <= at) return false;
  return std::isdigit(static_cast<unsigned char>(text[at])) != 0 ||
         text.compare(at, 3, "INF") == 0 || text.compare(at, 4, "QNAN") == 0;
}

/// R5, RZ, UR5, P5, PT...: the number behind a prefix.
int register_index(const std::string& text, std::size_t prefix, int last) {
  const std::string number = text.substr(prefix);
  if (number[0] == 'Z' || number[0] == 'T') return last;
  return std::stoi(number);
}

/// What stands between brackets: registers and numbers, added.
void read_address(const std::string& inside, Operand& operand) {
  std::size_t begin = 0;
  while (begin < inside.size()) {
    const std::size_t end = std::min(inside.find('+', begin), inside.size());
    const std::string term = inside.substr(begin, end - begin);
    begin = end + 1;
    if (term[0] == 'R') {
      operand.index = register_index(term, 1, kZeroRegister);
    } else if (term[0] == 'U') {
      operand.added = register_index(term, 2, kZeroRegister);
    } else {
      operand.offset += static_cast<int>(std::stol(term, nullptr, 0));
    }
  }
}

/// Takes signs, bars and what says nothing about the value off.
std::string read_signs(std::string text, Operand& operand) {
  for (std::size_t at; (at = text.find(".reuse")) != std::string::npos;) text.erase(at, 6);
  if (text.rfind("desc[", 0) == 0) text = text.substr(text.find(']') + 1);
  while (!text.empty() && std::string_view("-|!~").find(text[0]) != std::string_view::npos) {
    if (text[0] == '-' && starts_with_digit(text)) break;
    operand.negative = operand.negative || text[0] == '-';
    operand.absolute = operand.absolute || text[0] == '|';
    operand.inverted = operand.inverted || text[0] == '!' || text[0] == '~';
    text.erase(0, 1);
  }
  if (!text.empty() && text.back() == '|') text.pop_back();
  return text;
}

Operand read_operand(const std::string& written) {
  Operand operand;
  operand.text = trimmed(written);
  const std::string text = read_signs(operand.text, operand);
  if (text.empty()) return operand;
  const auto numbered = [&](std::size_t prefix) {
    return text.size() > prefix &&
           (std::isdigit(static_cast<unsigned char>(text[prefix])) != 0 ||
            (text.size() == prefix + 1 && (text[prefix] == 'Z' || text[prefix] == 'T')));
  };
  if (text[0] == '`') {
    operand.kind = Kind::label;
    operand.text = text.substr(2, text.size() - 3);
  } else if (text[0] == '[') {
    operand.kind = Kind::memory;
    read_address(text.substr(1, text.size() - 2), operand);
  } else if (text.rfind("c[", 0) == 0) {
    operand.kind = Kind::constant;
    const std::size_t begin = text.find("][") + 2;
    read_address(text.substr(begin, text.find(']', begin) - begin), operand);
  } else if (text.rfind("SR", 0) == 0) {
    operand.kind = Kind::special;
  } else if (text[0] == 'R' && numbered(1)) {
    operand.kind = Kind::word;
    operand.index = register_index(text, 1, kZeroRegister);
  } else if (text.rfind("UR", 0) == 0 && numbered(2)) {
    operand.kind = Kind::uniform;
    operand.index = register_index(text, 2, kZeroRegister);
  } else if (text[0] == 'P' && numbered(1)) {
    operand.kind = Kind::predicate;
    operand.index = register_index(text, 1, kTrue);
  } else if (text.rfind("UP", 0) == 0 && numbered(2)) {
    operand.kind = Kind::uniform_predicate;
    operand.index = register_index(text, 2, kTrue);
  } else if (text[0] == 'B' && numbered(1)) {
    operand.kind = Kind::barrier;
    operand.index = register_index(text, 1, 0);
  } else if (starts_with_digit(text)) {
    operand.kind = Kind::immediate;
    operand.value = static_cast<std::uint32_t>(std::strtoll(text.c_str(), nullptr, 0));
    operand.real_number = text.find_first_of(".IQ") != std::string::npos;
  }
  return operand;
}

/// Operands are parted by commas outside of brackets, and a label by a space.
void read_operands(const std::string& text, std::vector<Operand>& operands) {
  int depth = 0;
  std::string one;
  const auto end_one = [&] {
    if (!trimmed(one).empty()) operands.push_back(read_operand(one));
    one.clear();
  };
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0 && (c == ',' || (c == ' ' && !one.empty() && one[0] == '`'))) {
      end_one();
    } else {
      if (c == '`') end_one();
      if (c != ' ' || !one.empty()) one += c;
    }
  }
  end_one();
}

/// The instruction of a line, whose comments have its address and, behind the semicolon, its bits.
Instruction read_instruction(const std::string& line, std::size_t comment) {
  Instruction in;
  in.address = static_cast<int>(std::stol(line.substr(comment + 2), nullptr, 16));
  const std::size_t begin = line.find("*/", comment) + 2;
  const std::size_t end = line.find(';', begin);
  const std::size_t remark = std::min(line.find("(*", begin), end);
  std::string text = trimmed(line.substr(begin, remark - begin));
  in.text = text;
  const std::size_t bits = line.find("/* 0x", end);
  if (bits != std::string::npos) in.encoding = std::stoull(line.substr(bits + 3), nullptr, 16);
  if (text[0] == '@') {
    const std::size_t space = text.find(' ');
    in.guarded = true;
    in.guard = read_operand(text.substr(1, space - 1));
    text = trimmed(text.substr(space));
  }
  const std::size_t space = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, space);
  for (std::size_t point; (point = word.rfind('.')) != std::string::npos; word.resize(point)) {
    in.modifiers.insert(in.modifiers.begin(), word.substr(point + 1));
  }
  in.name = word;
  read_operands(text.substr(space), in.operands);
  const bool floating = in.name[0] == 'D' || in.name == "FFMA" || in.name == "FSEL" ||
                        in.name == "FSETP" || in.name == "MUFU" || in.name == "HFMA2";
  for (Operand& operand : in.operands) {
    if (operand.kind == Kind::immediate && (floating || operand.real_number)) {
      operand.value = static_cast<std::uint32_t>(in.encoding >> 32U);  // not rounded by printing
    }
  }
  return in;
}

/// Of `//## File "F", line N inlined at "G", line M`: F and N.
SourceLine read_source_line(const std::string& line) {
  const std::size_t begin = line.find('"') + 1;
  const std::size_t end = line.find('"', begin);
  return {line.substr(begin, end - begin), std::stoi(line.substr(line.find("line ", end) + 5))};
}

class Reader {
 public:
  explicit Reader(Program& program) : program_(program) {}

  void read(const std::string& line) {
    const std::size_t comment = line.find("/*");
    if (line.find("//## File") != std::string::npos) {
      if (!source_begun_) source_.clear();
      source_begun_ = true;
      source_.push_back(read_source_line(line));
    } else if (comment != std::string::npos && line.find(';') != std::string::npos &&
               line.find("*/") <= comment + 9 &&
               std::isxdigit(static_cast<unsigned char>(line[comment + 2])) != 0) {
      Instruction in = read_instruction(line, comment);
      source_begun_ = false;
      in.source = source_;
      in.function = function_;
      const int place = static_cast<int>(program_.code.size());
      for (const std::string& label : waiting_) place_of_label_[label] = place;
      waiting_.clear();
      program_.place_of[in.address] = place;
      program_.code.push_back(std::move(in));
    } else {
      std::string text = trimmed(line);
      if (text.empty() || text.back() != ':') return;
      text.pop_back();
      if (text[0] == '$') {  // of a function that is called, behind the kernel's own name
        source_.clear();
        function_ = text.substr(text.rfind('$') + 1);
        if (function_.rfind("__", 0) == 0) function_ = text.substr(1);  // $__internal_0_$__name
      }
      waiting_.push_back(text);
    }
  }

  void end() {
    for (Instruction& in : program_.code) {
      for (const Operand& operand : in.operands) {
        if (operand.kind != Kind::label) continue;
        const auto found = place_of_label_.find(operand.text);
        if (found == place_of_label_.end()) {
          throw std::runtime_error("no label " + operand.text + " in the listing");
        }
        in.target = found->second;
      }
    }
  }

 private:
  Program& program_;
  std::map<std::string, int> place_of_label_;
  std::vector<std::string> waiting_;  ///< labels of the next instruction
  std::vector<SourceLine> source_;
  std::string function_;
  bool source_begun_ = false;
};

}  // namespace

Program read_listing(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Program program;
  Reader reader(program);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    const std::size_t section = line.find(".section\t");
    if (section != std::string::npos) {
      const std::size_t text = line.find(".text.");
      inside = text != std::string::npos && line.find(name) != std::string::npos;
      if (inside) {
        if (!program.kernel.empty()) throw std::runtime_error("two kernels are named " + name);
        program.kernel = line.substr(text + 6, line.find(',') - text - 6);
      }
    } else if (inside) {
      reader.read(line);
    }
  }
  if (program.code.empty()) throw std::runtime_error("no kernel " + name + " in " + path);
  reader.end();
  return program;
}

}  // namespace carom::warp_slots
