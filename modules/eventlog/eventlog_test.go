package eventlog_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/test/harness"
)

const anEmail = `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`

type logged struct {
	Events []struct {
		ID, Type string
		Data     struct {
			EmailID string `json:"email_id"`
		}
	}
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
}

func eventLog(t *testing.T, app *harness.App, query string) (page logged) {
	t.Helper()
	got := app.Do(t, http.MethodGet, "/api/event-log"+query, nil)
	if got.Status != http.StatusOK {
		t.Fatalf("GET /event-log%s: %d %s", query, got.Status, got.Body)
	}
	got.JSON(t, &page)
	return page
}

// stream opens an event stream and returns its lines.
func stream(t *testing.T, app *harness.App, query string, headers ...string) (lines <-chan string, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, app.BaseURL+"/api/event-log/stream"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	t.Cleanup(cancel)
	return linesOf(t, app, req), cancel
}

// ended is the last line of a stream that was not cut off.
const ended = "the server has ended the stream"

// linesOf returns the lines of a continuous response.
func linesOf(t *testing.T, app *harness.App, req *http.Request) <-chan string {
	t.Helper()
	req.Header.Set("Authorization", "Bearer "+app.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the response to the stream is %d %s", res.StatusCode, res.Header)
	}
	out := make(chan string, 1000)
	go func() {
		defer close(out)
		defer res.Body.Close()
		scan := bufio.NewScanner(res.Body)
		for scan.Scan() {
			out <- scan.Text()
		}
		if scan.Err() == nil {
			out <- ended
		}
	}()
	return out
}

// until returns the next line that contains the text.
func until(t *testing.T, lines <-chan string, text string) string {
	t.Helper()
	over := time.After(expect.Patience)
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatalf("the stream ended before %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-over:
			t.Fatalf("no %q on the stream", text)
		}
	}
}

func TestEventLogPagesAndStreams(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "stranger")
	lines, _ := stream(t, app, "")
	foreign, _ := stream(t, stranger, "")
	until(t, lines, "id: evt_")
	emailID := app.Send(t, anEmail)
	if line := until(t, lines, `"type":"email.`); !strings.Contains(line, `"type":"email.sent"`) ||
		!strings.Contains(line, emailID) {
		t.Errorf("the first email event on the stream is %s", line)
	}
	until(t, lines, `"type":"email.delivered"`)

	var found logged
	harness.Eventually(t, "the log contains both events", func() bool {
		found = eventLog(t, app, "?types=email.sent,email.delivered")
		return len(found.Events) == 2
	})
	if found.Events[0].Type != "email.sent" || found.Events[1].Data.EmailID != emailID || found.HasMore {
		t.Errorf("the log is %+v", found)
	}
	first := eventLog(t, app, "?limit=1&types=email.sent,email.delivered")
	second := eventLog(t, app, "?limit=1&types=email.sent,email.delivered&after="+first.NextCursor)
	if !first.HasMore || first.NextCursor != first.Events[0].ID || len(second.Events) != 1 ||
		second.Events[0].ID != found.Events[1].ID {
		t.Errorf("got the pages %+v and %+v", first, second)
	}
	again, _ := stream(t, app, "?after=latest", "Last-Event-ID", found.Events[0].ID)
	if line := until(t, again, "data: "); !strings.Contains(line, found.Events[1].ID) {
		t.Errorf("the event after the first is %s", line)
	}
	// The event id of another account is a position, and reveals nothing about that account.
	if got := eventLog(t, stranger, "?after="+first.Events[0].ID); len(got.Events) != 0 {
		t.Errorf("another account sees the events %+v", got)
	}
	for _, query := range []string{"?after=msg_1", "?types=email.sent,domain.eaten", "?types=email.rescheduled",
		"?limit=0", "?after=evt_1"} {
		for _, path := range []string{"/api/event-log", "/api/event-log/stream"} {
			if got := app.Do(t, http.MethodGet, path+query, nil); got.Status != http.StatusBadRequest {
				t.Errorf("GET %s%s got status %d and %s, want 400", path, query, got.Status, got.Body)
			}
		}
	}
	// A stop does not wait for streams: it ends them before its grace period is over and they are cut off.
	if err := app.Stop(); err != nil {
		t.Error(err)
	}
	last := ""
	for line := range foreign {
		if last = line; strings.HasPrefix(line, "data:") {
			t.Errorf("the stream of another account has %s", line)
		}
	}
	if last != ended {
		t.Errorf("the stream that was open during the stop was cut off after %q", last)
	}
	for range lines {
		continue // it has ended
	}
}

func TestStreamsOfAnAccountAreLimited(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	var leave func()
	for range 10 {
		_, leave = stream(t, app, "")
	}
	if got := app.Do(t, http.MethodGet, "/api/event-log/stream", nil); got.Status != http.StatusTooManyRequests ||
		got.Header.Get("Retry-After") == "" {
		t.Errorf("the response to the eleventh stream is %d %s", got.Status, got.Body)
	}
	other, _ := stream(t, app.Stranger(t, "other"), "")
	until(t, other, "id: ")
	leave()
	harness.Eventually(t, "another stream is accepted", func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, app.BaseURL+"/api/event-log/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+app.APIKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// A GraphQL subscription returns the events after a position that happened before the request, and then new
// events.
func TestEventSubscription(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "stranger")
	first := app.Send(t, anEmail)
	foreign := subscribe(t, stranger, `subscription{events(after:\"`+id.Since(id.Fact, time.Now().Add(-time.Hour))+
		`\"){id}}`)
	lines := subscribe(t, app, `subscription{events(after:\"`+id.Since(id.Fact, time.Now().Add(-time.Hour))+
		`\",types:[\"email.sent\"]){type data}}`)
	if line := until(t, lines, "data: "); !strings.Contains(line, `{"data":{"events":{"type":"email.sent","data":{`) ||
		!strings.Contains(line, first) {
		t.Errorf("the first event on the stream is %s", line)
	}
	second := app.Send(t, anEmail)
	if line := until(t, lines, "data: "); !strings.Contains(line, second) {
		t.Errorf("the second event on the stream is %s", line)
	}
	for {
		select {
		case line := <-foreign:
			if strings.Contains(line, "data:") {
				t.Errorf("another account sees %s", line)
			}
			continue
		default:
		}
		break
	}
}

func subscribe(t *testing.T, app *harness.App, query string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, app.BaseURL+"/graphql",
		strings.NewReader(`{"query":"`+query+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	return linesOf(t, app, req)
}
