package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-smtp"
)

// benchDelivery posts messages from 16 clients to a server that delivers to a
// sink, and counts what the sink has accepted until all have arrived.
func benchDelivery(ctx context.Context, binary, dir string, each time.Duration, messages int) (target, error) {
	signatures, err := measureSignatures(each)
	if err != nil {
		return target{}, err
	}
	sink, err := newSink(ctx)
	if err != nil {
		return target{}, err
	}
	defer sink.close()
	server, err := start(ctx, binary, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.addr())
	if err != nil {
		return target{}, err
	}
	defer server.stop()
	if _, err := sendAndWait(ctx, server.Ready, sink, messages/10); err != nil { // warm-up
		return target{}, err
	}
	took, err := sendAndWait(ctx, server.Ready, sink, messages)
	if err != nil {
		return target{}, err
	}
	rate := float64(messages) / took.Seconds()
	fmt.Printf("%-36s %8.0f /s\n%-36s %8.0f /s\n\n", "RSA-2048 signatures, all cores", signatures, "messages end to end, DKIM-signed", rate)
	return target{name: "end to end / RSA-2048 signatures", ratio: rate / signatures, least: 0.35}, nil
}

func sendAndWait(ctx context.Context, r ready, s *sink, messages int) (time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	body := sampleEmail(r)
	arrived := s.expect(messages)
	begin := time.Now()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for next.Add(1) <= int64(messages) && failed.Load() == nil {
				if err := post(ctx, client, r, body); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	select {
	case <-arrived:
		return time.Since(begin), nil
	case <-limit.C:
		return 0, errors.New("the sink has not received every message within two minutes")
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// measureSignatures is the ceiling of delivery: every message costs one.
func measureSignatures(length time.Duration) (float64, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return 0, err
	}
	digest := sha256.Sum256([]byte("postrider"))
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for range runtime.NumCPU() {
		all.Go(func() {
			for time.Since(begin) < length {
				if _, err := key.Sign(rand.Reader, digest[:], crypto.SHA256); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(begin).Seconds(), nil
}

// sink is an SMTP server that counts messages and forgets them.
type sink struct {
	server   *smtp.Server
	listener net.Listener
	left     atomic.Int64
	arrived  atomic.Pointer[chan struct{}]
}

func newSink(ctx context.Context) (*sink, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{listener: l}
	s.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &sinkSession{s}, nil }))
	s.server.Domain = "sink.localhost"
	go func() {
		if err := s.server.Serve(l); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			fmt.Println("bench: sink:", err)
		}
	}()
	return s, nil
}

func (s *sink) addr() string { return s.listener.Addr().String() }

func (s *sink) close() {
	if err := s.server.Close(); err != nil {
		fmt.Println("bench: sink:", err)
	}
}

// expect gives a channel that closes when n more messages have arrived.
func (s *sink) expect(n int) <-chan struct{} {
	arrived := make(chan struct{})
	s.arrived.Store(&arrived)
	s.left.Store(int64(n))
	return arrived
}

type sinkSession struct{ sink *sink }

func (*sinkSession) Mail(string, *smtp.MailOptions) error { return nil }
func (*sinkSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (*sinkSession) Reset()                               {}
func (*sinkSession) Logout() error                        { return nil }

func (s *sinkSession) Data(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if s.sink.left.Add(-1) == 0 {
		close(*s.sink.arrived.Load())
	}
	return nil
}
