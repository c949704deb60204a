#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Authenticates the user with gdbus. See ../README.md.
set -euo pipefail
# shellcheck source=evaluation.sh
. "$(dirname "$0")/evaluation.sh"

# Then: INTERFACE.MEMBER VALUE..., the values as GVariant text
# (https://docs.gtk.org/glib/gvariant-text-format.html).
call=(gdbus call --system --timeout "$patience" --dest org.example.LocalAuth
  --object-path /org/example/LocalAuth --method)

# A text as a GVariant, whatever is in it.
quoted() {
  local text=${1//\\/\\\\}
  printf "'%s'" "${text//\'/\\\'}"
}

# "Error: GDBus.Error:NAME: TEXT", on one line.
fail() {
  local text
  text=$(grep -m 1 '^Error: ' || echo "unknown")
  text=${text#Error: }
  text=${text#GDBus.Error:}
  echo "error: ${text/: / }"
  exit 1
}

can() {
  local answer
  answer=$("${call[@]}" org.example.LocalAuth.CanEvaluatePolicy 1 2>"$scratch/err") || fail <"$scratch/err"
  if [[ $answer == "(true,"* ]]; then
    echo yes
  else
    answer=${answer#"(false, "}
    answer=${answer%)}
    echo "no: ${answer%%, *} $(text "${answer#*, }")"
    exit 1
  fi
}

# evaluate REASON [CHALLENGE]: the challenge as a GVariant.
evaluate() {
  local token status=0
  token=$(cat /proc/sys/kernel/random/uuid)
  local options="'token': <'$token'>, 'timeout': <uint32 $timeout>"
  if [ $# -gt 1 ]; then options+=", 'challenge': <$2>"; fi
  evaluate_with "$token" "${call[@]}" org.example.LocalAuth.EvaluatePolicy \
    1 "$(quoted "$1")" "{$options}" || status=$?
  if [ $status -eq 130 ]; then
    echo "Error: org.example.LocalAuth.Error.AppCancel: Canceled by Ctrl-C." | fail
  fi
  # Only a reply is a success.
  [ $status -eq 0 ] || fail <"$scratch/err"
  local method
  method=$(claim method <"$scratch/out")
  echo "success: $(text "$method")"
}

# claim NAME: one value of a dictionary, as GVariant text.
#
# First every text gets a line of its own. A text may have anything in it, also what looks like another
# value: the name of a program is that program's choice.
claim() {
  sed -E "s/b?\"([^\"\\\\]|\\\\.)*\"|b?'([^'\\\\]|\\\\.)*'/\n&\n/g" |
    awk -v name="'$1'" '
      $0 == name {
        getline
        if (!sub(/^: </, "")) next
        if ($0 == "") getline; else sub(/>.*/, "")
        print
        found = 1
        exit
      }
      END { exit !found }' ||
    { echo "error: the service does not say the $1" >&2 && return 1; }
}

# text VALUE: what a text says.
text() { sed -E "s/^['\"]//; s/['\"]\$//; s/\\\\(.)/\1/g" <<<"$1"; }

# Any process that knows the challenge can check the success, and needs to trust only the service.
ticket() {
  local challenge ticket user method policy
  challenge=$(od -An -v -tu1 -N32 /dev/urandom | xargs | tr ' ' ',')
  challenge="@ay [$challenge]"
  evaluate "$1" "$challenge"
  ticket=$(claim ticket <"$scratch/out")
  local redeem=("${call[@]}" org.example.LocalAuth.RedeemTicket "$ticket" "$challenge")
  "${redeem[@]}" >"$scratch/claims" 2>"$scratch/err" || fail <"$scratch/err"
  user=$(claim user <"$scratch/claims")
  method=$(claim method <"$scratch/claims")
  policy=$(claim policy <"$scratch/claims")
  echo "ticket: $(text "$user") by $(text "$method"), policy ${policy#uint32 }"
  # It can be redeemed once.
  if "${redeem[@]}" >/dev/null 2>"$scratch/err"; then exit 1; fi
  { (fail <"$scratch/err") || true; } | sed 's/^error: /refused: /'
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
