# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What busctl.sh and gdbus.sh have in common; they source it.

# Where localauthctl is.
localauthctl=${LOCALAUTHCTL:-localauthctl}
# Seconds that the service waits for the user. The tools' own limit has to be longer, or they would give
# up while the prompt is still there.
timeout=60
# shellcheck disable=SC2034
patience=$((timeout + 10))

usage() {
  echo "usage: $0 can | evaluate [REASON] | ticket [REASON]" >&2
  exit 2
}

scratch=$(mktemp -d)
watch=
trap 'kill $watch $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

# evaluate_with TOKEN COMMAND...
#
# Runs a command that calls EvaluatePolicy with this token, and prints a line for each touch that did
# not do. The command's output is then in $scratch/out and $scratch/err, and its status is returned;
# 130 when Ctrl-C has ended it.
evaluate_with() {
  local token=$1 pid line said='' got=0 open='' status=0 canceled=''
  shift
  # The service tells the caller, and those of the same user's programs that watch. busctl and gdbus
  # show no signals while they wait for a reply.
  exec {events}< <(exec "$localauthctl" watch 2>&1)
  watch=$!
  while read -r -t 30 line <&"$events" && [[ $line != watching* ]]; do said=$line; done
  if [[ $line != watching* ]]; then
    echo "Error: ${said:-$localauthctl says nothing}" >"$scratch/err"
    return 1
  fi
  "$@" >"$scratch/out" 2>"$scratch/err" &
  pid=$!
  # A caller that leaves the bus has cancelled.
  trap 'canceled=1; kill "$pid" 2>/dev/null || true' INT
  # To the end of the call, and of what is said of it, which may be heard later.
  while [ $got -eq 0 ] || [ -n "$open" ] || kill -0 "$pid" 2>/dev/null; do
    got=0
    read -r -t 0.2 line <&"$events" || got=$?
    if [ $got -gt 128 ]; then continue; fi
    # Other evaluations of the same user are heard of, too. Nobody else can know the token.
    case $line in
      "progress: finished [$token]" | "service gone") open='' ;;
      "progress: "*" [$token]") open=1 ;;
      "retry: "*" [$token]") echo "${line% \["$token"\]}" ;;
    esac
    if [ $got -gt 0 ]; then
      # Nobody watches any more; the reply will still come.
      open=''
      sleep 0.2
    fi
  done
  wait "$pid" || status=$?
  trap - INT
  [ -z "$canceled" ] || status=130
  return $status
}
