#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

Check rests_again() {
  return replayed(op_of("Mod", {Shape{67}, Shape{67}}), range(0.3, 9), [](const Given &given) {
    std::vector<float> y = given.real.at("a");
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = std::fmod(y[i], given.real.at("b")[i]);
    return y;
  });
}

const Holds mod_holds({"Mod"}, {derivative(op_of("Mod", {Shape{3, 4}, Shape{3, 4}}), range(1, 4)),
                                derivative(op_of("Mod", {Shape{3, 1}, Shape{4}}), range(1, 4, 1, 2)),
                                derivative(op_of("Mod", {Shape{}, Shape{}}), range(-4, -1)),
                                near_fp64(op_of("Mod", {Shape{67, 3}, Shape{3}}), range(0.5, 9)), rests_again(),
                                exact(op_of("Mod", {Shape{7}, Shape{7}}),
                                      {{{"a", {7, -7, 7, -6, 1e6F, NAN, 3}}, {"b", {3, 3, -3, 3, 0.75F, 1, 0}}}},
                                      {1, -1, 1, -0.0F, 0.25F, NAN, NAN})});

} // namespace
} // namespace gradweave::graph
