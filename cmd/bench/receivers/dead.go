package receivers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// DeadDomain is what mail for them is written to.
const DeadDomain = "dead.test"

// DeadAddress is where servers are that do not answer.
const DeadAddress = "127.66.0.66"

// OpenSilent takes connections and never says anything.
func OpenSilent(ctx context.Context, port string) (func() error, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(DeadAddress, port))
	if err != nil {
		return nil, err
	}
	var held atomic.Pointer[[]net.Conn]
	held.Store(&[]net.Conn{})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			all := append(*held.Load(), conn) // kept from the garbage collector
			held.Store(&all)
		}
	}()
	return l.Close, nil
}

// OpenFull listens and never accepts: with its backlog full, the kernel drops what
// asks for a connection.
func OpenFull(ctx context.Context, port string) (func() error, error) {
	var number int
	if _, err := fmt.Sscan(port, &number); err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	closer := func() error { return syscall.Close(fd) }
	addr := &syscall.SockaddrInet4{Port: number, Addr: [4]byte(net.ParseIP(DeadAddress).To4())}
	if err := errors.Join(syscall.Bind(fd, addr), syscall.Listen(fd, 0)); err != nil {
		return nil, errors.Join(err, closer())
	}
	dialer := net.Dialer{Timeout: 200 * time.Millisecond}
	for range 3 { // fill the backlog
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(DeadAddress, port))
		if err != nil {
			return closer, nil //nolint:nilerr // full is what it should be
		}
		fillers := conn
		kept := closer
		closer = func() error { return errors.Join(fillers.Close(), kept()) }
	}
	return closer, nil
}
