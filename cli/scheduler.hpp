#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/request/request.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo::cli {

/// Targets of a network that a cluster computes.
struct ClusterWork {
  NetworkRequest request;
  const Table& table;
  std::vector<std::size_t> targets;  ///< columns of the table
  FinishedWork::Records finished;    ///< what is there before
};

/// Has the cluster with the Dask scheduler at `address` compute the records of these targets, and adds those of each to
/// `finished` as they come. Runs kolmo.distributed in `python3`, which imports nothing from the current folder; the environment
/// variable KOLMO_PYTHON names another interpreter. Throws Error if there is none, if it lacks the package kolmo or Dask, if the scheduler cannot be reached,
/// and with the message of what failed there.
void run_on_cluster(const std::string& address, const ClusterWork& work, FinishedWork& finished,
                    Progress& progress);

}  // namespace kolmo::cli
