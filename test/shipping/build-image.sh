#!/usr/bin/env bash
# Builds the Dockerfile without a container engine and runs the tests of the image on what was built.
# Needs root, and Debian's packages buildah and debootstrap. The base image is a minimal Debian with the packaged
# Node and npm, because no registry of images is assumed.
set -euo pipefail
cd "$(dirname "$0")/../.."
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
work=$(mktemp -d)
container=
trap 'test -z "$container" || buildah rm "$container" >/dev/null; rm -rf "$work"' EXIT

base=$work/base
debootstrap --variant=minbase --include=ca-certificates bookworm "$base" http://deb.debian.org/debian >"$work/log" 2>&1 ||
  { tail -5 "$work/log" >&2; exit 1; }
cp node_modules/node-linux-*/bin/node "$base/usr/local/bin/node"
npm install --global --silent --prefix "$base/usr/local" npm@11
{
  printf 'FROM scratch\nADD base.tar /\n'
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    cp "$NODE_EXTRA_CA_CERTS" "$base/etc/ssl/extra.pem"
    printf 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem\n'
  fi
} >"$work/Containerfile"
tar -C "$base" -cf "$work/base.tar" .
buildah bud --quiet --tag roster-test/node --file "$work/Containerfile" "$work" >/dev/null
buildah bud --quiet --format docker --tag roster-test/roster --build-arg NODE_IMAGE=localhost/roster-test/node . >/dev/null

container=$(buildah from localhost/roster-test/roster)
root=$(buildah mount "$container")
echo "The image adds $(du -sm "$root/app" | cut -f1) MB to its base; the largest packages, in KB:"
du -s "$root"/app/node_modules/* | sort -rn | sed -n '1,5s#\t.*/#\t#p'
IMAGE_ROOT=$root node bin/run.cjs node_modules/vitest/vitest.mjs run --project slow test/shipping/image.test.ts
