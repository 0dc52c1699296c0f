# Builds `roster-test/node`, a minimal Debian with the packaged Node and npm, because no registry of images is assumed.
# To be sourced by a script with `set -e`, which has a folder `$work` and removes it.
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
rm -r "$base" "$work/base.tar"
