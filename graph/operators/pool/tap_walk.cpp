#include "graph/operators/pool/tap_walk.hpp"

#include <iterator>
#include <utility>

namespace gradweave::graph {

std::vector<OutputSpan> of_taps(const std::vector<OutputSpan> &spans, std::size_t tap, std::size_t end) {
  std::vector<OutputSpan> some;
  for (OutputSpan span : spans) {
    span.tap = std::max(span.tap, tap);
    span.end_tap = std::min(span.end_tap, end);
    if (span.tap >= span.end_tap) continue;
    OutputSpan *const last = some.empty() ? nullptr : &some.back();
    if (last != nullptr && last->tap == span.tap && last->end_tap == span.end_tap &&
        last->first + last->count == span.first)
      last->count += span.count;
    else
      some.push_back(span);
  }
  return some;
}

std::vector<InputSpan> of_taps(const std::vector<InputSpan> &spans, std::size_t tap, std::size_t end,
                               std::uint32_t stride) {
  using Reader = InputSpan::Reader;
  const auto goes_on = [stride](const InputSpan &last, const InputSpan &span) {
    return last.first + last.count * stride == span.first &&
           std::equal(
               last.readers.begin(), last.readers.end(), span.readers.begin(), span.readers.end(),
               [&](const Reader &a, const Reader &b) { return a.tap == b.tap && a.output + last.count == b.output; });
  };
  std::vector<InputSpan> some;
  for (const InputSpan &whole : spans) {
    InputSpan span{whole.first, whole.count, {}};
    std::copy_if(whole.readers.begin(), whole.readers.end(), std::back_inserter(span.readers),
                 [&](const Reader &reader) { return reader.tap >= tap && reader.tap < end; });
    if (span.readers.empty()) continue;
    if (!some.empty() && goes_on(some.back(), span))
      some.back().count += span.count;
    else
      some.push_back(std::move(span));
  }
  return some;
}

} // namespace gradweave::graph
