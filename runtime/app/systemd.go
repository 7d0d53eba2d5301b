package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// The messages to systemd.
const (
	systemdReady    = "READY=1"
	systemdStopping = "STOPPING=1"
	systemdAlive    = "WATCHDOG=1"
)

// notifySystemd sends one message: a datagram to the socket named by NOTIFY_SOCKET (sd_notify(3)). Without one it
// does nothing.
func notifySystemd(ctx context.Context, message string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	if strings.HasPrefix(path, "@") { // the abstract namespace
		path = "\x00" + path[1:]
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unixgram", path)
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	_, err = conn.Write([]byte(message))
	if closeErr := conn.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}

// watchdogInterval returns the interval at which systemd expects a keep-alive, or 0 for none
// (sd_watchdog_enabled(3)).
func watchdogInterval() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	microseconds, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || microseconds <= 0 {
		return 0
	}
	return time.Duration(microseconds) * time.Microsecond
}

// reportToSystemd reports that the service is ready, then three keep-alives per watchdog interval until ctx ends, then
// that the service stops. It depends only on the process itself: a slow database is not a reason to kill the service.
func reportToSystemd(ctx context.Context, log *slog.Logger) {
	tell := func(message string) {
		if err := notifySystemd(context.WithoutCancel(ctx), message); err != nil {
			log.WarnContext(ctx, "could not notify systemd", "message", message, telemetry.KeyError, err)
		}
	}
	tell(systemdReady)
	defer tell(systemdStopping)
	period := watchdogInterval()
	if period == 0 {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(period / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			tell(systemdAlive)
		case <-ctx.Done():
			return
		}
	}
}
