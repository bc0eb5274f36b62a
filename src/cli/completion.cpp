#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "cli/manual.hpp"
#include "cli/option_table.hpp"

namespace carom::cli {

namespace {

// What a table of options knows about the words of one command.
struct Words {
  std::string name;
  std::string meaning;
  std::vector<OptionRow> options;
  std::vector<std::string> targets;  ///< for the positional arguments
  bool files = false;                ///< the positional arguments may be files
};

std::vector<Words> all_words(const CLI::App& program) {
  std::vector<Words> all;
  for (const CLI::App* command : commands_of(program)) {
    Words words;
    words.name = command->get_name();
    words.meaning = command->get_description();
    for (OptionRow& row : option_table(*command)) {
      if (row.positional) {
        words.files = words.files || row.takes_file();
      } else {
        words.options.push_back(std::move(row));
      }
    }
    words.targets = target_names(words.name);
    if (words.name == "completion") words.targets = {"bash", "zsh", "fish"};
    if (words.name == "man") {
      for (const CLI::App* each : commands_of(program)) words.targets.push_back(each->get_name());
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::vector<std::string> names_of(const std::vector<Words>& all) {
  std::vector<std::string> names;
  for (const Words& words : all) names.push_back(words.name);
  return names;
}

// `text` for single quotes: a quote ends them, stands escaped, and begins them anew.
std::string quoted(const std::string& text, const std::string& quote, const std::string& escaped) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += quote;
    } else {
      if (escaped.find(c) != std::string::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string bash(const std::vector<Words>& all) {
  std::string text =
      "_carom() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
      "  local options= values= files=\n"
      "  # --method=lcp comes as three words\n"
      "  if [[ $word == '=' ]]; then\n"
      "    word=\n"
      "  elif [[ $last == '=' ]]; then\n"
      "    last=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
      "      command=${COMP_WORDS[i]}\n"
      "      break\n"
      "    fi\n"
      "  done\n"
      "  case $command in\n";
  text += fmt::format("    '') options='--help --version' values='{}' ;;\n",
                      fmt::join(names_of(all), " "));
  for (const Words& words : all) {
    std::vector<std::string> options;
    std::string own;
    for (const OptionRow& row : words.options) {
      options.insert(options.end(), row.names.begin(), row.names.end());
      if (row.type.empty()) continue;
      own +=
          fmt::format("        {}) options= values='{}' files={} ;;\n", fmt::join(row.names, "|"),
                      fmt::join(row.values, " "), row.takes_file() ? "yes" : "");
    }
    text += fmt::format("    {})\n      options='{}' values='{}' files={}\n", words.name,
                        fmt::join(options, " "), fmt::join(words.targets, " "),
                        words.files ? "yes" : "");
    if (!own.empty()) text += "      case $last in\n" + own + "      esac ;;\n";
    if (own.empty()) text += "      ;;\n";
  }
  text +=
      "  esac\n"
      "  [[ $word == -* ]] && values=$options files=\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\"\n"
      "    [[ -z $files ]] || compgen -f -- \"$word\")\n"
      "  [[ -z $files ]] || compopt -o filenames 2>/dev/null\n"
      "}\n"
      "complete -F _carom carom\n";
  return text;
}

// Inside '...[meaning]:type:action' of _arguments.
std::string zsh_text(const std::string& text) { return quoted(text, "'\\''", "[]:\\"); }

std::string zsh_action(const std::vector<std::string>& values, bool files) {
  if (values.empty()) return files ? "_files" : " ";
  if (files) return fmt::format(" _carom_target {}", fmt::join(values, " "));
  return fmt::format("({})", fmt::join(values, " "));
}

std::string zsh(const std::vector<Words>& all) {
  std::string text =
      "_carom_target() {\n"
      "  local -a names=(\"$@\")\n"
      "  compadd -a names\n"
      "  _files\n"
      "}\n"
      "_carom() {\n"
      "  local curcontext=$curcontext state line\n"
      "  local -A opt_args\n"
      "  local -a commands=(\n";
  for (const Words& words : all) {
    text += fmt::format("    '{}:{}'\n", words.name, quoted(words.meaning, "'\\''", "\\"));
  }
  text +=
      "  )\n"
      "  _arguments -C '--help[Print the help message]' '--version[Print the version]' \\\n"
      "    '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const Words& words : all) {
    text += fmt::format("        {})\n          _arguments", words.name);
    for (const OptionRow& row : words.options) {
      for (const std::string& name : row.names) {
        text += fmt::format(" \\\n            '{}{}[{}]", row.several ? "*" : "", name,
                            zsh_text(row.meaning));
        if (!row.type.empty()) {
          text +=
              fmt::format(":{}:{}", zsh_text(row.type), zsh_action(row.values, row.takes_file()));
        }
        text += '\'';
      }
    }
    text += fmt::format(" \\\n            '*:argument:{}' ;;\n",
                        zsh_action(words.targets, words.files));
  }
  text +=
      "      esac ;;\n"
      "  esac\n"
      "}\n"
      // Read as a file of $fpath it is the function's body; sourced, it declares itself.
      "if [[ $funcstack[1] == _carom ]]; then\n"
      "  _carom \"$@\"\n"
      "else\n"
      "  compdef _carom carom\n"
      "fi\n";
  return text;
}

std::string fish_text(const std::string& text) { return quoted(text, "\\'", "\\"); }

std::string fish(const std::vector<Words>& all) {
  std::string text =
      "complete -c carom -f\n"
      "complete -c carom -n __fish_use_subcommand -l help -d 'Print the help message'\n"
      "complete -c carom -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const Words& words : all) {
    text += fmt::format("complete -c carom -n __fish_use_subcommand -a {} -d '{}'\n", words.name,
                        fish_text(words.meaning));
    const std::string here =
        fmt::format("complete -c carom -n '__fish_seen_subcommand_from {}'", words.name);
    if (words.files) text += here + " -F\n";
    if (!words.targets.empty()) {
      text += fmt::format("{} -a '{}'\n", here, fmt::join(words.targets, " "));
    }
    for (const OptionRow& row : words.options) {
      text += here;
      for (const std::string& name : row.names) {
        text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (row.takes_file()) text += " -r -F";
      if (!row.type.empty() && !row.takes_file()) text += " -x";
      if (!row.values.empty()) text += fmt::format(" -a '{}'", fmt::join(row.values, " "));
      text += fmt::format(" -d '{}'\n", fish_text(row.meaning));
    }
  }
  return text;
}

}  // namespace

void add_completion(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "completion", "Completion of commands, options and their words for a shell");
  command->footer(
      "Example: source <(carom completion bash)\n"
      "         carom completion zsh > \"${fpath[1]}/_carom\"\n"
      "         carom completion fish > ~/.config/fish/completions/carom.fish");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->type_name("SHELL")->required();
  command->callback([&program, shell] {
    program.chosen = [&program, shell] {
      if (*shell != "bash" && *shell != "zsh" && *shell != "fish") {
        throw InvalidInput(fmt::format("shell is {}: must be one of bash, zsh, fish", *shell));
      }
      const std::vector<Words> all = all_words(program.app);
      fmt::print("{}# Completion of carom {}, made by: carom completion {}\n",
                 *shell == "zsh" ? "#compdef carom\n" : "", build_info().version, *shell);
      fmt::print("{}", *shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
      return kSuccess;
    };
  });
}

}  // namespace carom::cli
