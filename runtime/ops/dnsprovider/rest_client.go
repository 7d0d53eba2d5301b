package dnsprovider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxResponse = 8 << 20 // bytes
	maxPages    = 500     // of one zone
)

// restClient calls a JSON API that authenticates with a bearer token.
type restClient struct {
	http  *http.Client
	base  string // ends with a slash
	token string
	pause time.Duration // before a request is repeated
}

func (s *Service) newRESTClient(base, token string) restClient {
	return restClient{http: s.http, base: base, token: token, pause: s.retryPause}
}

// call sends a request and decodes the response. It repeats a request that failed temporarily once.
func (c restClient) call(ctx context.Context, method, path string, query url.Values, body, into any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		encoded = nil
	}
	return retryOnce(ctx, c.pause, func() error { return c.callOnce(ctx, method, path, query, encoded, into) })
}

func (c restClient) callOnce(ctx context.Context, method, path string, query url.Values, body []byte,
	into any) error {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.URL.RawQuery = query.Encode()
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(io.LimitReader(response.Body, maxResponse))
	if response.StatusCode/100 != 2 {
		refused := &restError{status: response.StatusCode, method: method}
		_ = decoder.Decode(refused) // a proxy may respond with something else
		return refused
	}
	if into == nil {
		return nil
	}
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("invalid response: %w", err)
	}
	return nil
}

// restError is an error response. DigitalOcean sends the fields at the top level, Hetzner within "error".
type restError struct {
	status  int
	method  string
	ID      string `json:"id"`
	Message string `json:"message"`
	Nested  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (e *restError) Error() string {
	said := strings.TrimSpace(cmp.Or(e.ID, e.Nested.Code) + " " + cmp.Or(e.Message, e.Nested.Message))
	return fmt.Sprintf("%d %s", e.status, cmp.Or(said, http.StatusText(e.status)))
}

// isTemporary reports whether the same request may succeed a moment later. A write that failed with a server error
// may have taken effect, so it is not repeated.
func (e *restError) isTemporary() bool {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusConflict, http.StatusLocked:
		return true
	}
	return e.status >= http.StatusInternalServerError && e.method == http.MethodGet
}

func isNotFound(err error) bool {
	var refused *restError
	return errors.As(err, &refused) && refused.status == http.StatusNotFound
}

// retryOnce sends a request again after a pause if the provider reports a temporary error.
func retryOnce(ctx context.Context, pause time.Duration, send func() error) error {
	err := send()
	var refused interface{ isTemporary() bool }
	if !errors.As(err, &refused) || !refused.isTemporary() || wait(ctx, pause) != nil {
		return err
	}
	return send()
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
