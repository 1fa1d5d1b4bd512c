#pragma once
#include "kolmo/topology/diagram.hpp"

namespace kolmo::topology {

// Distances of persistence diagrams. Intervals of one diagram are matched with those of the other or with the diagonal;
// the cost of a match is the larger of the differences of birth and death, and that of the diagonal is half the
// persistence. Intervals that never die are matched with such ones, in the order of their births; if their numbers
// differ, the distance is infinite. The same holds for those that are born at -infinity. Intervals of length 0 cost nothing.
// Throws InvalidArgument for a NaN, and for an interval that dies before its birth.

/// Returns the smallest value that the largest cost of a matching has: exactly one of the costs. Found by bisection over
/// the costs, each step by the algorithm of Hopcroft and Karp.
/// Source: Efrat, Itai, Katz, Algorithmica 31, 1 (2001); Kerber, Morozov, Nigmetov, ACM J. Exp. Algorithmics 22 (2017).
double bottleneck_distance(const Diagram& a, const Diagram& b);

/// Returns the smallest (sum of cost^order)^(1/order) that a matching has; order is 1 or more, and finite. Exact up to
/// rounding, by successive shortest paths: O(n^2 m) for n <= m intervals, with 8 n m bytes.
/// Source: Jonker, Volgenant, Computing 38, 325 (1987). Throws OutOfMemory if there is no room for the costs.
double wasserstein_distance(const Diagram& a, const Diagram& b, double order = 1);

}  // namespace kolmo::topology
