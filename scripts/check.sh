#!/bin/sh
# The static gate, on this checkout's site/: the same code the factory judges by.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

if command -v machinery >/dev/null 2>&1; then
  exec machinery check "$@"
fi
if [ -f "$root/dist/cli/main.js" ]; then
  exec node "$root/dist/cli/main.js" check "$@"
fi
echo "check: machinery is neither on the PATH nor built here; build it with: npm run build" >&2
exit 2
