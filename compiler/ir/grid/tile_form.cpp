#include "compiler/ir/grid/tile_form.hpp"

#include "compiler/ir/grid/tile_rows.hpp"

#include <algorithm>

namespace gradweave::compiler {

TileForm::TileForm(const Rect &rect, const Place &place)
    : rows(rect.rows), cols(rect.cols), taps(rect.taps), pixels(rect.pixels), lines(tile_rows(rect)),
      place_rows(place.rows.rows), pstride(place.pstride), guard(place.guard), panels(place.panels), rot(place.rot) {}

/// Where the form's number is, or is to be.
std::uint32_t &TileForms::slot_of(const TileForm &form) {
  std::uint64_t hash = 0;
  for (const std::uint64_t v : {form.rows, form.cols, form.place_rows, form.guard, form.rot})
    hash = (hash ^ v) * 0x9E3779B97F4A7C15U;
  std::size_t at = static_cast<std::size_t>(hash >> 32U) & (slots_.size() - 1);
  while (slots_[at] != 0 && !(forms_[slots_[at]] == form))
    at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

void TileForms::grow() {
  slots_.assign(slots_.size() * 4, 0);
  for (std::size_t number = 1; number < forms_.size(); ++number)
    slot_of(forms_[number]) = static_cast<std::uint32_t>(number);
}

std::uint32_t TileForms::number_of(const TileForm &form) {
  if (form == forms_.front()) return 0;
  if (form == forms_.back()) return static_cast<std::uint32_t>(forms_.size() - 1); // neighbours are often alike
  if (2 * forms_.size() >= slots_.size()) grow();
  std::uint32_t &slot = slot_of(form);
  if (slot == 0) {
    slot = static_cast<std::uint32_t>(forms_.size());
    forms_.push_back(form);
  }
  return slot;
}

} // namespace gradweave::compiler
