package graph

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// fakeFacts are two events of ada and one of bob.
type fakeFacts struct{ *calls }

// someEventLog returns the service over fakeFacts.
func someEventLog(c *calls) *eventlog.Service {
	return eventlog.New(eventlog.Params{Log: fakeFacts{c}, Logger: slog.New(slog.DiscardHandler)})
}

func someFacts() []event.Fact {
	data := []byte(`{"email_id":"msg_1","status":"delivered"}`)
	return []event.Fact{
		{ID: id.Since(id.Fact, day), AccountID: ada, Type: event.EmailSent, Data: data, CreatedAt: day},
		{ID: id.Since(id.Fact, day.Add(time.Second)), AccountID: bob, Type: event.EmailSent, Data: data, CreatedAt: day},
		{ID: id.Since(id.Fact, day.Add(2*time.Second)), AccountID: ada, Type: event.EmailDelivered, Data: data, CreatedAt: day.Add(2 * time.Second)},
	}
}

func (fakeFacts) Horizon(context.Context) (time.Time, error) { return day.Add(time.Hour), nil }

func (f fakeFacts) Read(_ context.Context, s bus.AccountFeed) (bus.FeedPage, error) {
	read := bus.FeedPage{Next: id.Since(id.Fact, day.Add(time.Hour))}
	for _, fact := range someFacts() {
		if fact.AccountID != s.AccountID || fact.ID <= s.After ||
			!strings.Contains(strings.Join(typeNames(s.Types), " "), string(fact.Type)) {
			continue
		}
		if len(read.Facts) == s.Limit {
			read.More, read.Next = true, read.Facts[s.Limit-1].ID
			break
		}
		read.Facts = append(read.Facts, fact)
	}
	return read, f.call("events.Read")
}

func typeNames(types []event.Type) (names []string) {
	for _, t := range types {
		names = append(names, string(t))
	}
	return names
}

// ActiveAccounts returns none: streams check the database themselves.
func (fakeFacts) ActiveAccounts(context.Context, time.Time, time.Time, []string) ([]string, error) {
	return nil, nil
}

func TestEventsInPages(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	facts := someFacts()
	got := s.ask(t, `{events(first:1){nodes{id type createdAt data} hasMore endCursor}}`, nil)
	same(t, "first page", map[string]any{"events": map[string]any{
		"nodes": []any{map[string]any{"id": facts[0].ID, "type": "email.sent", "createdAt": day.UTC().
			Format("2006-01-02T15:04:05.000Z"), "data": map[string]any{"email_id": "msg_1", "status": "delivered"}}},
		"hasMore": true, "endCursor": facts[0].ID}}, got.Data)
	got = s.ask(t, `query($after:String){events(after:$after){nodes{id} hasMore}}`,
		map[string]any{"after": facts[0].ID})
	same(t, "second page", map[string]any{"events": map[string]any{"nodes": []any{map[string]any{"id": facts[2].ID}},
		"hasMore": false}}, got.Data)
	for query, field := range map[string]string{`{events(first:0){hasMore}}`: "first",
		`{events(after:"x"){hasMore}}`: "after", `{events(types:["email.nothing"]){hasMore}}`: "types"} {
		if got := s.ask(t, query, nil); got.codes() != "validation_error" ||
			got.Errors[0].Extensions.Details[field] == "" {
			t.Errorf("%s got %s, want a validation_error of %s", query, got.body, field)
		}
	}
	if got := s.askAs(t, "svc_sending", `{events{hasMore}}`, nil); got.codes() != "insufficient_scope" {
		t.Errorf("a sending key reads events: %s", got.body)
	}
}

// follow subscribes and returns the received lines.
func (s *testServer) follow(t *testing.T, key, query string) (lines *bufio.Scanner, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := request(t, s.url, key, `{"query":"`+strings.ReplaceAll(query, `"`, `\"`)+`"}`).WithContext(ctx)
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the subscription got status %d with header %v, want 200 and an event stream", response.StatusCode,
			response.Header)
	}
	return bufio.NewScanner(response.Body), cancel
}

func TestSubscriptionGivesTheCallersEvents(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	lines, leave := s.follow(t, "svc_read", `subscription{events(after:"`+id.Since(id.Fact, day.Add(-time.Hour))+
		`"){type data}}`)
	var got []string
	for len(got) < 2 && lines.Scan() {
		if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
			got = append(got, data)
		}
	}
	same(t, "stream",
		[]string{`{"data":{"events":{"type":"email.sent","data":{"email_id":"msg_1","status":"delivered"}}}}`,
			`{"data":{"events":{"type":"email.delivered","data":{"email_id":"msg_1","status":"delivered"}}}}`}, got)
	leave()
}

func TestQueriesAreAnsweredByAStreamWhereOneIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for _, query := range []string{`{viewer{role}}`, `{email(id:"msg_001"){content{text}}}`} {
		lines, _ := s.follow(t, "svc_read", query)
		var got []string
		for lines.Scan() {
			got = append(got, lines.Text())
		}
		want := []string{"event: next", "data: " + s.askAs(t, "svc_read", query, nil).body, "", "event: complete", ""}
		same(t, query, want, got)
	}
}

// Refusals are sent before a stream starts.
func TestSubscriptionIsRefusedAsOtherRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for name, c := range map[string]struct {
		key, accept, query, code string
		status                   int
	}{
		"no stream asked for": {"svc_full", "application/json", `subscription{events{id}}`, "validation_error", 400},
		"unknown type":        {"svc_full", "text/event-stream", `subscription{events(types:["x"]){id}}`, "validation_error", 400},
		"sending key":         {"svc_sending", "text/event-stream", `subscription{events{id}}`, "insufficient_scope", 400},
		"two at once":         {"svc_full", "text/event-stream", `subscription{events{id} b:events{id}}`, "validation_error", 400},
		"no such field":       {"svc_full", "text/event-stream", `subscription{emails{id}}`, "validation_error", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `{"query":"` + strings.ReplaceAll(c.query, `"`, `\"`) + `"}`
			r := request(t, s.url, c.key, body)
			r.Header.Set("Accept", c.accept)
			if got := s.send(t, r); got.status != c.status || got.codes() != c.code {
				t.Errorf("the subscription got status %d and %s, want %d and %s", got.status, got.body,
					c.status, c.code)
			}
		})
	}
}
