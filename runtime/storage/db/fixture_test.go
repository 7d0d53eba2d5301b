package db_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
)

var discard = slog.New(slog.DiscardHandler)

func openURL(t *testing.T, config db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), config, discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

// pooler handles the first message of a client. It returns false to disconnect.
type pooler func(t *testing.T, client io.ReadWriter, server io.Writer) bool

// proxy forwards connections to the server's socket.
type proxy struct {
	url string
	cut atomic.Bool // responses are read and discarded, then the client is disconnected

	target atomic.Pointer[string] // the server's socket
	pooler pooler                 // nil if it is not a pooler
}

func newProxy(t *testing.T, server string, pooler pooler) *proxy {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	folder := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	query.Set("host", folder)
	address.RawQuery = query.Encode()
	p := &proxy{url: address.String(), pooler: pooler}
	p.redirectTo(t, server)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.forward(t, client) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
	return p
}

// redirectTo makes new connections go to another server.
func (p *proxy) redirectTo(t *testing.T, server string) {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(address.Query().Get("host"), ".s.PGSQL.5432")
	p.target.Store(&socket)
}

func (p *proxy) forward(t *testing.T, client net.Conn) {
	server, err := net.Dial("unix", *p.target.Load())
	if err != nil {
		t.Error(errors.Join(err, client.Close()))
		return
	}
	if p.pooler != nil && !p.pooler(t, client, server) {
		checkEnd(t, errors.Join(server.Close(), client.Close()))
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, err := io.Copy(server, client) // ends with either side
		checkEnd(t, errors.Join(err, server.Close()))
	})
	both.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err == nil && !p.cut.Load() {
				_, err = client.Write(buffer[:n])
			} else if err == nil {
				err = io.EOF
			}
			if err != nil {
				checkEnd(t, errors.Join(err, client.Close()))
				return
			}
		}
	})
	both.Wait()
}

// checkEnd ignores the normal ways in which a connection ends.
func checkEnd(t *testing.T, err error) {
	for _, ordinary := range []error{nil, io.EOF, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, ordinary) {
			return
		}
	}
	t.Errorf("proxy: %v", err)
}
