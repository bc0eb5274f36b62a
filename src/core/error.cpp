#include <carom/types/error.hpp>

#include <utility>

namespace carom {

std::string Refusal::text() const {
  std::string subject = field;
  for (const std::int64_t i : index) subject.append("[").append(std::to_string(i)).append("]");
  if (problem) {
    subject += " of " + kind + " " + std::to_string(*problem);
    if (!name.empty()) subject += " (\"" + name + "\")";
  } else if (!name.empty()) {
    subject += " of " + kind + " \"" + name + "\"";
  }
  if (!whole.empty()) subject += " of " + whole;
  if (!value.empty()) subject += (relation.empty() ? " " : " " + relation + " ") + value;

  std::string message = source;
  for (const std::string& piece : {subject, rule}) {
    if (piece.empty()) continue;
    message += (message.empty() ? "" : ": ") + piece;
  }
  return message;
}

namespace {

Refusal in_free_words(std::string message) {
  Refusal refusal;
  refusal.rule = std::move(message);
  return refusal;
}

}  // namespace

InvalidInput::InvalidInput(std::string message) : InvalidInput(in_free_words(std::move(message))) {}

InvalidInput::InvalidInput(Refusal refusal)
    : std::invalid_argument(refusal.text()),
      refusal_(std::make_shared<const Refusal>(std::move(refusal))) {}

InvalidInput InvalidInput::with_source(const std::string& source) const {
  Refusal told = refusal();
  told.source = told.source.empty() ? source : source + ": " + told.source;
  return InvalidInput(std::move(told));
}

InvalidInput InvalidInput::with_problem(std::int64_t problem) const {
  Refusal told = refusal();
  if (told.problem) told.problem = problem;
  return InvalidInput(std::move(told));
}

}  // namespace carom
