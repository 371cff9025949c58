#include "tests/memory_model/exact.hpp"

#include <glpk.h>

#include <map>
#include <memory>
#include <stdexcept>

namespace gradweave::test {
namespace {

using memory_model::Access;
using memory_model::Gap;
using memory_model::Iteration;
using memory_model::kNever;
using memory_model::Places;
using memory_model::Uses;

struct Deleter {
  void operator()(glp_prob *problem) const { glp_delete_prob(problem); }
};

/// Columns 1, 2, ... are the shares of gaps' bytes that stay, then those of what is written that is not.
class Program {
public:
  Program(const Iteration &iteration, const Uses &uses, std::uint64_t capacity, Placed placed)
      : iteration_(iteration), uses_(uses), gaps_(find_gaps(iteration, uses)),
        unit_(static_cast<double>(capacity) / kUnits), problem_(glp_create_prob()) {
    glp_set_obj_dir(problem_.get(), GLP_MAX);
    for (const Gap &gap : gaps_)
      add_column(gap.read_again ? units(gap.bytes) : 0, placed);
    add_writes(placed);
    add_room(capacity);
  }

  double solve(Placed placed) {
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    glp_term_out(GLP_OFF);
    glp_scale_prob(problem_.get(), GLP_SF_AUTO);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.presolve = placed == Placed::kRows ? GLP_ON : GLP_OFF;
    if (glp_simplex(problem_.get(), &simplex) != 0 || glp_get_status(problem_.get()) != GLP_OPT)
      throw std::runtime_error("no optimum of the linear program");
    if (placed == Placed::kRows) return all_traffic() - unit_ * glp_get_obj_val(problem_.get());
    glp_iocp integer;
    glp_init_iocp(&integer);
    integer.msg_lev = GLP_MSG_OFF;
    if (glp_intopt(problem_.get(), &integer) != 0 || glp_mip_status(problem_.get()) != GLP_OPT)
      throw std::runtime_error("no optimum of the integer program");
    return all_traffic() - unit_ * glp_mip_obj_val(problem_.get());
  }

private:
  static constexpr double kUnits = 100; ///< of the capacity

  double units(std::uint64_t bytes) const { return static_cast<double>(bytes) / unit_; }
  int add_column(double profit, Placed placed) {
    const int column = glp_add_cols(problem_.get(), 1);
    if (placed == Placed::kWhole)
      glp_set_col_kind(problem_.get(), column, GLP_BV);
    else
      glp_set_col_bnds(problem_.get(), column, GLP_DB, 0, 1);
    glp_set_obj_coef(problem_.get(), column, profit);
    return column;
  }
  void add_row(const std::vector<std::pair<int, double>> &terms, double most) {
    std::vector<int> columns{0};
    std::vector<double> factors{0};
    for (const auto &[column, factor] : terms) {
      columns.push_back(column);
      factors.push_back(factor);
    }
    const int row = glp_add_rows(problem_.get(), 1);
    glp_set_row_bnds(problem_.get(), row, GLP_UP, 0, most);
    glp_set_mat_row(problem_.get(), row, static_cast<int>(terms.size()), columns.data(), factors.data());
  }

  /// What is written, and need not be in memory in the end, is not if it stays over all gaps up to the next change.
  void add_writes(Placed placed) {
    std::map<std::uint32_t, std::vector<int>> gaps_of; // of the access that writes
    std::vector<std::uint32_t> written_by(uses_.accesses(), kNever);
    std::vector<int> column(uses_.accesses());
    for (std::size_t g = 0; g < gaps_.size(); ++g)
      column[gaps_[g].access] = static_cast<int>(g + 1);
    std::map<std::uint32_t, bool> lasts;
    for (std::uint32_t a = 0; a < uses_.accesses(); ++a) {
      const std::uint32_t before = uses_.previous[a];
      written_by[a] = uses_.what[a].writes ? a : before == kNever ? kNever : written_by[before];
      if (written_by[a] == kNever) continue;
      if (uses_.next[a] != kNever)
        gaps_of[written_by[a]].push_back(column[a]);
      else
        lasts[written_by[a]] = iteration_.tensors[uses_.what[a].tensor].to_memory;
    }
    for (const auto &[access, gaps] : gaps_of) {
      if (lasts[access]) continue;
      const int saved = add_column(units(iteration_.tensors[uses_.what[access].tensor].bytes), placed);
      for (const int gap : gaps)
        add_row({{saved, 1}, {gap, -1}}, 0);
    }
  }

  void add_room(std::uint64_t capacity) {
    for (std::uint32_t s = 0; s < uses_.window.size(); ++s)
      for (const std::uint32_t place : {Places::begin(s), Places::middle(s), Places::end(s)}) {
        std::vector<std::pair<int, double>> held;
        for (std::size_t g = 0; g < gaps_.size(); ++g)
          if (gaps_[g].from <= place && place < gaps_[g].to)
            held.emplace_back(static_cast<int>(g + 1), units(gaps_[g].bytes));
        const std::uint64_t taken = place == Places::end(s) ? 0 : uses_.window[s];
        if (!held.empty()) add_row(held, units(capacity - taken));
      }
  }

  double all_traffic() const {
    double bytes = 0;
    for (std::uint32_t a = 0; a < uses_.accesses(); ++a) {
      const Access &access = uses_.what[a];
      const memory_model::Tensor &tensor = iteration_.tensors[access.tensor];
      if (access.reads) bytes += static_cast<double>(tensor.bytes);
      if (access.writes && (uses_.next[a] != kNever || tensor.to_memory)) bytes += static_cast<double>(tensor.bytes);
    }
    return bytes;
  }

  const Iteration &iteration_;
  const Uses &uses_;
  std::vector<Gap> gaps_;
  double unit_; ///< bytes: the solver likes numbers that are neither large nor small
  std::unique_ptr<glp_prob, Deleter> problem_;
};

} // namespace

double least_traffic(const Iteration &iteration, const Uses &uses, std::uint64_t capacity, Placed placed) {
  return Program(iteration, uses, capacity, placed).solve(placed);
}

} // namespace gradweave::test
