// scripted-model-server: ModelServer as a program, for tests that start real processes.
//
//   scripted-model-server --script FILE [--port N | --socket PATH] [--fault NAME]... [--log FILE]
//
// Prints the port (or the socket's path) on a line of its own when it listens, and serves until SIGTERM or SIGINT. --log gets each request
// as one line of JSON {method, target, headers: [[name, value]], body}. Faults: see ModelFaults.

#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/json_reader.h"
#include "tests/support/model_server.h"
#include "tests/support/temp_dir.h"

namespace {

struct Options {
  std::string script;
  std::string socket;
  std::string log;
  int port = 0;
  forge::test::ModelFaults faults;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--script") {
      options.script = value;
    } else if (name == "--socket") {
      options.socket = value;
    } else if (name == "--log") {
      options.log = value;
    } else if (name == "--port") {
      options.port = std::stoi(value);
    } else if (name == "--fault") {
      options.faults.set(value);
    } else {
      throw forge::bad_input(name, "unknown option");
    }
  }
  if (options.script.empty() || argc % 2 == 0)
    throw forge::bad_input("--script", "usage: --script FILE [--port N | --socket PATH] [--fault NAME]... [--log FILE]");
  return options;
}

std::string log_line(const forge::test::SeenRequest& request) {
  nlohmann::json headers = nlohmann::json::array();
  for (const auto& [name, value] : request.headers) headers.push_back({name, value});
  return forge::dump_json({{"method", request.method}, {"target", request.target}, {"headers", headers}, {"body", request.body}}) + "\n";
}

void run(const Options& options) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before the server's threads, which inherit it

  const std::string script = forge::test::read_file(options.script);
  forge::Guarded<std::ofstream> log;
  if (!options.log.empty()) log.lock()->open(options.log, std::ios::app);
  auto server = options.socket.empty() ? std::make_unique<forge::test::ModelServer>(script, options.port)
                                       : std::make_unique<forge::test::ModelServer>(script, options.socket);
  server->set_faults(options.faults);
  if (!options.log.empty())
    server->on_request([&](const forge::test::SeenRequest& request) { *log.lock() << log_line(request) << std::flush; });
  std::cout << (options.socket.empty() ? std::to_string(server->port()) : options.socket) << std::endl;
  int signal = 0;
  sigwait(&ends, &signal);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(read_options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scripted-model-server: " << error.what() << "\n";
    return 2;
  }
}
