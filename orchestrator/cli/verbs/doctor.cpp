#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/exit_code.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

using nlohmann::json;
using Rows = std::vector<sandbox::Capability>;

/// All that was looked at.
struct Findings {
  std::vector<sandbox::CapabilityReport> drivers;
  Rows adapters;
  Rows models;
  Rows data_dir;
  std::string default_driver;

  bool driver_usable() const {
    for (const auto& report : drivers)
      if (report.driver == default_driver) return report.usable;
    return false;
  }
  /// What `forge run` needs on this machine. A model is not part of it: replays and servers elsewhere work without one.
  bool usable() const { return driver_usable() && none_missing(data_dir) && any_available(adapters); }

  static bool none_missing(const Rows& rows) {
    for (const auto& row : rows)
      if (row.required && !row.available) return false;
    return true;
  }
  static bool any_available(const Rows& rows) {
    for (const auto& row : rows)
      if (row.available) return true;
    return false;
  }
};

json rows_json(const Rows& rows) {
  json list = json::array();
  for (const auto& row : rows)
    list.push_back(
        {{"name", row.name}, {"available", row.available}, {"required", row.required}, {"detail", row.detail}, {"remedy", row.remedy}});
  return list;
}

json as_json(const Findings& found, Services& services) {
  json drivers = json::array();
  for (const auto& report : found.drivers)
    drivers.push_back({{"name", report.driver},
                       {"usable", report.usable},
                       {"default", report.driver == found.default_driver},
                       {"rows", rows_json(report.rows)}});
  return {{"usable", found.usable()},
          {"drivers", std::move(drivers)},
          {"adapters", rows_json(found.adapters)},
          {"models", rows_json(found.models)},
          {"data_dir", {{"path", services.data_dir()}, {"rows", rows_json(found.data_dir)}}},
          {"config_file", services.config_file()}};
}

/// One list of rows; what is missing has its remedy right below it. `needed` false: nothing in it stands in the way of a job.
std::string section(const std::string& title, const Rows& rows, bool needed, const Paint& paint) {
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, columns_of(row.name));
  std::string text = "\n" + paint.bold(title) + "\n";
  for (const auto& row : rows) {
    const std::string lacking = row.required && needed ? paint.red("MISSING") : paint.yellow("no     ");
    text += fmt::format("  {} {}  {}\n", row.available ? paint.green("ok     ") : lacking, padded(row.name, columns), harmless(row.detail));
    if (!row.available && !row.remedy.empty()) text += fmt::format("          fix: {}\n", harmless(row.remedy));
  }
  return text;
}

std::string as_text(const Findings& found, Services& services, const Paint& paint) {
  std::string text;
  for (const auto& report : found.drivers) {
    const bool is_default = report.driver == found.default_driver;
    const std::string title =
        fmt::format("Sandbox driver {} ({}{})", report.driver, report.usable ? "usable" : "not usable", is_default ? ", the default" : "");
    text += section(title, report.rows, is_default, paint);
  }
  text += section("Agents", found.adapters, true, paint);
  text += section("Models", found.models, false, paint);
  if (!Findings::any_available(found.models)) text += "          without a model only --model scripted:FILE works\n";
  text += section("Data directory " + services.data_dir(), found.data_dir, true, paint);
  text += fmt::format("\nConfiguration {}{}\n", services.config_file(), services.config_file_found() ? "" : " (not there: defaults)");
  return text +
         (found.usable() ? paint.green("This machine can run jobs.")
                         : paint.red("This machine cannot run jobs yet: see what is MISSING.")) +
         "\n";
}

int doctor(Context& context, bool as_json_object) {
  Services& services = context.services;
  const Findings found{.drivers = services.probe_drivers(context.stop),
                       .adapters = services.probe_adapters(context.stop),
                       .models = services.probe_models(context.stop),
                       .data_dir = services.probe_data_dir(context.stop),
                       .default_driver = services.sandbox_defaults().driver};
  context.console.print(as_json_object ? dump_json(as_json(found, services)) + "\n"
                                       : as_text(found, services, context.console.out_paint).substr(1));
  return number(found.usable() ? ExitCode::succeeded : ExitCode::failed);
}

}  // namespace

Verb doctor_verb() {
  const auto json = std::make_shared<bool>(false);
  return {.name = "doctor",
          .summary = "Say what this machine can enforce and run, and how to fix the rest",
          .group = "This machine",
          .details = "Exit status: 0 when jobs can run here, 1 when not.",
          .examples = "  forge doctor\n  forge doctor --json",
          .options = {{.name = "--json", .value = {}, .help = "As one JSON object", .target = json.get()}},
          .run = [json](Context& context) { return doctor(context, *json); }};
}

}  // namespace forge::cli
