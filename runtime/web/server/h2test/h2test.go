// Package h2test is an HTTP/2 client for tests of misbehaving clients: it opens streams and reads only as
// much of their responses as the test says, possibly nothing.
package h2test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Certificate returns a self-signed certificate, for an HTTP/2 server.
func Certificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Now().
		Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// WriteCertificate writes such a certificate and its key to files.
func WriteCertificate(t testing.TB) (certificate, key string) {
	t.Helper()
	c := Certificate(t).Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "certificate.pem"), filepath.Join(t.TempDir(), "key.pem")
	for file, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: c.Certificate[0]},
		key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// Client is one connection.
type Client struct {
	conn    net.Conn
	writing sync.Mutex
	frames  *http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
	next    uint32

	mu       sync.Mutex
	statuses map[uint32]string
	resets   map[uint32]http2.ErrCode
	read     map[uint32]int64
	allowed  uint32 // concurrent streams, as announced by the server
	ended    error
}

// Dial connects with an initial window: how many bytes of each response the server may send before it must
// wait.
func Dial(t testing.TB, addr string, window uint32) *Client {
	t.Helper()
	c, err := New(t.Context(), addr, window)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func dialTLS(ctx context.Context, addr, protocol string) (net.Conn, error) {
	// the server belongs to the test
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol},
		MinVersion: tls.VersionTLS12}}
	return dialer.DialContext(ctx, "tcp", addr)
}

// DialOne connects to the same server for HTTP/1.1.
func DialOne(ctx context.Context, addr string) (net.Conn, error) {
	return dialTLS(ctx, addr, "http/1.1")
}

// New is Dial with an error result.
func New(ctx context.Context, addr string, window uint32) (*Client, error) {
	conn, err := dialTLS(ctx, addr, "h2")
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, next: 1, statuses: map[uint32]string{}, resets: map[uint32]http2.ErrCode{},
		read: map[uint32]int64{}, allowed: 1 << 30}
	c.encoder = hpack.NewEncoder(&c.headers)
	c.frames = http2.NewFramer(conn, conn)
	c.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := c.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go c.recordFrames()
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// recordFrames records what the server sends, until the connection ends.
func (c *Client) recordFrames() {
	for {
		f, err := c.frames.ReadFrame()
		if err != nil {
			c.mu.Lock()
			c.ended = err
			c.mu.Unlock()
			return
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if f.IsAck() {
				continue
			}
			if n, is := f.Value(http2.SettingMaxConcurrentStreams); is {
				c.mu.Lock()
				c.allowed = n
				c.mu.Unlock()
			}
			c.writeLocked(func() error { return c.frames.WriteSettingsAck() })
		case *http2.PingFrame:
			if !f.IsAck() {
				c.writeLocked(func() error { return c.frames.WritePing(true, f.Data) })
			}
		case *http2.MetaHeadersFrame:
			c.mu.Lock()
			c.statuses[f.StreamID] = f.PseudoValue("status")
			c.mu.Unlock()
		case *http2.DataFrame:
			c.mu.Lock()
			c.read[f.StreamID] += int64(len(f.Data()))
			c.mu.Unlock()
		case *http2.RSTStreamFrame:
			c.mu.Lock()
			c.resets[f.StreamID] = f.ErrCode
			c.mu.Unlock()
		}
	}
}

func (c *Client) writeLocked(do func() error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return do()
}

// Open begins a request, and returns its stream. fields are pairs of names and values, including the method
// and the path (":method", ":path"); whole says that it has no body.
func (c *Client) Open(whole bool, fields ...string) (stream uint32, err error) {
	err = c.writeLocked(func() error {
		stream = c.next
		c.next += 2
		c.headers.Reset()
		for _, f := range [][2]string{{":scheme", "https"}, {":authority", "localhost"}} {
			if err := c.encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
				return err
			}
		}
		for i := 0; i+1 < len(fields); i += 2 {
			if err := c.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
				return err
			}
		}
		return c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.headers.Bytes(),
			EndHeaders: true, EndStream: whole})
	})
	return stream, err
}

// Get starts a GET request.
func (c *Client) Get(path string, fields ...string) (stream uint32, err error) {
	return c.Open(true, append([]string{":method", "GET", ":path", path}, fields...)...)
}

// Reset cancels a stream, as a client that disconnects does.
func (c *Client) Reset(stream uint32) error {
	return c.writeLocked(func() error { return c.frames.WriteRSTStream(stream, http2.ErrCodeCancel) })
}

// State is the state of a connection.
type State struct {
	Allowed  uint32 // concurrent streams, as announced by the server
	Statuses map[string]int
	Resets   map[http2.ErrCode]int
	Bytes    int64 // total bytes of all responses
	Ended    error // nil while the connection is open
}

// State returns what was received so far.
func (c *Client) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Allowed: c.allowed, Statuses: map[string]int{}, Resets: map[http2.ErrCode]int{}, Ended: c.ended}
	for _, status := range c.statuses {
		s.Statuses[status]++
	}
	for _, code := range c.resets {
		s.Resets[code]++
	}
	for _, n := range c.read {
		s.Bytes += n
	}
	return s
}
