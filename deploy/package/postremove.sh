#!/bin/sh
# Keeps the data and the master key. A purge deletes the settings.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
case "$1" in
  remove | purge | 0)
    echo "postrider: the data in /var/lib/postrider and the master key in /etc/postrider were kept; delete them manually if you do not need them any more" ;;
esac
