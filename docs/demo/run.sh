#!/usr/bin/env bash
# The demo of `./dev run`: a server, a small project with failing tests made on the spot, and a job that repairs it.
# Usage: run.sh FORGE ONCE      (ONCE: 1 = stop at the end, 0 = stay up)
set -euo pipefail
forge=$1 once=$2
here=$(dirname "$(readlink -f "$0")")
data=${FORGE_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/forge-demo}
sample=$data/sample
export GIT_PAGER=cat  # a pager would wait for a key; Debian's own `more` does so even for three lines
bold() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || bold() { printf '\n%s\n' "$*"; }

mkdir -p "$data"
export FORGE_DATA_DIR=$data
# The dashboard's form for a new job may name the sample, too.
export FORGE_REPOSITORIES__ALLOW_LOCAL=${FORGE_REPOSITORIES__ALLOW_LOCAL:-$(realpath "$data")/sample}
# A browser on this machine only; another port when a server is there already.
export FORGE_SERVER__LISTEN=${FORGE_SERVER__LISTEN:-127.0.0.1:8700}
if (exec 3<>"/dev/tcp/${FORGE_SERVER__LISTEN%:*}/${FORGE_SERVER__LISTEN##*:}") 2>/dev/null; then
  export FORGE_SERVER__LISTEN=127.0.0.1:0
fi

# The same task runs on a real model when a key is there; else a recorded conversation is replayed against the real everything else.
if [ -n "${ANTHROPIC_API_KEY:-}" ] || [ -n "${OPENAI_API_KEY:-}" ]; then
  model=()
  bold "A model key is set: the demo job runs on the real model and costs a few cents."
else
  model=(--model anthropic/claude-sonnet-5-5)
  export FORGE_MODELS__PROVIDERS__ANTHROPIC__KIND=anthropic
  export FORGE_GATEWAY__CASSETTE=${FORGE_GATEWAY__CASSETTE:-replay:$here/fix-wrap.jsonl}
  # What tools print differs from machine to machine; what Forge tells a model about itself may change without a new recording.
  export FORGE_GATEWAY__CASSETTE_SCRUB='messages.*.content.*.content,system,tools'
  case $FORGE_GATEWAY__CASSETTE in
    record:*) bold "Recording the demo's conversation: ${FORGE_GATEWAY__CASSETTE#record:}" ;;
    *) bold "No model key is set: this is a replay. No model is asked: its answers, their token counts and their pace come from a recording, ${FORGE_GATEWAY__CASSETTE#replay:}; sandbox, tools, tests, git and trace are real. The cost is what these counts would cost." ;;
  esac
fi

make_sample() {
  rm -rf "$sample"
  cp -r "$here/sample" "$sample"
  local git=(git -C "$sample" -c user.name=Demo -c user.email=demo@localhost -c init.defaultBranch=main -c commit.gpgsign=false)
  "${git[@]}" init -q
  "${git[@]}" add -A
  "${git[@]}" commit -q -m 'A small project with failing tests'
}

stop_server() {
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}

# A machine that lets a plain user limit nothing is no reason to show nothing, but it is said.
if ! problem=$("$forge" sandbox run -- true 2>&1); then
  export FORGE_SANDBOX__POLICY=degraded
  bold "The sandbox runs degraded on this machine: some limits of memory, processes or processor time are not enforced."
  printf '%s\n' "$problem"
fi

# Takes the directory before anything of ours is in it: Forge refuses one that holds other things.
"$forge" jobs >/dev/null

mkfifo "$data/ready.$$"
# Appended to: the log may be another demo's, which is up, and then this server does not start.
log_before=$(stat -c %s "$data/serve.log" 2>/dev/null || echo 0)
"$forge" serve >"$data/ready.$$" 2>>"$data/serve.log" &
server=$!
trap stop_server EXIT
trap 'exit 130' INT TERM
exec 4<"$data/ready.$$"
rm -f "$data/ready.$$"
link=
# The link is printed once, where the person who is to open it looks: at the end, unless the server stops there.
while IFS= read -r line <&4; do
  case $line in *http*sign-in*) link=$(grep -o 'http[^ ]*' <<<"$line") ; break ;; esac
  printf '%s\n' "$line"
done
if [ -z "$link" ]; then
  tail -c "+$((log_before + 1))" "$data/serve.log" | tail -n 20 >&2
  printf 'the server did not start; its log is %s\n' "$data/serve.log" >&2
  printf 'If a demo is up already, stop it first, or give this one a directory of its own: FORGE_DATA_DIR=DIR ./dev run\n' >&2
  exit 1
fi

# Only now, when the directory is this server's: the sample of a demo that is up is left alone.
make_sample

bold "Running the job"
status=0
"$forge" run --repo "$sample" --task "The tests of this project fail. Find out why and repair the code." \
  --verify 'python3 -m unittest' "${model[@]}" --json >"$data/result.json" || status=$?
job=$(sed -n 's/^{"job": *"\([^"]*\)".*/\1/p; s/.*[{,] *"job": *"\([^"]*\)".*/\1/p' "$data/result.json" | head -n 1)
[ "$status" -eq 0 ] || { echo "the demo job ended with status $status" >&2; exit "$status"; }

bold "The diff"
"$forge" show "$job" --diff
bold "The commit, on a branch of its own in $sample"
git -C "$sample" log -1 --stat --format='%h %s%n  author %an, branch %D' "$(git -C "$sample" for-each-ref --sort=-creatordate --format='%(refname)' refs/heads/forge | head -n 1)"
bold "The cost"
"$forge" show "$job" --cost
look_around() {
  printf '  export FORGE_DATA_DIR=%q\n' "$data"
  printf '  %q jobs\n  %q show %s --trace\n' "$forge" "$forge" "$job"
}

if [ "$once" = 1 ]; then
  bold "The server stops again. To look around:"
  look_around
  exit 0
fi
bold "Forge is up; Ctrl-C stops it"
printf '  %s\n' "$link"
bold "To look around, in another terminal:"
look_around
wait "$server"
