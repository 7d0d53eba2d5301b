package receivers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Webhook is an HTTP server that takes POSTs and counts them. It reads and says the
// least that HTTP/1.1 asks for, because it shares the cores with what is measured.
type Webhook struct {
	listener net.Listener
	answer   []byte
	hang     time.Duration        // before the answer
	heard    func(eventID string) // may be nil
	left     atomic.Int64
	arrived  atomic.Pointer[chan struct{}]
	mutex    sync.Mutex
	open     map[net.Conn]struct{}
	ended    chan struct{}
	sessions sync.WaitGroup
}

// NewWebhook starts one that answers with a status.
func NewWebhook(ctx context.Context, status string, hang time.Duration, heard func(eventID string)) (*Webhook, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Webhook{listener: l, answer: []byte("HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\nok"), hang: hang, heard: heard, open: map[net.Conn]struct{}{},
		ended: make(chan struct{})}
	r.sessions.Go(r.accept)
	return r, nil
}

// URL is where it takes POSTs.
func (r *Webhook) URL() string { return "http://" + r.listener.Addr().String() + "/hooks" }

// Close ends it with its connections.
func (r *Webhook) Close() {
	close(r.ended)
	if err := r.listener.Close(); err != nil {
		complain("webhook", err)
	}
	r.mutex.Lock()
	for conn := range r.open {
		conn.Close() // it may have gone
	}
	r.mutex.Unlock()
	r.sessions.Wait()
}

// Expect gives a channel that closes when n more have arrived.
func (r *Webhook) Expect(n int) <-chan struct{} {
	arrived := make(chan struct{})
	r.arrived.Store(&arrived)
	r.left.Store(int64(n))
	return arrived
}

func (r *Webhook) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				complain("webhook", err)
			}
			return
		}
		r.mutex.Lock()
		r.open[conn] = struct{}{}
		r.mutex.Unlock()
		r.sessions.Go(func() {
			r.serve(conn)
			r.mutex.Lock()
			delete(r.open, conn)
			r.mutex.Unlock()
			conn.Close() // it may have gone
		})
	}
}

func (r *Webhook) serve(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 16<<10)
	for {
		length, event, err := readHead(in)
		if err != nil {
			return
		}
		if _, err := in.Discard(length); err != nil {
			return
		}
		if r.heard != nil {
			r.heard(event)
		}
		if r.hang > 0 {
			select {
			case <-time.After(r.hang):
			case <-r.ended:
				return
			}
		}
		if _, err := conn.Write(r.answer); err != nil {
			return
		}
		if r.left.Add(-1) == 0 {
			close(*r.arrived.Load())
		}
	}
}

func readHead(in *bufio.Reader) (length int, event string, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, "", err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			return length, event, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, "", err
			}
		case "Service-Event-Id":
			event = string(value)
		}
	}
}

// Left is the number of requests that are still expected.
func (r *Webhook) Left() int64 { return r.left.Load() }
