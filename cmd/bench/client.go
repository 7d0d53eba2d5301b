package main

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
)

// caller posts one request over and over on a connection of its own. The request is
// made once and the answer is read with the least that HTTP/1.1 asks for: what is
// measured shares two cores with what measures, and pgbench is no Go program either.
type caller struct {
	conn    net.Conn
	answers *bufio.Reader
	request []byte
	cancel  func() bool
}

func newCaller(ctx context.Context, r ready, path string, body []byte) (*caller, error) {
	target, err := url.Parse(r.APIURL + path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.APIKey)
	req.Header.Set("Content-Type", "application/json")
	var wire bytes.Buffer
	if err := req.Write(&wire); err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", target.Host)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn, answers: bufio.NewReader(conn), request: wire.Bytes(),
		cancel: context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

// post makes one request. Any answer but 200 is an error.
func (c *caller) post() error {
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %d: %s", answer.StatusCode, body)
	}
	return err
}

func (c *caller) close() {
	if c.cancel() {
		c.conn.Close() // the other end may have gone
	}
}

// newCallers gives callers that post the sample email.
func newCallers(ctx context.Context, r ready, n int) (all []*caller, err error) {
	body := sampleEmail(r)
	for range n {
		c, err := newCaller(ctx, r, "/emails", body)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func closeAll(all []*caller) {
	for _, c := range all {
		c.close()
	}
}

var httpClient = &http.Client{}
