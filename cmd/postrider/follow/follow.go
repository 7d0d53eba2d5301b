package follow

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// Request describes which events to follow and where to forward them.
type Request struct {
	BaseURL   string
	APIKey    string
	ForwardTo string    // if empty, events are only printed
	Events    []string  // all if empty
	Since     string    // id of an event, or empty
	SinceTime time.Time // alternative to Since
	Out       io.Writer
	Log       io.Writer
}

// Validate reports every invalid field.
func (in Request) Validate() error {
	wrong := fault.Fields{}
	for name, address := range map[string]string{"--base-url": in.BaseURL, "--forward-to": in.ForwardTo} {
		u, err := url.Parse(address)
		if (address != "" || name == "--base-url") &&
			(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			wrong.Add(name, "must be an http or https URL")
		}
	}
	if in.APIKey == "" {
		wrong.Add("--api-key", "is required (POSTRIDER_API_KEY)")
	}
	return wrong.Err()
}

// silenceLimit is the time after which a silent stream is closed. The server sends at least a comment every 15 s.
const silenceLimit = 45 * time.Second

var errRefused = errors.New("refused")

// Run follows the event log of a running Postrider, prints each event on a line, and posts it to the
// developer's server, signed as a webhook. It reconnects after a broken stream and continues after the last
// event. When ctx ends, Run returns nil. The error is an invalid field or a refusal of the server.
func Run(ctx context.Context, in Request) error {
	if err := in.Validate(); err != nil {
		return err
	}
	l := &follower{in: in, client: &http.Client{}, position: in.Since,
		forward: &http.Client{Timeout: 10 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if !in.SinceTime.IsZero() {
		l.position = id.Since(id.Fact, in.SinceTime)
	}
	if in.ForwardTo != "" {
		l.secret = webhooksig.NewSecret()
		fmt.Fprintf(in.Log, "Forwarding to %s, signed with the secret %s\n", in.ForwardTo, l.secret)
	}
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		began := time.Now()
		err := l.readStream(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the caller stopped it
		case errors.Is(err, errRefused):
			return fmt.Errorf("listen: %w", err)
		case time.Since(began) > time.Minute:
			wait = time.Second
		}
		fmt.Fprintf(in.Log, "The stream ended (%v). Reconnecting in %s.\n", err, wait)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

type follower struct {
	in       Request
	client   *http.Client
	forward  *http.Client
	secret   string
	position string
}

// streamEvent is an event of the stream.
type streamEvent struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CreatedAt string          `json:"created_at"`
	Data      json.RawMessage `json:"data"`
}

func (l *follower) readStream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(silenceLimit, cancel)
	defer silence.Stop()
	query := ""
	if len(l.in.Events) > 0 {
		query = "?" + url.Values{"types": {strings.Join(l.in.Events, ",")}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(l.in.BaseURL, "/")+
		"/api/event-log/stream"+query, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+l.in.APIKey)
	if l.position != "" {
		req.Header.Set("Last-Event-ID", l.position)
	}
	res, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return refusalOf(res)
	}
	fmt.Fprintf(l.in.Log, "Listening to %s\n", l.in.BaseURL)
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		silence.Reset(silenceLimit)
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			if l.position == "" {
				l.position = value // start of the stream
			}
		case "data":
			if err := l.forwardEvent(ctx, []byte(value)); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}

// refusalOf distinguishes permanent refusals from those worth a retry.
func refusalOf(res *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if err != nil {
		return err
	}
	err = fmt.Errorf("%s returned %s: %s", res.Request.URL.Path, res.Status, bytes.TrimSpace(body))
	if res.StatusCode < http.StatusInternalServerError && res.StatusCode != http.StatusTooManyRequests {
		return errors.Join(errRefused, err)
	}
	return err
}

// forwardEvent prints an event and forwards it once to the developer's server.
func (l *follower) forwardEvent(ctx context.Context, data []byte) error {
	var e streamEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	outcome := ""
	if l.in.ForwardTo != "" {
		outcome = "  -> " + l.post(ctx, e)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.position = e.ID
	_, err := fmt.Fprintf(l.in.Out, "%s  %s  %s%s\n", e.CreatedAt, e.Type, e.ID, outcome)
	return err
}

func (l *follower) post(ctx context.Context, e streamEvent) string {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(struct {
		Type      string          `json:"type"`
		CreatedAt string          `json:"created_at"`
		Data      json.RawMessage `json:"data"`
	}{e.Type, e.CreatedAt, e.Data}); err != nil {
		return err.Error()
	}
	raw := bytes.TrimSpace(body.Bytes())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.in.ForwardTo, bytes.NewReader(raw))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Postrider-Webhooks/1")
	req.Header.Set("Service-Event-Id", e.ID)
	req.Header.Set("Service-Delivery-Attempt", "1")
	webhooksig.SetHeaders(req.Header, e.ID, []string{l.secret}, time.Now(), raw)
	res, err := l.forward.Do(req)
	if err != nil {
		return err.Error()
	}
	if err := res.Body.Close(); err != nil {
		return err.Error()
	}
	return res.Status
}
