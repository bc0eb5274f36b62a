#include "cli/bounce_options.hpp"

#include <fmt/format.h>

#include <carom/error.hpp>

#include "cli/choices.hpp"
#include "cli/numbers.hpp"

namespace carom::cli {

namespace {

/// "1:2:1", a number for each contact, or one for all.
std::vector<double> per_contact(const char* option, const std::string& text, int contacts) {
  std::vector<double> values;
  for (const std::string& piece : split(text, ':')) values.push_back(parse_real(option, piece));
  const auto count = static_cast<std::size_t>(contacts);
  if (values.size() == 1) values.resize(count, values.front());
  if (values.size() == count) return values;
  throw InvalidInput(fmt::format("{} {}: has {} numbers: must be one for each of {} contacts",
                                 option, text, values.size(), contacts));
}

}  // namespace

void add_bounce_options(CLI::App& command, BounceOptions& options) {
  command.add_flag(
      "--sequential", options.sequential,
      "Single impacts by Stronge's restitution, each to its full bounce, in all orders");
  command
      .add_option("--rounds", options.rounds,
                  "Rounds of impulses at all contacts: " + listed<BounceRounds>(" or "))
      ->type_name("WORD")
      ->allow_extra_args(false);
  command
      .add_option(
          "--lzb", options.springs,
          "Bi-stiffness springs at the contacts (Liu, Zhao and Brogliato): stiffnesses; without "
          "--gaps only their ratios matter")
      ->type_name("K:K:..");
  command
      .add_option("--exponent", options.exponent, "--lzb: power of the force in the compression")
      ->type_name("P")
      ->capture_default_str();
  command
      .add_option("--gaps", options.gaps,
                  "--lzb: gaps before the impact [m]; a spring acts from the moment its gap closes")
      ->type_name("H:H:..");
}

run::BounceRequest bounce_request(const BounceOptions& options, int contacts) {
  run::BounceRequest request;
  request.sequential = options.sequential;
  for (const std::string& word : options.rounds) {
    request.rounds.push_back(choice<BounceRounds>("--rounds", word));
  }
  if (options.springs.empty()) {
    if (!options.gaps.empty()) throw InvalidInput("--gaps: needs --lzb");
    return request;
  }
  CompliantContacts springs;
  springs.stiffness = per_contact("--lzb", options.springs, contacts);
  springs.exponent = parse_real("--exponent", options.exponent);
  if (!options.gaps.empty()) springs.gaps = per_contact("--gaps", options.gaps, contacts);
  request.springs = springs;
  return request;
}

}  // namespace carom::cli
