#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/loopback_server.h"
#include "tests/support/model_stream.h"

namespace forge::test {

/// An HTTP server that plays a script (docs/scripted-models.md) in both wire formats, on loopback or on a unix socket: POST .../v1/messages
/// and
/// .../chat/completions, GET .../models, HEAD /; 404 for the rest. The step is the number of assistant messages in the request; past the
/// end is a 400. A step's `cut` leaves out message_stop, or the finish reason and all that follows it. Each answer carries request-id and
/// x-request-id.
class ModelServer {
 public:
  explicit ModelServer(std::string_view script_json, int port = 0);
  ModelServer(std::string_view script_json, const std::string& socket_path);
  ~ModelServer();

  int port() const;
  /// What an Anthropic client takes for base URL; the OpenAI one is this + "/v1".
  std::string url() const;
  int connections() const;
  /// Every request so far, in order of arrival.
  std::vector<SeenRequest> requests() const;
  /// Hears each request before it is answered, on the server's thread. Set it before the first request.
  void on_request(std::function<void(const SeenRequest&)> heard);

  /// Faults of every answer from now on.
  void set_faults(const ModelFaults& faults);
  /// Faults of one answer alone; several calls queue up.
  void fault_once(const ModelFaults& faults);
  /// The next answer, in place of the script's, is this event stream; queues up.
  void stream_once(std::string events);
  /// The next answer is these bytes, status line and all; then the connection closes. Queues up.
  void answer_once(std::string bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forge::test
