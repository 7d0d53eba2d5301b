package app

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// The service reports that it is ready, alive, and stopping, in this order.
func TestRunTellsSystemd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", "")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		reportToSystemd(ctx, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	next := func() string {
		t.Helper()
		if err := heard.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		message := make([]byte, 100)
		n, err := heard.Read(message)
		if err != nil {
			t.Fatalf("systemd received nothing: %v", err)
		}
		return string(message[:n])
	}
	for i, want := range []string{systemdReady, systemdAlive, systemdAlive} {
		if got := next(); got != want {
			t.Errorf("message %d is %q, want %q", i, got, want)
		}
	}
	stop()
	<-ended
	last := next()
	for last == systemdAlive { // sent before the stop
		last = next()
	}
	if last != systemdStopping {
		t.Errorf("the last message is %q, want %q", last, systemdStopping)
	}
}

// Without systemd nothing is sent and nothing fails; another process's watchdog is not ours.
func TestWithoutSystemdNothingIsSent(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notifySystemd(t.Context(), systemdReady); err != nil {
		t.Errorf("Notify without a socket returned %v, want nil", err)
	}
	for name, env := range map[string][2]string{"none": {"", ""}, "no number": {"", "soon"},
		"another process": {"1", "1000000"}} {
		t.Setenv("WATCHDOG_PID", env[0])
		t.Setenv("WATCHDOG_USEC", env[1])
		if got := watchdogInterval(); got != 0 {
			t.Errorf("Watchdog with %s is %s, want 0", name, got)
		}
	}
}
