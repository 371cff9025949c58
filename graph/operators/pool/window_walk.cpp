#include "graph/operators/pool/window_walk.hpp"

namespace gradweave::graph {

std::vector<OutputSpan> output_spans(std::uint32_t outputs, std::uint32_t inputs, std::uint32_t kernel,
                                     std::uint32_t stride, std::uint32_t pad) {
  std::vector<OutputSpan> spans;
  for (std::size_t out = 0; out < outputs; ++out) {
    std::size_t tap = 0, end = kernel;
    while (!input_at(out, tap, stride, 1, pad, inputs))
      ++tap;
    while (!input_at(out, end - 1, stride, 1, pad, inputs))
      --end;
    if (!spans.empty() && spans.back().tap == tap && spans.back().end_tap == end)
      ++spans.back().count;
    else
      spans.push_back({out, 1, tap, end});
  }
  return spans;
}

std::vector<InputSpan> input_spans(std::uint32_t outputs, std::uint32_t inputs, std::uint32_t kernel,
                                   std::uint32_t stride, std::uint32_t pad) {
  const auto readers_of = [&](std::size_t in) {
    std::vector<InputSpan::Reader> readers;
    for (std::size_t tap = kernel; tap-- > 0;) // the later the tap, the earlier the window
      if (const auto out = output_at(in, tap, stride, 1, pad, outputs)) readers.push_back({*out, tap});
    return readers;
  };
  const auto goes_on = [](const InputSpan &span, const std::vector<InputSpan::Reader> &readers) {
    bool same = span.readers.size() == readers.size();
    for (std::size_t i = 0; same && i < readers.size(); ++i)
      same = readers[i].tap == span.readers[i].tap && readers[i].output == span.readers[i].output + span.count;
    return same;
  };
  std::vector<InputSpan> spans;
  for (std::size_t phase = 0; phase < stride && phase < inputs; ++phase) {
    bool fresh = true;
    for (std::size_t in = phase; in < inputs; in += stride) {
      std::vector<InputSpan::Reader> readers = readers_of(in);
      if (!fresh && goes_on(spans.back(), readers))
        ++spans.back().count;
      else
        spans.push_back({in, 1, std::move(readers)});
      fresh = false;
    }
  }
  return spans;
}

} // namespace gradweave::graph
