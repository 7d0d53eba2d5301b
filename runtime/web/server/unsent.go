package server

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnsent limits how much of a response the kernel buffers before the client has room for it. Without the
// limit, a client that reads nothing uses megabytes of kernel memory per connection, which count toward the
// cgroup. Connections inherit the option from their listener. It does not slow down clients that read,
// because sent data that is not yet acknowledged does not count.
func boundUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Serving also works without the option.
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentPerConn) //nolint:errcheck // as above
	})
}
