package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Server is a running Postrider, with an API key of one of its accounts.
type Server struct{ BaseURL, APIKey string }

// Validate reports every invalid field.
func (s Server) Validate() error {
	wrong := fault.Fields{}
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		wrong.Add("--base-url", "must be an http or https URL")
	}
	if s.APIKey == "" {
		wrong.Add("--api-key", "is required: run postrider login, or set POSTRIDER_API_KEY")
	} else if strings.ContainsFunc(s.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		wrong.Add("--api-key", "must consist of visible ASCII characters")
	}
	return wrong.Err()
}

const (
	timeout   = 30 * time.Second
	maxAnswer = 32 << 20 // bytes
)

var client = &http.Client{Timeout: timeout}

// streams has no limit for the whole response, because an export takes as long as it needs.
var streams = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
	ResponseHeaderTimeout: timeout, TLSHandshakeTimeout: timeout}}

// RefusalError is an error response of the server.
type RefusalError struct {
	Status  int
	Message string
	Fields  map[string]string // problems by path in the body
}

func (r *RefusalError) Error() string {
	if len(r.Fields) == 0 {
		return r.Message
	}
	return r.Message + "\n" + strings.Join(formatFields(r.Fields), "\n")
}

func formatFields(fields map[string]string) (out []string) {
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, "  "+path+": "+fields[path])
	}
	return out
}

// StatusOf returns the HTTP status of a *RefusalError, or 0 for other errors.
func StatusOf(err error) int {
	var r *RefusalError
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}

// Request is a request below /api.
type Request struct {
	Method string
	Path   string // such as /emails
	Query  url.Values
	Body   any         // encoded as JSON, unless nil
	Header http.Header // additional fields
}

// Do sends a request and decodes the response into out, unless out is nil. The error is a *RefusalError if the server
// responded with an error.
func (s Server) Do(ctx context.Context, r Request, out any) error {
	res, err := s.send(ctx, client, r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("decode the response of %s %s: %w", r.Method, r.Path, err)
	}
	return nil
}

// Copy sends a request and writes the body of the response to w as it arrives.
func (s Server) Copy(ctx context.Context, r Request, w io.Writer) error {
	res, err := s.send(ctx, streams, r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(w, res.Body)
	return err
}

// send returns a successful response, whose body the caller closes.
func (s Server) send(ctx context.Context, with *http.Client, r Request) (*http.Response, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var content io.Reader
	if r.Body != nil {
		encoded, err := json.Marshal(r.Body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	target := strings.TrimSuffix(s.BaseURL, "/") + "/api" + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target, content)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.Header)
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := with.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	return nil, refusalOf(res.StatusCode, answer)
}

func refusalOf(status int, answer []byte) error {
	var said struct {
		Error struct {
			Message string         `json:"message"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || said.Error.Message == "" {
		return &RefusalError{Status: status,
			Message: fmt.Sprintf("the server returned %d %s", status, http.StatusText(status))}
	}
	fields := map[string]string{}
	for path, found := range said.Error.Details {
		fields[path] = fmt.Sprint(found)
	}
	return &RefusalError{Status: status, Message: said.Error.Message, Fields: fields}
}

// MaxPage is the largest page of a list.
const MaxPage = 100

// List calls each with the items of a list in the order of the server: at most limit of them, or all if limit is 0.
// The items are in the field name of each page.
func (s Server) List(ctx context.Context, path, name string, query url.Values, limit int,
	each func(item json.RawMessage) error) error {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	for listed := 0; ; {
		size := MaxPage
		if limit > 0 {
			size = min(size, limit-listed)
		}
		query.Set("limit", fmt.Sprint(size))
		var page map[string]json.RawMessage
		if err := s.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query}, &page); err != nil {
			return err
		}
		var items []json.RawMessage
		if err := json.Unmarshal(page[name], &items); err != nil {
			return fmt.Errorf("decode the response of GET %s: %w", path, err)
		}
		for _, item := range items {
			if err := each(item); err != nil {
				return err
			}
		}
		listed += len(items)
		var next string
		_ = json.Unmarshal(page["next_cursor"], &next) // null on the last page
		if next == "" || limit > 0 && listed >= limit {
			return nil
		}
		query.Set("cursor", next)
	}
}
