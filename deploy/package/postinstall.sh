#!/bin/sh
# Creates the user and, if missing, the master key, and restarts a running service. Supports deb
# (configure) and rpm (1: first installation, 2: upgrade).
set -e
env=/etc/postrider/postrider.env
keyfile=/etc/postrider/master-key.env

if ! getent passwd postrider >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/postrider --no-create-home --shell /usr/sbin/nologin postrider
fi
install -d -m 0700 -o postrider -g postrider /var/lib/postrider
chown root:postrider /etc/postrider "$env"
chmod 0750 /etc/postrider
chmod 0640 "$env"
# The key has its own file, because the package must not modify a file that it installs.
if [ ! -e "$keyfile" ] && ! grep -q '^POSTRIDER_MASTER_KEY=.' "$env"; then
  (umask 077 && printf 'POSTRIDER_MASTER_KEY=%s\n' "$(head -c 32 /dev/urandom | base64)" >"$keyfile")
  chown root:postrider "$keyfile"
  chmod 0640 "$keyfile"
  echo "postrider: created a master key in $keyfile; keep a copy of it in another safe place"
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # An upgrade restarts a running service. A first installation needs settings first.
  systemctl try-restart postrider.service
fi
