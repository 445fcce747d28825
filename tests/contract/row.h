#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/contract/agent.h"

namespace forge::contract {

/// One row of the contract: what every agent has to do, or the reason why it cannot come to that.
struct Row {
  std::string name;
  std::function<void(Agent agent)> hold;
  std::map<Agent, std::string> not_applicable = {};
};
/// For GoogleTest.
inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

std::vector<Row> work_rows();     ///< edits, tool calls, outputs
std::vector<Row> limit_rows();    ///< cancel, time, budget, turns
std::vector<Row> api_rows();      ///< answers of the model's server that are none
std::vector<Row> conduct_rows();  ///< agents that do what they should not

/// The table, in the order of the four above.
std::vector<Row> all_rows();

}  // namespace forge::contract
