package server

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnsent bounds how much of a response the kernel takes before the client has room for it. Without
// the bound a client that reads nothing holds megabytes of kernel memory for each connection, which
// counts for the cgroup. Connections inherit the option of their listener. It does not slow a client
// that reads: what was sent and is not acknowledged yet does not count.
func boundUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// A system without the option serves all the same.
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentPerConn) //nolint:errcheck // as above
	})
}
