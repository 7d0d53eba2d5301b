#!/bin/sh
# The data stays, and the master key that opens it. A purge takes the settings.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
case "$1" in
  remove | purge | 0)
    echo "postrider: the data in /var/lib/postrider and the master key in /etc/postrider were kept; delete them by hand if they are no longer wanted" ;;
esac
