package faults_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// unreliable is a webhook endpoint that fails three of ten attempts, with 503 or by closing the connection,
// and the first five attempts of one event in a hundred. It records the accepted events.
type unreliable struct {
	mu     sync.Mutex
	posts  int
	failed int
	taken  map[string]int // by event id
}

func (u *unreliable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	event, attempt := r.Header.Get("Service-Event-Id"), r.Header.Get("Service-Delivery-Attempt")
	lot := hashPercent(event + " " + attempt)
	if hashPercent(event) == 0 && len(attempt) == 1 && attempt <= "5" {
		lot = 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.posts++
	switch {
	case lot < 15:
		u.failed++
		w.WriteHeader(http.StatusServiceUnavailable)
	case lot < 30:
		u.failed++
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	default:
		u.taken[event]++
	}
}

// hashPercent returns the same number below 100 for the same text.
func hashPercent(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:]) % 100
}

// counts returns the number of accepted events, and the number of repeated deliveries.
func (u *unreliable) counts() (taken, again int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, n := range u.taken {
		again += n - 1
	}
	return len(u.taken), again
}

// An endpoint fails three of ten attempts, and the server is killed while it delivers events: every event
// arrives or is stored as failed, and then a recovery delivers it. An event that arrives twice belongs to an
// interrupted attempt.
func TestKillsLoseNoWebhook(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	emails, kills := lengthOf(500, 25_000), lengthOf(1, 2) // two events each
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	endpoint := &unreliable{taken: map[string]int{}}
	receiver := httptest.NewServer(endpoint)
	t.Cleanup(receiver.Close)
	var made struct{ Webhook struct{ ID string } }
	if a := server.Do(t.Context(), http.MethodPost, "/api/webhooks", `{"url":"`+receiver.URL+
		`","events":["email.sent","email.delivered"]}`); json.Unmarshal(a.Body, &made) != nil || made.Webhook.ID == "" {
		t.Fatalf("adding the webhook got status %d and %s, want its id", a.Status, a.Body)
	}
	var sending sync.WaitGroup
	sending.Go(func() { sendBatches(t, server, emails) })
	begin := time.Now()
	for kill := range kills {
		expect.EventuallyWithin(t, 10*time.Minute, "some events have been delivered",
			func() bool { taken, _ := endpoint.counts(); return taken > 2*emails*(kill+1)/(kills+2) })
		server.Kill()
		server.Launch()
	}
	sending.Wait()

	waiting := func() string {
		passTime(server)
		return server.Query(`SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') + (SELECT count(*) FROM bus_messages)
			+ (SELECT count(*) FROM recipients WHERE settled_at IS NULL)`)[0][0]
	}
	expect.EventuallyWithin(t, 10*time.Minute, "every delivery is settled", func() bool { return waiting() == "0" })
	counted := server.Query(`SELECT count(*), count(d.id), count(*) FILTER (WHERE d.state = 'delivered'), count(*) FILTER (WHERE d.state = 'failed')
		FROM facts f LEFT JOIN webhook_deliveries d ON d.event_id = f.id WHERE f.type IN ('email.sent', 'email.delivered')`)[0]
	events, queued, delivered, failed := counted[0], counted[1], counted[2], counted[3]
	taken, again := endpoint.counts()
	unknown := server.Query(`SELECT count(*) FROM webhook_attempts WHERE outcome = 'unknown'`)[0][0]
	figure(t, "events, kills", fmt.Sprintf("%s, %d", events, kills), "1000, 1 short; 50000, 2 long")
	figure(t, "attempts, of which failed by the endpoint", fmt.Sprintf("%d, %d", endpoint.posts, endpoint.failed),
		"30 %")
	figure(t, "delivered, failed and replayable, never queued",
		fmt.Sprintf("%s, %s, %d", delivered, failed, number(t, events)-number(t, queued)), "all, some, 0")
	figure(t, "delivered but never accepted", number(t, delivered)-taken, "≤ 0")
	figure(t, "accepted again, of interrupted attempts", fmt.Sprintf("%d of %s", again, unknown), "at most those")
	figure(t, "until all deliveries were settled, with shortened retry delays", time.Since(begin), "-")
	if number(t, events) < 2*emails || number(t, failed) == 0 || queued != events || taken < number(t, delivered) ||
		again > number(t, unknown) || number(t, delivered)+number(t, failed) != number(t, events) {
		t.Errorf("events %s, queued %s, delivered %s, failed %s, taken %d, again %d, unknown %s", events, queued,
			delivered, failed, taken, again, unknown)
	}

	rounds := 0
	for ; taken < number(t, events) && rounds < 20; rounds++ {
		a := server.Do(t.Context(), http.MethodPost, "/api/webhooks/"+made.Webhook.ID+"/recover",
			`{"since":"2026-01-01T00:00:00Z","only_failed":true}`)
		if a.Status != http.StatusOK {
			t.Fatalf("recover: %d %s", a.Status, a.Body)
		}
		expect.EventuallyWithin(t, 5*time.Minute, "recovered deliveries are settled",
			func() bool { return waiting() == "0" })
		taken, _ = endpoint.counts()
	}
	figure(t, "accepted after recoveries", fmt.Sprintf("%d after %d", taken, rounds), "all")
	if taken != number(t, events) {
		t.Errorf("%d of %s events were accepted", taken, events)
	}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatalf("the text %q is not a number: %v", text, err)
	}
	return n
}

// passTime makes pending retries due, as if the five minutes of the schedule had passed. It excludes attempts
// in progress; the claims of a killed process are released by the process that is started under its name.
func passTime(s *faults.Server) {
	s.Query(`UPDATE webhook_works d SET due_at = now() WHERE due_at > now() + interval '1 second' AND NOT EXISTS (
		SELECT FROM webhook_attempts a WHERE a.delivery_id = d.id AND a.outcome IS NULL)`)
	noDeferral(s)
}

// sendBatches sends n emails. A batch without a response is sent again with its key.
func sendBatches(t *testing.T, s *faults.Server, n int) {
	t.Helper()
	const size = 50
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for at := 0; at < n; at += size {
		items := make([]string, size)
		for i := range items {
			items[i] = fmt.Sprintf(`{"from":"ada@dev.test","to":"w%d@example.net","subject":"s","text":"t"}`, at+i)
		}
		for s.Do(t.Context(), http.MethodPost, "/api/emails/batch", `{"emails":[`+strings.Join(items, ",")+`]}`,
			"Idempotency-Key", fmt.Sprint("batch-", at)).Status != http.StatusOK {
			select {
			case <-pause.C:
			case <-t.Context().Done():
				return
			}
		}
	}
}
