// Package rspamd asks an rspamd server whether a received message is spam.
//
// The result is advice: if rspamd is unavailable, slow or returns an unexpected response, the verdict is
// Unknown and the error is logged. Mail is never rejected or lost because of it.
//
// The server belongs to the operator, so it may be on this machine or in a private network. Redirects are
// not followed, and no proxy from the environment is used: a received message is sent nowhere else.
package rspamd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Classification is the classification of a message.
type Classification string

// The statuses. Unknown means that the message was not checked.
const (
	Ham     Classification = "ham"
	Spam    Classification = "spam"
	Unknown Classification = "unknown"
)

// Verdict is the result of rspamd.
type Verdict struct {
	Status   Classification
	Score    float64 // on rspamd's own scale; higher is worse
	HasScore bool
	Reasons  []Reason // the symbols that raise the score most, at most MaxReasons
}

// Reason is a symbol of rspamd, which is one property of a message, and its part of the score.
type Reason struct {
	Name        string
	Description string // may be empty
	Score       float64
}

// MaxReasons is the number of symbols that a Verdict contains.
const MaxReasons = 10

// Config is the address of rspamd: its normal worker (port 11333) or its proxy.
type Config struct {
	URL     string        // "http://127.0.0.1:11333"
	Timeout time.Duration // for one message, default 10 s
}

// Envelope is the data of the SMTP session. Empty fields are not sent.
type Envelope struct {
	IP      string
	Hello   string
	From    string // empty: the null return path
	Rcpt    []string
	QueueID string
	User    string // the authenticated sender of outgoing mail; empty: received mail
}

// Client is an rspamd client. It is safe for concurrent use.
type Client struct {
	url     string
	timeout time.Duration
	http    *http.Client
}

// New returns a client. It does not connect yet.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil {
		// the cause quotes the URL, which may contain a password
		return nil, errors.New("rspamd: the URL is invalid")
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" ||
		base.Fragment != "" {
		return nil, errors.New("rspamd: the URL must have the form http://host:11333")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	return &Client{url: base.JoinPath("checkv2").String(), timeout: cfg.Timeout, http: newHTTPClient()}, nil
}

// newHTTPClient returns a client that follows no redirects.
func newHTTPClient() *http.Client {
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// maxAnswer is larger than any response, which lists every symbol that fired.
const maxAnswer = 1 << 20

// answer is the relevant part of the response to /checkv2.
type answer struct {
	Skipped bool     `json:"is_skipped"`
	Score   *float64 `json:"score"`
	Action  string   `json:"action"`
	Symbols map[string]struct {
		Score       float64 `json:"score"`
		Description string  `json:"description"`
	} `json:"symbols"`
}

// Check checks a message of size bytes. With an error the verdict is Unknown.
func (c *Client) Check(ctx context.Context, e Envelope, raw io.ReaderAt, size int64) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	said, err := c.checkMessage(ctx, e, raw, size)
	if err != nil {
		return Verdict{Status: Unknown}, fmt.Errorf("check with rspamd: %w", err)
	}
	return verdictOf(said), nil
}

func (c *Client) checkMessage(ctx context.Context, e Envelope, raw io.ReaderAt, size int64) (said answer, err error) {
	whole := func() io.ReadCloser { return io.NopCloser(io.NewSectionReader(raw, 0, size)) }
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, whole())
	if err != nil {
		return said, err
	}
	request.ContentLength, request.Header = size, e.requestHeader()
	// to retry if a reused connection was closed
	request.GetBody = func() (io.ReadCloser, error) { return whole(), nil }
	if size == 0 {
		request.Body = http.NoBody
	}
	response, err := c.http.Do(request)
	if err != nil {
		return said, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return said, fmt.Errorf("read the response: %w", err)
	case response.StatusCode != http.StatusOK:
		return said, fmt.Errorf("unexpected status %d", response.StatusCode)
	case len(body) > maxAnswer:
		return said, fmt.Errorf("the response is longer than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return said, fmt.Errorf("read the response: %w", err)
	}
	if said.Action == "" && !said.Skipped {
		return said, errors.New("the response has no action")
	}
	return said, nil
}

// requestHeader returns the request header, with the field names of rspamd's protocol.
func (e Envelope) requestHeader() http.Header {
	h := http.Header{"Content-Type": {"message/rfc822"}}
	from := e.From
	if from == "" {
		from = "<>"
	}
	for _, field := range [][2]string{{"IP", e.IP}, {"Helo", e.Hello}, {"From", from}, {"Queue-Id", e.QueueID}, {"User", e.User}} {
		if field[1] != "" {
			h.Set(field[0], stripControls(field[1]))
		}
	}
	for _, rcpt := range e.Rcpt {
		h.Add("Rcpt", stripControls(rcpt))
	}
	return h
}

// stripControls removes control characters: clients may send anything in EHLO.
func stripControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// reasons returns the symbols with a positive score, the highest first.
func (a answer) reasons() (list []Reason) {
	for name, symbol := range a.Symbols {
		if symbol.Score > 0 {
			list = append(list, Reason{Name: name, Description: symbol.Description, Score: symbol.Score})
		}
	}
	slices.SortFunc(list, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), MaxReasons)]
}

// verdictOf maps rspamd's actions. Greylist and soft reject ask to retry later, which says little about the
// message; a custom action of the operator has no meaning here.
//
// A message that rspamd does not scan is skipped with "no action". It is also skipped if the result was certain
// before the scan (GTUBE, a list of the operator); that result counts.
func verdictOf(said answer) Verdict {
	v := Verdict{Status: Unknown}
	if said.Skipped && (said.Action == "" || said.Action == "no action") {
		return v
	}
	if said.Score != nil {
		v.Score, v.HasScore = *said.Score, true
	}
	v.Reasons = said.reasons()
	switch said.Action {
	case "reject", "add header", "rewrite subject":
		v.Status = Spam
	case "no action", "greylist", "soft reject":
		v.Status = Ham
	}
	return v
}
