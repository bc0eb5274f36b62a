#include "cli/manual.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "cli/option_table.hpp"
#include "io/file_error.hpp"

namespace carom::cli {

namespace {

// Text for groff: dashes stay dashes, and a full stop or an apostrophe begins no request.
std::string roff(const std::string& text) {
  std::string safe;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '\'') {
      safe += "\\(aq";
    } else if (c == '^') {
      safe += "\\(ha";
    } else if (c == '~') {
      safe += "\\(ti";
    } else {
      safe += c;
    }
    line_start = c == '\n';
  }
  return safe;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

// With a full stop, if it ends as no sentence does.
std::string sentence(const std::string& text) {
  const bool ends = !text.empty() && std::string(".?!").find(text.back()) != std::string::npos;
  return roff(text) + (ends ? "\n" : ".\n");
}

void write_options(std::ostream& page, const CLI::App& command, bool positional) {
  for (const OptionRow& row : option_table(command)) {
    if (row.positional != positional) continue;
    page << ".TP\n";
    for (std::size_t i = 0; i < row.names.size(); ++i) {
      page << (i > 0 ? ", " : "") << (positional ? italic(row.names[i]) : bold(row.names[i]));
    }
    if (!row.type.empty()) page << ' ' << italic(row.type);
    if (row.several) page << " ...";
    page << '\n'
         << sentence(row.meaning + (row.initial.empty() ? "" : "; default: " + row.initial));
  }
}

void write_synopsis(std::ostream& page, const CLI::App& command) {
  page << ".SH SYNOPSIS\n"
       << bold("carom " + command.get_name()) << " [" << italic("options") << "]";
  for (const OptionRow& row : option_table(command)) {
    if (!row.positional) continue;
    page << (row.required ? " " : " [") << italic(row.names.front()) << (row.several ? " ..." : "")
         << (row.required ? "" : "]");
  }
  page << '\n';
}

void write_verbatim(std::ostream& page, const std::string& title, const std::string& text) {
  if (text.empty()) return;
  page << ".SH " << title << "\n.EX\n" << roff(text) << "\n.EE\n";
}

// "Example: carom ..." and the lines below it, which help indents by nine columns.
std::string examples(const std::string& text) {
  return std::regex_replace(text, std::regex("(^|\n)(Example: |         )"), "$1");
}

void write_exit_status(std::ostream& page) {
  page << ".SH EXIT STATUS\n"
       << ".TP\n0\nThe run ended well.\n"
       << ".TP\n1\nThe run ended, but not well: an answer is missing or not certified, a "
          "comparison\n"
          "differs, a file cannot be written.\n"
       << ".TP\n2\nThe command line or an input is wrong; one line on standard error names what.\n"
       << ".TP\n130\nInterrupted.\n";
}

std::string page_of(const CLI::App& program, const CLI::App* command) {
  std::ostringstream page;
  const std::string name = command == nullptr ? "carom" : "carom-" + command->get_name();
  page << ".TH \"" << roff(name) << "\" 1 \"\" \"carom " << build_info().version
       << "\" \"User commands\"\n.SH NAME\n"
       << roff(name) << " \\- ";
  if (command != nullptr) {
    page << roff(command->get_description()) << '\n';
    write_synopsis(page, *command);
    std::string footer = command->get_footer();
    while (!footer.empty() && footer.front() == '\n') footer.erase(0, 1);
    const std::size_t example = footer.rfind("Example");
    const std::string notes =
        footer.substr(0, example == std::string::npos ? footer.size() : example);
    page << ".SH OPTIONS\n";
    write_options(page, *command, true);
    write_options(page, *command, false);
    write_verbatim(page, "NOTES", notes.substr(0, notes.find_last_not_of('\n') + 1));
    if (example != std::string::npos)
      write_verbatim(page, "EXAMPLES", examples(footer.substr(example)));
    write_exit_status(page);
    page << ".SH SEE ALSO\n.BR carom (1)\n";
    return page.str();
  }
  page << "batched small contact\\-mechanics problems on CPU and GPU\n"
       << ".SH SYNOPSIS\n"
       << bold("carom") << ' ' << italic("command") << " [" << italic("options") << "]\n.br\n"
       << bold("carom --version") << "\n.br\n"
       << bold("carom ") << italic("command") << bold(" --help") << "\n.SH DESCRIPTION\n"
       << "Each command has a page of its own. Numbers are SI units.\n.SH COMMANDS\n";
  for (const CLI::App* each : commands_of(program)) {
    page << ".TP\n.BR carom\\-" << roff(each->get_name()) << " (1)\n"
         << sentence(each->get_description());
  }
  page << ".SH OPTIONS\n";
  write_options(page, program, false);
  write_verbatim(page, "EXAMPLES", examples(program.get_footer()));
  write_exit_status(page);
  return page.str();
}

void write_page(const std::filesystem::path& folder, const std::string& name,
                const std::string& text) {
  const std::filesystem::path file = folder / (name + ".1");
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) throw io::FileError(file.string() + ": cannot be written");
}

}  // namespace

void add_man(Program& program) {
  CLI::App* command = program.app.add_subcommand("man", "Manual pages as text for man and groff");
  command->footer(
      "Example: carom man impact | man -l -\n"
      "         carom man --folder /usr/local/share/man/man1");
  const auto about = std::make_shared<std::string>();
  const auto folder = std::make_shared<std::string>();
  command->add_option("command", *about, "Command that the page is about; left out: the program")
      ->type_name("COMMAND");
  command->add_option("--folder", *folder, "Write the pages of all commands into this folder")
      ->type_name("DIR");
  command->callback([&program, about, folder] {
    program.chosen = [&program, about, folder] {
      if (!folder->empty()) {
        if (!about->empty()) throw InvalidInput("--folder writes all pages: name no command");
        write_page(*folder, "carom", page_of(program.app, nullptr));
        for (const CLI::App* each : commands_of(program.app)) {
          write_page(*folder, "carom-" + each->get_name(), page_of(program.app, each));
        }
        return kSuccess;
      }
      if (about->empty()) {
        fmt::print("{}", page_of(program.app, nullptr));
        return kSuccess;
      }
      std::string known;
      for (const CLI::App* each : commands_of(program.app)) {
        if (each->get_name() == *about) {
          fmt::print("{}", page_of(program.app, each));
          return kSuccess;
        }
        known += (known.empty() ? "" : ", ") + each->get_name();
      }
      throw InvalidInput(fmt::format("command is {}: must be one of {}", *about, known));
    };
  });
}

}  // namespace carom::cli
