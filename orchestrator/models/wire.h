#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/models/model.h"
#include "orchestrator/net/http_client.h"
#include "orchestrator/net/sse_parser.h"

namespace forge::models {

/// An error in the vendor's own words, from an answer's body or from inside a stream.
struct VendorError {
  std::optional<int> status;  ///< what the error stands for when it came inside a stream
  std::string type;           ///< the vendor's type or code
  std::string message;
  bool context_overflow = false;
  bool final = false;  ///< trying again cannot help, whatever the status says (an account without money)
};

/// Reads one streamed response. Events in, deltas to the observer, a response at the end.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  /// Throws unavailable for an event that breaks the format.
  virtual void take(const net::SseEvent& event) = 0;
  /// The last event has come; what follows does not matter.
  virtual bool complete() const = 0;
  /// The body has ended: whether what came is a whole response. A stream that was cut is not, whatever text arrived.
  virtual bool whole() const = 0;
  /// The error that came inside the stream.
  virtual const std::optional<VendorError>& error() const = 0;
  /// Counts told so far, also by a stream that fails later.
  virtual Usage usage() const = 0;
  /// The response; once, when whole(). Without request id and times.
  virtual ModelResponse response() = 0;
};

/// How one vendor's API is spoken. One object per model: it remembers what the server has refused.
class Wire {
 public:
  virtual ~Wire() = default;
  /// Appended to the base URL.
  virtual std::string path() const = 0;
  /// Headers of authentication and version. An empty key gives no authentication.
  virtual std::vector<net::HttpHeader> headers(const std::string& api_key) const = 0;
  virtual std::string body(const ModelRequest& request) const = 0;
  /// `request` and `observer` must outlive the reader.
  virtual std::unique_ptr<StreamReader> reader(const ModelRequest& request, ModelObserver& observer) const = 0;
  virtual VendorError read_error(int status, std::string_view body) const = 0;
  /// After a refused request: true when body() now leaves out what the server refused, so that asking again at once makes sense.
  virtual bool adapt(int status, const VendorError& error) = 0;
  /// Header that carries the vendor's request id.
  virtual std::string_view request_id_header() const = 0;
};

}  // namespace forge::models
