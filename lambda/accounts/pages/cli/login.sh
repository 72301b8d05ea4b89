#!/bin/sh
# Prints an API key of {{service}} to stdout; everything else goes to stderr. The first time, a person lets this terminal in
# by a page in any browser. The key is kept for its user alone, and used again while it lives.
set -eu
umask 077
gateway='{{gateway}}'
app='{{app}}'
# One key for each gateway: they may share a name, and none may be sent another's key.
host=${gateway#*://}
file="${XDG_CONFIG_HOME:-$HOME/.config}/{{service}}/key-${host%%/*}"

say() { printf '%s\n' "$*" >&2; }
member() { printf '%s' "$2" | sed -n "s/.*\"$1\" *: *\"\{0,1\}\([^\",}]*\).*/\1/p"; }
post() { path=$1; shift; curl -sS --max-time 20 "$app/oauth/$path" -d "client_id={{service}}-terminal" "$@"; }

# A free request tells whether the key lives; it stays out of the list of processes. Only a 401 says that it does not:
# clients wait for a few seconds only, so a gateway that is slow is not waited for.
lives() {
  status=$(printf 'header = "x-api-key: %s"\n' "$1" |
    curl -s -o /dev/null -w '%{http_code}' --max-time 3 -K - "$gateway/v1/models" || true)
  [ "$status" != 401 ]
}

if [ -s "$file" ]; then
  key=$(cat "$file")
  if lives "$key"; then printf '%s\n' "$key"; exit 0; fi
fi
if [ ! -t 2 ]; then
  say "No key that works yet: run this in a terminal first: curl -fsS $app/cli/login.sh | sh"
  exit 1
fi

# Nobody signs in for a key that can't be kept.
mkdir -p "$(dirname "$file")"
answer=$(post device_authorization)
device=$(member device_code "$answer")
if [ -z "$device" ]; then say "$(member error_description "$answer")"; exit 1; fi
interval=$(member interval "$answer")
say "Open  $(member verification_uri "$answer")"
say "Type  $(member user_code "$answer")"
say 'Waiting for you there; Ctrl-C ends it.'

key=
while [ -z "$key" ]; do
  sleep "$interval"
  # A network that is gone for a moment is no reason to end.
  answer=$(printf 'device_code=%s' "$device" |
    post token -d 'grant_type=urn:ietf:params:oauth:grant-type:device_code' -d @-) || continue
  key=$(member access_token "$answer")
  case $(member error "$answer") in
    '' | authorization_pending | temporarily_unavailable) ;;
    slow_down) interval=$((interval + 5)) ;;
    *) say "$(member error_description "$answer")"; exit 1 ;;
  esac
done

printf '%s\n' "$key" >"$file.$$"
mv "$file.$$" "$file"
say "Signed in. The key is kept in $file."
printf '%s\n' "$key"
