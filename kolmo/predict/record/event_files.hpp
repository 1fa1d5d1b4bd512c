#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table.hpp"

namespace kolmo::predict {

/// The event files of TensorBoard in a folder, in the order of their names, which begin with the time they were opened.
std::vector<std::string> event_files(const std::string& folder);

/// The scalars of a folder of event files: a column for each tag that is wanted and one named "step", and a row for each step that has
/// such a scalar, in the order of steps. The columns of other tags follow; they have their names and no rows, so that memory does not grow
/// with them. Where a later file has a scalar at a step that an earlier one had passed, the training went on from a checkpoint, and the
/// later file counts from there on. A value that is NaN is -infinity, and one that a step does not have is NaN. A record that is cut off at
/// the end of a file is passed over, as the file may be
/// growing. Throws InvalidArgument, naming the file and the byte, for a record whose checksum is wrong, and for a folder without scalars.
///
/// Source: TensorFlow's TFRecord format, and its event.proto, summary.proto and tensor.proto.
Table read_event_files(
    const std::string& folder,
    const std::function<bool(std::string_view tag)>& wanted = [](std::string_view) { return true; });

}  // namespace kolmo::predict
