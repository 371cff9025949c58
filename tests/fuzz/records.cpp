// What runs keep and child processes send: lines of journals, status files, results as JSON. A damaged one is left out
// or done again; nothing else may come of it. Results survive being written and read again.
#include "app/evaluation/unit/step_unit.hpp"
#include "app/evaluation/unit/unit.hpp"
#include "app/validate/verdict/verdict_json.hpp"
#include "base/file/journal.hpp"
#include "runtime/record/result_json.hpp"
#include "runtime/record/run_record.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace {

namespace runtime = gradweave::runtime;
namespace evaluation = gradweave::evaluation;
using Json = nlohmann::ordered_json;
using gradweave::fuzz::require;

/// Calls `read`, which may refuse by the two kinds of errors that its callers know.
template <typename Read> void attempt(const Read &read) {
  try {
    read();
  } catch (const Json::exception &) {
  } catch (const std::invalid_argument &) {
  }
}

void read_result(const std::string &text) {
  const Json json = runtime::to_json(runtime::result_from_json(Json::parse(text)));
  require(runtime::to_json(runtime::result_from_json(json)) == json, "a result changes when it is read again");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(gradweave::fuzz::text_of(data, size));
  if (const auto entry = gradweave::Journal::parse_line(text)) attempt([&] { read_result(entry->second); });
  attempt([&] {
    const runtime::RecordedRun run = runtime::parse_status(text);
    require(run.pid > 0, "a status whose process is a group of processes, or all of them");
  });
  attempt([&] { read_result(text); });
  attempt([&] {
    const auto verdicts = runtime::verdicts_from_text(text);
    require(runtime::verdicts_from_text(runtime::to_text(verdicts)).size() == verdicts.size(), "verdicts were lost");
  });
  attempt([&] { evaluation::to_text(evaluation::from_text(text)); });
  attempt([&] { evaluation::to_text(evaluation::step_from_text(text)); });
  return 0;
}
