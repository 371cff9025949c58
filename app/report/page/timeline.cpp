#include "app/report/page/sections.hpp"
#include "app/report/text_format.hpp"
#include "timeline_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::report {
namespace {

void element(page::XmlWriter &html, const char *id, const char *text, const char *says) {
  html.element("button", text, {{"type", "button"}, {"id", id}, {"aria-label", says}});
}

/// A sketch without the names of its fields, which many layers would repeat: name, cycles, rows (engine, tensors,
/// bars), interval, occupied.
Json drawn_by_script(const Json &name, const Json &sketch) {
  Json rows = Json::array();
  for (const Json &row : sketch.at("rows"))
    rows.push_back(Json::array({row.at("engine"), row.at("tensors"), row.at("bars")}));
  return Json::array({name, sketch.at("cycles"), std::move(rows), sketch.at("interval"), sketch.at("occupied")});
}

} // namespace

void add_timeline(page::Document &page, const std::vector<const Json *> &layers, const NpuFacts &npu) {
  Json data = {{"clock_ghz", npu.clock_ghz}, {"layers", Json::array()}};
  std::uint64_t grain = 0, commands = 0, bars = 0;
  for (const Json *layer : layers) {
    if (!layer->contains("sketch")) continue;
    const Json &sketch = layer->at("sketch");
    data["spm_rows"] = sketch.at("spm_rows");
    data["layers"].push_back(drawn_by_script(layer->at("name"), sketch));
    grain = std::max(grain, sketch.at("grain").get<std::uint64_t>());
    commands += sketch.at("commands").get<std::uint64_t>();
    for (const Json &row : sketch.at("rows"))
      bars += row.at("bars").size() / 4;
  }
  if (data["layers"].empty()) return;
  page.heading("Timeline", "timeline");
  page.paragraph("Each engine's commands by the tensor that they move or make, layers one behind another, and below "
                 "the most rows of "
                 "the scratchpad that held something still needed. The wheel, + and - zoom; dragging and arrow keys "
                 "move; 0 shows all.");
  if (grain != 0)
    page.paragraph(
        fmt::format("Left out to keep this page small: {} commands are drawn as {} bars; bars and gaps shorter "
                    "than {} cycles may be drawn as one. --timeline draws every command (docs/timeline.md).",
                    runtime::grouped(commands), runtime::grouped(bars), runtime::grouped(grain)),
        "soft");
  page::XmlWriter &html = page.html();
  html.open("p", {{"class", "choices"}});
  element(html, "zoom-in", "+", "zoom in");
  element(html, "zoom-out", "\xe2\x88\x92", "zoom out");
  element(html, "zoom-all", "all", "show all");
  html.element("span", "", {{"id", "range"}, {"class", "soft"}});
  html.close();
  html.element("p", "", {{"id", "key"}});
  html.element("canvas", "",
               {{"id", "timeline-canvas"}, {"tabindex", "0"}, {"role", "img"}, {"aria-label", "timeline"}});
  html.element("p", "", {{"id", "about"}, {"class", "soft"}});
  page.data("timeline-data", data);
  page.script(kTimelineScript);
}

} // namespace gradweave::report
