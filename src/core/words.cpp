#include "core/words.hpp"

namespace carom {

std::string_view to_string(Backend backend) { return word_of(backend); }
std::string_view to_string(Precision precision) { return word_of(precision); }
std::string_view to_string(Status status) { return word_of(status); }
std::string_view to_string(TrajectoryStatus status) { return word_of(status); }
std::string_view to_string(ImpactMethod method) { return word_of(method); }
std::string_view to_string(Sampler sampler) { return word_of(sampler); }
std::string_view to_string(Selection selection) { return word_of(selection); }
std::string_view to_string(EnclosureStatus status) { return word_of(status); }
std::string_view to_string(ImpactAnswer answer) { return word_of(answer); }
std::string_view to_string(QpMethod method) { return word_of(method); }
std::string_view to_string(PlanarMethod method) { return word_of(method); }
std::string_view to_string(ConeModel cones) { return word_of(cones); }
std::string_view to_string(StepLaw law) { return word_of(law); }
std::string_view to_string(MotionMechanism mechanism) { return word_of(mechanism); }
std::string_view to_string(Restitution restitution) { return word_of(restitution); }
std::string_view to_string(MotionEnd end) { return word_of(end); }
std::string_view to_string(MotionEventKind kind) { return word_of(kind); }
std::string_view to_string(StabilityVerdict verdict) { return word_of(verdict); }
std::string_view to_string(StabilityMethod method) { return word_of(method); }
std::string_view to_string(CertificateKind kind) { return word_of(kind); }
std::string_view to_string(ContactLetter letter) { return word_of(letter); }
std::string_view to_string(ImpactKind kind) { return word_of(kind); }
std::string_view to_string(StanceEventKind kind) { return word_of(kind); }

std::string joined(const std::vector<std::string>& texts, std::string_view last) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) all += i + 1 < texts.size() ? ", " : last;
    all += texts[i];
  }
  return all;
}

}  // namespace carom
