#!/usr/bin/env bash
# Builds the image of the Dockerfile with buildah (no container engine is needed) and tries it: `machinery doctor`, one
# whole rehearsal shift, and a factory that is stopped by SIGTERM in the middle of a shift. Needs root, and the
# Dockerfile's base images in buildah's local storage: nothing is pulled.
# Usage: scripts/verify-image.sh [tag]        VERIFY_SKIP_BUILD=1 tries the image that is there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tag=${1:-machinery:verify}
b() { buildah --storage-driver vfs "$@"; }
say() { printf '\n== %s\n' "$*"; }
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

if [ -z "${VERIFY_SKIP_BUILD:-}" ]; then
  say "building $tag"
  b bud --quiet --pull-never --isolation chroot --format docker -t "$tag" .
fi

data=$(mktemp -d)
container=$(b from --pull-never "$tag")
# buildah lays an empty volume of its own over the one the image declares: ours is to be seen there.
b config --volume /data- "$container"
cleanup() {
  b rm "$container" >/dev/null 2>&1 || true
  rm -rf "$data"
}
trap cleanup EXIT

# What an engine would do with the image: its entry point, and a volume at /data. tini is not process 1 in a chroot, so it
# is told to reap all the same.
inside() {
  b run --isolation chroot -v "$data:/data" --env TINI_SUBREAPER=1 \
    --env MACHINERY_ORIGIN=/data/origin.git --env MACHINERY_PROVIDER=rehearsal "$container" -- as-machinery tini -- "$@"
}

say 'no secret in the image: its configuration and its history'
b inspect --type image "$tag" | grep -iE '(api_key|token|password|secret)[^,]*=' && die 'the image names a secret' || echo 'none'

say 'an origin with an empty shelf, on the volume'
desk=$(mktemp -d)
cp -r AGENTS.md orders scripts site factory.yaml .gitignore "$desk/"
rm -rf "$desk/site/machines" && echo '[]' >"$desk/site/machines.json"
git -C "$desk" init -q -b main
git -C "$desk" add -A
git -C "$desk" -c user.name=Verify -c user.email=verify@localhost commit -q -m 'Begin'
git clone -q --bare "$desk" "$data/origin.git"
rm -rf "$desk"
chown -R 10001:10001 "$data"

say 'who works: neither root, and with what power'
inside sh -c 'id; grep -E "^Cap(Eff|Amb|Bnd)|^NoNewPrivs" /proc/self/status; umask'

say 'machinery doctor'
inside machinery doctor || die 'doctor found something broken'

say 'one rehearsal shift'
inside machinery shift || die 'the shift was not green'
git -c safe.directory='*' -C "$data/origin.git" log --format='%h %s' main
[ "$(git -c safe.directory='*' -C "$data/origin.git" rev-list --count main)" = 2 ] || die 'no machine landed'
inside machinery shifts --json | grep -E '"(verdict|sandbox|harness)"'

say 'SIGTERM in the middle of a shift'
inside machinery start >"$data/start.log" 2>&1 &
engine=$!
factory() { pgrep -u 10001 -f 'dist/bin/machinery start' | head -n 1 || true; }
for _ in $(seq 120); do [ -n "$(factory)" ] && [ -S "$data/socket" ] && break; sleep 0.5; done
pid=$(factory)
[ -n "$pid" ] || { cat "$data/start.log"; die 'the factory did not start'; }
inside machinery health || { cat "$data/start.log"; die 'the factory is not healthy'; }
inside machinery shift >"$data/shift.log" 2>&1 &
asked=$!
for _ in $(seq 240); do grep -qs '"name": "work"' "$data"/shifts/*/shift.json && grep -ls '"verdict": null' "$data"/shifts/*/shift.json | grep -q . && break; sleep 0.5; done
sleep 3
kill -TERM "$pid"
status=0; wait "$engine" || status=$?
wait "$asked" || true
cat "$data/start.log" | tail -n 20
[ "$status" = 0 ] || die "the factory ended with $status, not 0"
grep -h '"verdict"' "$data"/shifts/*/shift.json
pgrep -u 10001,10002 >/dev/null && { ps -o pid,user,args -u 10001,10002; die 'processes are left'; }
git -c safe.directory='*' -C "$data/origin.git" for-each-ref --format='%(refname)' refs/heads
say 'all of it works'
