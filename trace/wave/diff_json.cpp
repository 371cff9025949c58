#include "trace/wave/diff_text.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::wave {

std::string diff_json(const DiffReport &report, const std::string &file_a, const std::string &file_b,
                      std::uint64_t period) {
  using nlohmann::ordered_json;
  ordered_json json;
  json["equal"] = report.equal();
  json["a"] = file_a;
  json["b"] = file_b;
  json["time_unit"] = report.edges ? ordered_json("edges") : ordered_json(report.timescale);
  json["period"] = period;
  json["from"] = report.from;
  json["to"] = report.to;
  json["a_end"] = report.a_end;
  json["b_end"] = report.b_end;
  json["signals_compared"] = report.compared;
  json["differing"] = ordered_json::array();
  for (const DifferingSignal &signal : report.differing) {
    const SignalDifference &d = signal.difference;
    json["differing"].push_back({{"signal", signal.name},
                                 {"range", signal.range},
                                 {"first", d.first},
                                 {"last", d.last},
                                 {"intervals", d.intervals},
                                 {"a", value_text(d.a, signal.kind)},
                                 {"b", value_text(d.b, signal.kind)},
                                 {"a_changes", d.a_changes},
                                 {"b_changes", d.b_changes}});
  }
  if (report.shift) json["shift"] = {{"by", report.shift->by}, {"signals", report.shift->signals}};
  json["only_a"] = report.only_a;
  json["only_b"] = report.only_b;
  json["incompatible"] = ordered_json::array();
  for (const Incompatible &signal : report.incompatible)
    json["incompatible"].push_back({{"signal", signal.name}, {"a", signal.a}, {"b", signal.b}});
  // Names and strings of other tools need not be UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace gradweave::wave
