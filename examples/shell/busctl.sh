#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Authenticates the user with busctl and jq. See ../README.md.
set -euo pipefail
# shellcheck source=evaluation.sh
. "$(dirname "$0")/evaluation.sh"

# Then: MEMBER SIGNATURE VALUE... Without the dashes, a reason that begins with one would be an option.
call=(busctl --json=short --timeout="$patience" -- call
  org.example.LocalAuth /org/example/LocalAuth org.example.LocalAuth)

# busctl says an error's text and not its name.
fail() {
  local text
  text=$(tail -n 1)
  text=${text#Call failed: }
  echo "error: ${text#Error: }"
  exit 1
}

can() {
  "${call[@]}" CanEvaluatePolicy u 1 >"$scratch/out" 2>"$scratch/err" || fail <"$scratch/err"
  jq -r 'if .data[0] then "yes" else "no: \(.data[1]) \(.data[2])" end' "$scratch/out"
  jq -e '.data[0]' "$scratch/out" >/dev/null
}

# evaluate REASON [CHALLENGE...]: the challenge as numbers.
evaluate() {
  local reason=$1 token status=0
  shift
  token=$(cat /proc/sys/kernel/random/uuid)
  local options=(token s "$token" timeout u "$timeout") count=2
  if [ $# -gt 0 ]; then
    options+=(challenge ay $# "$@")
    count=3
  fi
  evaluate_with "$token" "${call[@]}" EvaluatePolicy 'usa{sv}' 1 "$reason" $count "${options[@]}" ||
    status=$?
  if [ $status -eq 130 ]; then echo "Canceled by Ctrl-C." | fail; fi
  # Only a reply is a success.
  [ $status -eq 0 ] || fail <"$scratch/err"
  local method
  method=$(claim method s <"$scratch/out")
  echo "success: $method"
}

# claim NAME TYPE: one value of a dictionary, if it has that type.
claim() {
  jq -er --arg name "$1" --arg type "$2" \
    '.data[0][$name] | select(.type == $type) | .data | if type == "array" then .[] else . end' ||
    { echo "error: the service does not say the $1" >&2 && return 1; }
}

# Any process that knows the challenge can check the success, and needs to trust only the service.
ticket() {
  local challenge ticket user method policy
  read -r -d '' -a challenge < <(od -An -v -tu1 -N32 /dev/urandom) || true
  evaluate "$1" "${challenge[@]}"
  ticket=$(claim ticket ay <"$scratch/out")
  read -r -d '' -a ticket <<<"$ticket" || true
  local redeem=("${call[@]}" RedeemTicket ayay ${#ticket[@]} "${ticket[@]}"
    ${#challenge[@]} "${challenge[@]}")
  "${redeem[@]}" >"$scratch/claims" 2>"$scratch/err" || fail <"$scratch/err"
  user=$(claim user s <"$scratch/claims")
  method=$(claim method s <"$scratch/claims")
  policy=$(claim policy u <"$scratch/claims")
  echo "ticket: $user by $method, policy $policy"
  # It can be redeemed once.
  if "${redeem[@]}" >/dev/null 2>"$scratch/err"; then exit 1; fi
  sed -n 's/^Call failed: /refused: /p' "$scratch/err"
}

case ${1-} in
  can)
    [ $# -eq 1 ] || usage
    can
    ;;
  evaluate | ticket)
    [ $# -le 2 ] || usage
    "$1" "${2-try the shell example}"
    ;;
  *) usage ;;
esac
