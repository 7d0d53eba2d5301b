package expect

import (
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// SilentPort returns a loopback port that accepts connections and never responds. It counts the connections in met.
func SilentPort(t testing.TB, met *atomic.Int64) (port string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var kept []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			met.Add(1)
			kept = append(kept, conn)
		}
	}()
	t.Cleanup(func() {
		err := listener.Close()
		<-done
		for _, conn := range kept {
			err = errors.Join(err, conn.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	_, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// UnreachablePort returns a loopback port that does not accept connections: its backlog is full, and the kernel
// drops further packets. The test is skipped where the system does not support this.
func UnreachablePort(t testing.TB) (port string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkClose(t, syscall.Close(fd)) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port = strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
	for dropped, taken := 0, 0; taken < 16; {
		conn, err := (&net.Dialer{Timeout: 300 * time.Millisecond}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		if err == nil {
			taken, dropped = taken+1, 0
			t.Cleanup(func() { checkClose(t, conn.Close()) })
			continue
		}
		if dropped++; dropped == 3 { // a single drop may be due to a stall of this process
			return port
		}
	}
	t.Skip("the backlog of a socket does not become full here")
	return ""
}

func checkClose(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
