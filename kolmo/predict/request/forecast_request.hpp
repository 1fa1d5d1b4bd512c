#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/flow/option/option.hpp"
#include "kolmo/predict/record/log_file.hpp"

namespace kolmo::predict {

/// The options with which a user says how a log is read.
struct LogRequest {
  LogColumns columns;
  std::optional<std::int64_t> block;  ///< steps in a block

  static constexpr auto fields() {
    using C = LogColumns;
    using R = LogRequest;
    return join(
        within<&R::columns>(list_of(
            text_option<&C::step>("step", "NAME", "column of steps")
                .if_left_out(
                    "step, Step, _step, global_step or iteration; without one, rows are steps 1, 2, ..."),
            text_option<&C::loss>("loss", "NAME", "column of the loss, which must be positive")
                .if_left_out("loss, train_loss or train/loss, also after 'RUN - '"),
            text_option<&C::gradient_norm>("gradient_norm", "NAME", "column of the norm of the gradient")
                .if_left_out("gradient_norm or grad_norm, if there is one"),
            text_option<&C::rate>("rate", "NAME", "column of the learning rate")
                .if_left_out("rate, lr or learning_rate; without one, the rate is constant"),
            text_option<&C::validation>("validation", "NAME", "column of the loss on held-out data")
                .if_left_out("validation, val_loss or eval_loss, if there is one"),
            text_option<&C::averaged>("averaged", "NAME",
                                      "column of the loss on held-out data of averaged weights")
                .if_left_out("averaged, if there is one"),
            text_option<&C::na>("na", "LIST",
                                "texts that mean an unknown value besides NA, null and the like, "
                                "comma-separated (semicolons with a decimal comma)"),
            value_option<&C::decimal>(
                "decimal",
                "decimal mark of a text; with a comma, semicolons, tabs or blanks separate columns"))),
        list_of(value_option<&R::block>("block", 1, 1 << 30, "steps in a block; losses are means over blocks")
                    .if_left_out("10, or more if rows are further apart")));
  }
};

/// The options of a forecast.
struct ForecastRequest : LogRequest {
  std::string plan = "hold";
  std::optional<std::int64_t> horizon;  ///< steps
  std::optional<double> target;
  std::string forecaster;
  std::string store;
  std::string device = "cpu";
  bool decide = false;
  std::optional<std::int64_t> budget;  ///< steps
  std::vector<double> rates{};  ///< of the steps to come, instead of a plan: no option, for callers in memory

  static constexpr auto fields() {
    using R = ForecastRequest;
    return join(
        list_of(text_option<&R::plan>("plan", "PLAN",
                                      "learning rates to come: hold, decay@AT:LENGTH[:SHAPE] with AT a step "
                                      "or now and SHAPE linear, "
                                      "sqrt or cosine, cosine@END, or a file with a rate for each step"),
                value_option<&R::horizon>("horizon", 1, 10000000, "steps to forecast")
                    .if_left_out("100, or the end of the plan; with a target as many steps as the log has"),
                value_option<&R::target>("target", std::numeric_limits<double>::min(),
                                         std::numeric_limits<double>::max(), "loss whose time is asked for"),
                text_option<&R::forecaster>("forecaster", "NAME", "the forecaster that drives")
                    .if_left_out("the best on the log's past, of those that follow the plan"),
                text_option<&R::store>("store", "FOLDER", "store of past runs, as --train-store makes it")
                    .names_file(PathUse::in),
                text_option<&R::device>(
                    "device", "DEVICE",
                    "where --train-store trains: auto, cpu, cuda, cuda:N or simt (emulated GPU)"),
                value_option<&R::decide>("decide",
                                         "say whether to go on or to start a decay to rate 0, and how long; "
                                         "needs a target or a budget"),
                value_option<&R::budget>("budget", 1, 1000000000000,
                                         "steps that the training may take in all, for --decide")
                    .if_left_out("as many as it takes to the target")),
        inherited<R, LogRequest>(LogRequest::fields()));
  }
};

}  // namespace kolmo::predict
