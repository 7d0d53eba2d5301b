package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
)

// Sender posts emails on one connection. It encodes each request once and reads responses with minimal HTTP/1.1 code,
// because it shares the processors with the measured server. (pgbench, the reference, is not written in Go either.)
type Sender struct {
	conn      net.Conn
	responses *bufio.Reader
	requests  [][]byte
	next      int
	cancel    func() bool
}

// NewSenders returns n senders that post the sample email to the addresses in turn. Each starts at a different
// address. They stop when the context is done.
func NewSenders(ctx context.Context, s Server, n int, addresses ...string) (all []*Sender, err error) {
	if len(addresses) == 0 {
		addresses = []string{"someone@example.net"}
	}
	requests := make([][]byte, len(addresses))
	for i, address := range addresses {
		if requests[i], err = encodeRequest(ctx, s, s.SampleEmail(address)); err != nil {
			return nil, err
		}
	}
	for i := range n {
		first := i % len(requests)
		sender, err := dial(ctx, s, slices.Concat(requests[first:], requests[:first]))
		if err != nil {
			CloseAll(all)
			return nil, err
		}
		all = append(all, sender)
	}
	return all, nil
}

func encodeRequest(ctx context.Context, s Server, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.APIURL+"/emails", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	var wire bytes.Buffer
	err = req.Write(&wire)
	return wire.Bytes(), err
}

func dial(ctx context.Context, s Server, requests [][]byte) (*Sender, error) {
	target, err := url.Parse(s.APIURL)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", target.Host)
	if err != nil {
		return nil, err
	}
	cancel := context.AfterFunc(ctx, func() { conn.Close() })
	return &Sender{conn: conn, responses: bufio.NewReader(conn), requests: requests, cancel: cancel}, nil
}

// Post sends the next email. A status other than 200 is an error.
func (s *Sender) Post() error {
	request := s.requests[s.next%len(s.requests)]
	s.next++
	if _, err := s.conn.Write(request); err != nil {
		return err
	}
	response, err := http.ReadResponse(s.responses, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST /emails returned %d: %s", response.StatusCode, body)
	}
	return errors.Join(err, response.Body.Close())
}

// Close closes the connection.
func (s *Sender) Close() {
	if s.cancel() {
		s.conn.Close() // the server may have closed it first
	}
}

// CloseAll closes clients.
func CloseAll[C interface{ Close() }](all []C) {
	for _, c := range all {
		c.Close()
	}
}
