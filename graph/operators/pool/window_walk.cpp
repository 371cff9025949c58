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
  std::vector<std::vector<InputSpan>> pixels(stride); // of each phase, one by one
  std::vector<bool> begins(inputs / stride + 1);      // where a span of a phase begins, one of each phase does
  begins[0] = true;
  for (std::size_t in = 0; in < inputs; ++in) {
    std::vector<InputSpan> &phase = pixels[in % stride];
    std::vector<InputSpan::Reader> readers = readers_of(in);
    if (!phase.empty() && !goes_on(phase.back(), readers)) begins[in / stride] = true;
    phase.push_back({in, 1, std::move(readers)});
  }
  std::vector<InputSpan> spans;
  for (const std::vector<InputSpan> &phase : pixels)
    for (std::size_t i = 0; i < phase.size(); ++i)
      if (begins[i])
        spans.push_back(phase[i]);
      else
        ++spans.back().count;
  return spans;
}

} // namespace gradweave::graph
