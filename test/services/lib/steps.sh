# Steps of a proof: each runs whatever became of the others, and the end is a table of
# step, verdict and time. Sourced by .ci/run and by ../prove, whose functions step_NAME
# are the steps. Exit status 1 means that the code failed a step. A step that needs a
# network or the history of the clone, and has none, is shown as NOT CHECKED and fails nothing.
# shellcheck shell=bash

exec </dev/null

# Go refuses to stamp a build where git refuses the work tree.
git status --porcelain >/dev/null 2>&1 || export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

# Without the folder's name in them, builds of another clone on this machine are used again.
export GOFLAGS="${GOFLAGS:-} -trimpath"

# `make test` names what it could not prove; with CI it fails.
export CI=${CI:-true}

UNCHECKED=77 # a step ends with it where it could not be carried out
work=$(mktemp -d)
log=$work/log # each step has its own
trap 'rm -rf "$work"' EXIT

# unchecked WHY: ends a step that could not be carried out.
unchecked() {
  echo "not checked: $*"
  echo "$*" >"$log.why"
  return "$UNCHECKED"
}

# bounded SECONDS COMMAND…: ends the command after that time, with status 124.
bounded() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout -k 30 "$seconds" "$@"; else "$@"; fi
}

# tool NAME: builds a tool of tools/go.mod, which may have to be downloaded.
tool() {
  bounded 900 go tool -modfile=tools/go.mod -n "$1" >/dev/null || unchecked "$1 cannot be downloaded or built here"
}

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# carry_out STEP: runs it, and notes its verdict.
carry_out() {
  local name=$1 begun=$SECONDS verdict why='' status
  log=$work/$name
  printf '\n=== %s\n' "$name"
  "step_${name//-/_}"
  status=$?
  [ ! -s "$log.why" ] || why=": $(paste -sd ' ' "$log.why")"
  case $status in
    0) verdict=passed ;;
    "$UNCHECKED") verdict='NOT CHECKED' ;;
    *) verdict=FAILED && failed="$failed $name" ;;
  esac
  printf '%-11s %6s  %s%s\n' "$verdict" "$(minutes $((SECONDS - begun)))" "$name" "$why" | tee -a "$work/summary" | sed 's/^/=== /'
}

# steps STEP…: carries them out in their order; without any, all of $STEPS. Ends the script.
steps() {
  local name
  failed=''
  # shellcheck disable=SC2086 # a list of names
  [ $# -gt 0 ] || set -- $STEPS
  for name in "$@"; do
    case " ${STEPS//$'\n'/ } " in
      *" $name "*) ;;
      *) printf "unknown step '%s'. The steps are: %s\n" "$name" "$(echo $STEPS)" >&2 && exit 2 ;;
    esac
  done
  for name in "$@"; do carry_out "$name"; done
  printf '\n=== %s minutes\n' "$(minutes "$SECONDS")"
  sed 's/^/  /' "$work/summary"
  [ -z "$failed" ] || { echo "=== FAILED:$failed" && exit 1; }
  echo '=== passed'
}
