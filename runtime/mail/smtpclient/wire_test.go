package smtpclient

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func newWirePair(t *testing.T) (*wire, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return &wire{Conn: near, left: maxRead}, far
}

// mox limits each reply to 30 s and keeps a write deadline under STARTTLS. Neither deadline must reach the
// connection.
func TestDeadlinesOfMoxAreIgnored(t *testing.T) {
	t.Parallel()
	w, far := newWirePair(t)
	past := time.Now().Add(-time.Hour)
	if err := errors.Join(w.SetDeadline(past), w.SetReadDeadline(past), w.SetWriteDeadline(past)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Errorf("write: %v", err)
	}
	if _, err := far.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(make([]byte, 1)); err != nil {
		t.Errorf("read: %v", err)
	}
	w.limitTo(-time.Second)
	if _, err := w.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) ||
		!errors.Is(w.failed, os.ErrDeadlineExceeded) {
		t.Errorf("our own deadline: %v, kept %v", err, w.failed)
	}
}

func TestServerDataIsBounded(t *testing.T) {
	t.Parallel()
	w, far := newWirePair(t)
	go func() {
		defer far.Close()
		for range 10 {
			if _, err := io.WriteString(far, strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
	}()
	n, err := io.Copy(io.Discard, w)
	if !errors.Is(err, errFlood) || n > maxRead+64<<10 {
		t.Errorf("read %d bytes, error %v", n, err)
	}
}

// The session was opened with TLS required; this is a second check.
func TestAuthenticateRequiresTLSOrLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{"mail.example": false, "192.0.2.1": false, "127.0.0.1.example": false,
		"localhost": true, "127.0.0.1": true, "::1": true} {
		s := &Smarthost{Host: host, Username: "u", Password: "p"}
		client, err := s.chooseMechanism([]string{"PLAIN"}, nil)
		if got := err == nil && client != nil; got != want {
			t.Errorf("%s in plaintext: %v, %v", host, client, err)
		}
		if _, err := s.chooseMechanism([]string{"LOGIN"}, &tls.ConnectionState{}); err != nil {
			t.Errorf("%s over TLS: %v", host, err)
		}
	}
}
