package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// listener is a webhook endpoint that records received events.
type listener struct {
	*httptest.Server

	mu    sync.Mutex
	heard map[string]int // by event id
	posts int
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{heard: map[string]int{}}
	l.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.posts++
		l.heard[r.Header.Get("Service-Event-Id")]++
	}))
	t.Cleanup(l.Close)
	return l
}

// counts returns the number of received events, and the number of additional POST requests.
func (l *listener) counts() (heard, again int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.heard), l.posts - len(l.heard)
}

// countPosts returns the number of POST requests.
func (l *listener) countPosts() int {
	heard, again := l.counts()
	return heard + again
}

// subscribe creates an endpoint; more is appended to the request.
func (l *listener) subscribe(t *testing.T, s *faults.Server, more string) (id string) {
	t.Helper()
	var made struct{ Webhook struct{ ID string } }
	a := s.Do(t.Context(), http.MethodPost, "/api/webhooks", `{"url":"`+l.URL+`"`+more+`}`)
	if json.Unmarshal(a.Body, &made) != nil || made.Webhook.ID == "" {
		t.Fatalf("create an endpoint: %d %s", a.Status, a.Body)
	}
	return made.Webhook.ID
}

// Three processes on one database: each message, each scheduled one and each event is handled once,
// whichever process handles it. The rate of an endpoint applies to all processes together.
func TestDrillThreeNodesHandleEverythingOnce(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	nodes := faults.StartCluster(t, dbtest.URL(t), 3, outbound(sink.Listen("127.0.0.1:0")))
	ledger := faults.NewLedger()
	all, limited := newListener(t), newListener(t)
	const rate = 20
	// excluding events about domain checks
	all.subscribe(t, nodes[0], `,"events":["email.scheduled","email.sent","email.delivered"]`)
	slow := limited.subscribe(t, nodes[1], fmt.Sprintf(`,"events":["email.delivered"],"rate_limit":%d`, rate))
	sends, scheduled := lengthOf(240, 2100), lengthOf(120, 1200)
	far := time.Now().Add(24 * time.Hour)
	at(12, sends+scheduled, func(i int) {
		node, to := nodes[i%len(nodes)], fmt.Sprintf("n%d@example.net", i)
		if i < scheduled {
			ledger.Schedule(t.Context(), node, to, far)
			return
		}
		ledger.Send(t.Context(), node, to)
	})
	due := rescheduleSoon(t, nodes[0], scheduled)
	expect.Eventually(t, "everything has arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, nodes[0])
	events, delivered := 2*sends+3*scheduled, sends+scheduled // sent and delivered, and scheduled
	expect.Eventually(t, "every event was received", func() bool { heard, _ := all.counts(); return heard == events })
	expect.EventuallyWithin(t, 3*time.Minute, "every event was received at the rate",
		func() bool { heard, _ := limited.counts(); return heard == delivered })

	var early int
	for _, line := range sink.Lines() {
		var i int
		if _, err := fmt.Sscanf(line.Recipient, "n%d@", &i); err != nil {
			t.Fatal(err)
		}
		if i < scheduled && line.At.Before(due) {
			early++
		}
	}
	_, again := all.counts()
	_, againSlow := limited.counts()
	share := nodes[0].Query(`SELECT string_agg(n::text, ', ' ORDER BY n) FROM (SELECT count(*) AS n FROM attempts GROUP BY node) c`)[0][0]
	over := overRate(t, nodes[0], slow, rate)
	figure(t, "sends and scheduled ones", fmt.Sprintf("%d, %d", sends, scheduled), "2100, 1200 long")
	figure(t, "delivered by each node", share, "all three")
	figure(t, "scheduled messages that arrived early", early, "0")
	figure(t, "events, delivered again", fmt.Sprintf("%d, %d", events, again+againSlow), "all, 0")
	figure(t, "over the rate of an endpoint", fmt.Sprintf("%.2f", over), "0")
	result := ledger.Audit(sink, nil, nil)
	audit(t, result)
	if over > 0.01 || early > 0 || again+againSlow > 0 || result.Duplicates > 0 || ledger.Count() != sends+scheduled {
		t.Errorf("%.2f over the rate, %d early, %d events delivered again, %d duplicates, %d accepted", over, early,
			again+againSlow, result.Duplicates, ledger.Count())
	}
}

// overRate returns by how many attempts an endpoint exceeded its rate and four concurrent deliveries, in the
// worst period, by the database clock.
func overRate(t *testing.T, s *faults.Server, webhookID string, rate float64) (over float64) {
	t.Helper()
	var times []float64
	for _, row := range s.Query(`SELECT extract(epoch FROM a.started_at) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
		WHERE d.webhook_id = $1 ORDER BY a.started_at`, webhookID) {
		at, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	const burst = 4
	for i, from := range times {
		for j, to := range times[i:] {
			over = max(over, float64(j+1)-burst-(to-from)*rate)
		}
	}
	return over
}

// The caps and the rate of an account apply to all processes together.
func TestDrillCapsAndRatesApplyAcrossNodes(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	nodes := faults.StartCluster(t, dbtest.URL(t), 3, outbound(sink.Listen("127.0.0.1:0")))
	again := func(set string) { // their caches of the account are cleared
		for _, node := range nodes {
			if err := node.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		nodes[0].Query(`UPDATE plans SET ` + set)
		nodes[0].Query(`UPDATE accounts SET unmetered = false`)
		for _, node := range nodes {
			node.Launch()
		}
	}
	const capped = 97
	again(fmt.Sprintf(`monthly_emails = %d, daily_emails = NULL, requests_per_second = 100000`, capped))
	ledger := faults.NewLedger()
	at(lengthOf(60, 500), 500,
		func(i int) { ledger.Send(t.Context(), nodes[i%len(nodes)], fmt.Sprintf("c%d@example.net", i)) })
	figure(t, "accepted of 500 at a cap of 97", ledger.Count(), "97")
	if ledger.Count() != capped {
		t.Errorf("%d were accepted at a cap of %d", ledger.Count(), capped)
	}

	const rate, length = 10, 6 * time.Second
	again(fmt.Sprintf(`monthly_emails = NULL, daily_emails = NULL, requests_per_second = %d`, rate))
	var admitted, asked atomic.Int64
	begin := time.Now()
	const enough = (2*rate + rate*int64(length/time.Second)) * 8 / 10
	// requests that come too late are not admitted later, so the short form sends for longer if necessary
	at(12, 12, func(i int) {
		for time.Since(begin) < length || !long && admitted.Load() < enough && time.Since(begin) < expect.Patience {
			asked.Add(1)
			if a := nodes[i%len(nodes)].Do(t.Context(), http.MethodGet, "/api/account", ""); a.Status == http.StatusOK {
				admitted.Add(1)
			}
		}
	})
	most := int64(2*rate) + int64(rate*time.Since(begin).Seconds()) + 1
	figure(t, "admitted in 6s at 10/s with a burst of two seconds' worth", admitted.Load(),
		fmt.Sprintf("≤ %d of %d", most, asked.Load()))
	if n := admitted.Load(); n > most || n < enough {
		t.Errorf("%d of %d requests were admitted, want %d to %d", n, asked.Load(), enough, most)
	}
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, nodes[0])
	audit(t, ledger.Audit(sink, nil, nil))
}
