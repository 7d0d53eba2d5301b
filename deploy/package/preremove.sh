#!/bin/sh
# Stops the service when the package is removed, but not before an upgrade.
set -e
case "$1" in
  remove | 0)
    if [ -d /run/systemd/system ]; then
      systemctl disable --now postrider.service || true
    fi
    ;;
esac
