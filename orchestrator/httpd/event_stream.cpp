#include "orchestrator/httpd/event_stream.h"

#include "orchestrator/base/text.h"
#include "orchestrator/httpd/event_hub.h"

namespace forge::httpd {

std::string frame(const Event& event) {
  std::string text;
  if (event.seq > 0) text += "id: " + std::to_string(event.seq) + '\n';
  if (!event.name.empty()) text += "event: " + event.name + '\n';
  // A line break inside the data would end the field: each line is a field of its own, and the client joins them again.
  for (const std::string_view line : split_lines(event.data)) text.append("data: ").append(line).append("\n");
  if (event.data.empty()) text += "data: \n";
  return text + '\n';
}

}  // namespace forge::httpd
