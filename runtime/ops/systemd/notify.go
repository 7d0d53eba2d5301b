// Package systemd reports the state of the service to systemd: ready, stopping, alive. A message is one
// datagram to the socket named by NOTIFY_SOCKET (sd_notify(3)); without systemd nothing is sent.
package systemd

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

// The messages of the service.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	Alive    = "WATCHDOG=1"
)

// Notify sends one message. Without NOTIFY_SOCKET it does nothing.
func Notify(ctx context.Context, message string) error {
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

// Watchdog returns the interval at which systemd expects a keep-alive, or 0 for none
// (sd_watchdog_enabled(3)).
func Watchdog() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	microseconds, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || microseconds <= 0 {
		return 0
	}
	return time.Duration(microseconds) * time.Microsecond
}

// Run reports that the service is ready, then three keep-alives per watchdog interval until ctx ends, then
// that the service stops. It depends only on the process itself: a slow database must not get it killed.
func Run(ctx context.Context, log *slog.Logger) {
	tell := func(message string) {
		if err := Notify(context.WithoutCancel(ctx), message); err != nil {
			log.WarnContext(ctx, "could not notify systemd", "message", message, telemetry.KeyError, err)
		}
	}
	tell(Ready)
	defer tell(Stopping)
	period := Watchdog()
	if period == 0 {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(period / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			tell(Alive)
		case <-ctx.Done():
			return
		}
	}
}
