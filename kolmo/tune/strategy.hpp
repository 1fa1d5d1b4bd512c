#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "kolmo/tune/space.hpp"
#include "kolmo/tune/trials.hpp"

namespace kolmo::tune {

/// A search strategy. It measures in rounds. The best configuration is determined from the trials afterwards,
/// so a strategy returns nothing and may stop whenever the budget is spent.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The configurations in `kept` (the default first, then the incumbent) are measured in every round,
  /// whatever their times.
  virtual void search(const Space& space, std::span<const std::size_t> kept, Trials& trials) = 0;
};

/// "exhaustive", "random", "climb" or "halving"; throws InvalidArgument for another name. `seed` is for the
/// random choices of random and climb.
std::unique_ptr<Strategy> make_strategy(std::string_view name, std::uint64_t seed = 1);
inline constexpr std::string_view strategy_names[] = {"halving", "exhaustive", "random", "climb"};

}  // namespace kolmo::tune
