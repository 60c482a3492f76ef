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
logs=$(mktemp -d)
container=$(b from --pull-never "$tag")
# buildah lays an empty volume of its own over the one the image declares: ours is to be seen there.
b config --volume /data- "$container"
cleanup() {
  b rm "$container" >/dev/null 2>&1 || true
  rm -rf "$data" "$logs"
}
trap cleanup EXIT

# What an engine would do with the image as compose.yaml runs it: its entry point, a volume at /data, five capabilities and
# no way to more. tini is not process 1 in a chroot, so it is told to reap all the same.
powers=-all,+chown,+kill,+setgid,+setpcap,+setuid
inside() {
  b run --isolation chroot -v "$data:/data" --env TINI_SUBREAPER=1 \
    --env MACHINERY_ORIGIN=/data/origin.git --env MACHINERY_PROVIDER=rehearsal "$container" -- \
    setpriv --inh-caps=-all --bounding-set="$powers" --no-new-privs -- as-machinery tini -- "$@"
}
# The origin belongs to the factory's user; git wants to be told that this is as it should be.
origin() { git -c safe.directory='*' --git-dir="$data/origin.git" "$@"; }
# Waits until a command succeeds, at most so many seconds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.25
  done
}

say 'no secret in the image: its configuration and its history'
if b inspect --type image "$tag" | grep -iE '(api_key|token|password|secret)[^,]*='; then die 'the image names a secret'; fi
echo none

say 'an origin with an empty shelf, on the volume'
desk=$(mktemp -d)
cp -r AGENTS.md orders scripts site factory.yaml .gitignore "$desk/"
rm -rf "$desk/site/machines"
echo '[]' >"$desk/site/machines.json"
git -C "$desk" init -q -b main
git -C "$desk" add -A
git -C "$desk" -c user.name=Verify -c user.email=verify@localhost commit -q -m 'Begin'
git clone -q --bare "$desk" "$data/origin.git"
rm -rf "$desk"
chown -R 10001:10001 "$data"
git -c safe.directory='*' --git-dir="$data/origin.git" log --format='%h %s' main

say 'who works, and with what power (setgid, setuid and kill are e0)'
inside sh -c 'id && grep -E "^(Cap(Eff|Amb|Bnd)|NoNewPrivs)" /proc/self/status && echo "umask $(umask)"'
touch "$logs/began"
install -d -m 0700 "$data/lost+found" # as a volume of its own has one, which is root's

say 'machinery doctor'
inside machinery doctor || die 'doctor found something broken'

say 'one rehearsal shift'
inside machinery shift | grep -vE '^ {4}' || true
origin log --format='%h %s' main
[ "$(origin rev-list --count main)" = 2 ] || die 'no machine landed'
inside machinery shifts --json | grep -E '"(verdict|sandbox|harness)":'

say 'SIGTERM in the middle of a shift'
origin update-ref refs/heads/main "$(origin rev-parse main~1)" # the shelf is empty again, so there is work
inside machinery start >"$logs/start.log" 2>&1 &
engine=$!
factory() { pgrep -u 10001 -o -f 'node .*/machinery start'; }
until_true 60 inside machinery health || { tail -n 30 "$logs/start.log"; die 'the factory did not become healthy'; }
inside machinery health
inside machinery shift >"$logs/shift.log" 2>&1 &
asked=$!
working() { grep -q '"name": "work"' "$(ls -d "$data"/shifts/*/ | tail -n 1)shift.json" && [ "$(ls -d "$data"/shifts/*/ | wc -l)" = 2 ]; }
until_true 120 working || { cat "$logs/shift.log"; die 'the shift did not come to work'; }
until_true 120 grep -Eq 'wrote [0-9]+ bytes to site/' "$logs/shift.log" || die 'the agent wrote nothing'
kill -TERM "$(factory)"
status=0
wait "$engine" || status=$?
wait "$asked" || echo "the one who asked for the shift was told: $?"
tail -n 12 "$logs/start.log"
[ "$status" = 0 ] || die "the factory ended with $status, not 0"
grep -hE '"(verdict|reason)":' "$(ls -d "$data"/shifts/*/ | tail -n 1)shift.json"
if pgrep -u 10001,10002 >/dev/null; then ps -o pid,user,args -u 10001,10002; die 'processes are left'; fi
origin for-each-ref --format='%(refname)  %(contents:subject)' refs/heads
origin for-each-ref --format='%(refname)' refs/heads | grep -q '/shift/' || die 'the work of the stopped shift was not pushed'

say 'a read-only root would have done: nothing was written outside of /data and /tmp'
root=$(b mount "$container")
written=$(find "$root" -xdev -newer "$logs/began" \( -type f -o -type l \) -not -path "$root/data/*" -not -path "$root/tmp/*" -not -path "$root/run/*")
left=$(find "$root/tmp" -mindepth 1 | head -n 5)
[ -z "$written" ] || { printf '%s\n' "$written"; die 'something was written'; }
echo "nothing; left in /tmp: ${left:-nothing}"

say 'all of it works'
