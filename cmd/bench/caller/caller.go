// Package caller posts the same requests over and over.
package caller

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

// Caller posts its requests in turn on a connection of its own. Each request is
// encoded once and the answer is read with the least that HTTP/1.1 asks for: what is
// measured shares two cores with what measures, and pgbench is no Go program either.
type Caller struct {
	conn     net.Conn
	answers  *bufio.Reader
	requests [][]byte
	next     int
	Want     int // status of the answer; 200
	cancel   func() bool
}

// New connects for requests to a URL, one for each body, with an API key.
func New(ctx context.Context, address, apiKey string, bodies ...[]byte) (*Caller, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	requests := make([][]byte, len(bodies))
	for i, body := range bodies {
		if requests[i], err = encodeRequest(ctx, target.String(), apiKey, body); err != nil {
			return nil, err
		}
	}
	c, err := Dial(ctx, target.Host)
	if err != nil {
		return nil, err
	}
	c.requests = requests
	return c, nil
}

func encodeRequest(ctx context.Context, address, apiKey string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+apiKey)
	req.Header.Set("Content-Type", "application/json")
	var wire bytes.Buffer
	err = req.Write(&wire)
	return wire.Bytes(), err
}

// Dial connects for requests that are given to Exchange.
func Dial(ctx context.Context, host string) (*Caller, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	return &Caller{conn: conn, answers: bufio.NewReader(conn), Want: http.StatusOK, cancel: context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

// Post sends the next request. Any answer but the one that is wanted is an error.
func (c *Caller) Post() error {
	request := c.requests[c.next%len(c.requests)]
	c.next++
	status, body, err := c.Exchange(request)
	if err == nil && status != c.Want {
		err = fmt.Errorf("answered %d: %s", status, body)
	}
	return err
}

// Exchange makes a request that is written out whole.
func (c *Caller) Exchange(request []byte) (status int, body []byte, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, errors.Join(err, answer.Body.Close())
}

// Close ends the connection.
func (c *Caller) Close() {
	if c.cancel() {
		c.conn.Close() // the other end may have gone
	}
}

// CloseAll closes callers.
func CloseAll(all []*Caller) {
	for _, c := range all {
		c.Close()
	}
}
