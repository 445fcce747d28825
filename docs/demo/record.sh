#!/usr/bin/env bash
# Records the conversation that run.sh replays without a key, anew: the demo job with fix-wrap.json played by a scripted model server.
# Usage: record.sh FORGE SCRIPTED_MODEL_SERVER [FILE]      (FILE: docs/demo/fix-wrap.jsonl)
set -euo pipefail
forge=$1 player=$2
here=$(dirname "$(readlink -f "$0")")
file=${3:-$here/fix-wrap.jsonl}
unset ANTHROPIC_API_KEY OPENAI_API_KEY  # nothing here may reach a real model

data=$(mktemp -d)
coproc PLAYER { exec "$player" --script "$here/fix-wrap.json"; }
player_pid=$PLAYER_PID
trap 'kill "$player_pid" 2>/dev/null || true; rm -rf "$data"' EXIT
read -r port <&"${PLAYER[0]}"

rm -f "$file"
export FORGE_DATA_DIR=$data/forge FORGE_SERVER__LISTEN=127.0.0.1:0
export FORGE_MODELS__PROVIDERS__ANTHROPIC__BASE_URL=http://127.0.0.1:$port
export FORGE_GATEWAY__CASSETTE=record:$file
"$here/run.sh" "$forge" 1
chmod 644 "$file"  # a recording of a secret-free script may be read by everybody
