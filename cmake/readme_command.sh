#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# readme_command.sh NAME: prints the command that README.md gives after the line <!-- command: NAME -->. So that what is
# tried is what readers copy.
set -euo pipefail
readme=$(dirname "$0")/../README.md
command=$(awk -v mark="<!-- command: $1 -->" '
  $0 == mark { found = 1; next }
  found && /^```/ { if (inside) exit; inside = 1; next }
  inside' "$readme")
if [ -z "$command" ]; then
  echo "README.md has no command '$1'" >&2
  exit 1
fi
printf '%s\n' "$command"
