package server

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnsent limits how much of a response the kernel buffers before the client has room for it. Without
// the limit, a client that reads nothing ties up megabytes of kernel memory per connection, which count for
// the cgroup. Connections inherit the option from their listener. It does not slow down a client that
// reads: sent data that is not acknowledged yet does not count.
func boundUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Serving also works without the option.
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentPerConn) //nolint:errcheck // as above
	})
}
