package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// at runs n jobs, with limited concurrency.
func at(workers, n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				do(int(i) - 1)
			}
		})
	}
	all.Wait()
}

// One key creates one message, however many clients send it concurrently, and all get the same response.
func TestConcurrentEqualRequestsSendOneMessage(t *testing.T) {
	t.Parallel()
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	ledger := faults.NewLedger()
	keys, same := lengthOf(20, 1000), 50
	bodies := make([][][]byte, keys)
	var mu sync.Mutex
	at(lengthOf(1, 4), keys, func(key int) {
		to := fmt.Sprintf("k%d@example.net", key)
		at(same, same, func(int) {
			for {
				a := ledger.Ask(t.Context(), server, to, "Idempotency-Key", to)
				if a.Status == http.StatusConflict { // the first one is still running: retry, as instructed
					continue
				}
				mu.Lock()
				bodies[key] = append(bodies[key], a.Body)
				mu.Unlock()
				return
			}
		})
	})
	different := 0
	for _, all := range bodies {
		for _, body := range all {
			if !bytes.Equal(body, all[0]) {
				different++
			}
		}
	}
	expect.Eventually(t, "every message has arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, server)
	stored := server.Query(`SELECT count(*) FROM emails`)[0][0]
	counts, _ := ledger.Statuses()
	figure(t, "keys, and equal requests for each", fmt.Sprintf("%d x %d", keys, same), "1000 x 50 long")
	figure(t, "responses", fmt.Sprint(counts), "2xx, 409 while the first runs")
	figure(t, "messages stored and sent", fmt.Sprintf("%s, %d", stored, sink.Count()), strconv.Itoa(keys))
	figure(t, "different responses", different, "0")
	if stored != strconv.Itoa(keys) || sink.Count() != keys || different > 0 || counts[http.StatusOK] != keys*same {
		t.Errorf("%s stored, %d sent, %d responses differ: %v", stored, sink.Count(), different, counts)
	}
	audit(t, ledger.Audit(sink, nil, nil))
}

// With ten left of the cap, ten of any number of concurrent requests are accepted.
func TestConcurrentSendsStopAtCap(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	if err := server.Stop(); err != nil { // clears its cache of the account
		t.Fatal(err)
	}
	server.Query(`UPDATE plans SET monthly_emails = 1000, daily_emails = NULL, requests_per_second = 100000`)
	server.Query(`UPDATE accounts SET unmetered = false`)
	server.Query(`INSERT INTO usages (account_id, period, emails) SELECT $1, to_char(now() AT TIME ZONE 'UTC', f), 990 FROM unnest(ARRAY['YYYY-MM', 'YYYY-MM-DD']) f`, server.AccountID)
	server.Launch()
	if kept := server.Query(`SELECT unmetered FROM accounts WHERE id = $1`, server.AccountID)[0][0]; kept != "false" {
		t.Fatalf("the account is unmetered: %s", kept)
	}
	ledger := faults.NewLedger()
	const sends = 500
	var mu sync.Mutex
	finally := map[int]int{} // by status
	at(sends/lengthOf(5, 1), sends, func(i int) {
		to, key := fmt.Sprintf("c%d@example.net", i), fmt.Sprintf("cap-%d", i)
		a := ledger.Ask(t.Context(), server, to, "Idempotency-Key", key)
		for a.Status == http.StatusServiceUnavailable { // a slow machine: repeat as clients do
			a = ledger.Ask(t.Context(), server, to, "Idempotency-Key", key)
		}
		mu.Lock()
		defer mu.Unlock()
		finally[a.Status]++
	})
	figure(t, "accepted of 500 with 10 left", ledger.Count(), "10")
	if want := map[int]int{http.StatusOK: 10, http.StatusTooManyRequests: sends - 10}; ledger.Count() != 10 ||
		!maps.Equal(finally, want) {
		t.Errorf("%d accepted, by status %v, want %v", ledger.Count(), finally, want)
	}
	expect.Eventually(t, "all have arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, server)
	audit(t, ledger.Audit(sink, nil, nil))
}

// rescheduleSoon moves all scheduled emails to one moment in three seconds, and returns it, so that the time needed to
// schedule them does not matter.
func rescheduleSoon(t *testing.T, server *faults.Server, emails int) time.Time {
	t.Helper()
	moment := server.Query(`WITH m AS (SELECT date_trunc('second', now()) + interval '3 seconds' AS at)
		UPDATE emails e SET scheduled_at = m.at, release_at = m.at FROM m WHERE e.status = 'scheduled' RETURNING extract(epoch FROM m.at)`)
	if len(moment) != emails {
		t.Fatalf("%d of %d emails were scheduled", len(moment), emails)
	}
	seconds, err := strconv.ParseFloat(moment[0][0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMicro(int64(seconds * 1e6))
}

// Emails scheduled for one moment are sent once, none early. A cancellation at that moment either succeeds,
// and the email is never sent, or fails with the error that it is too late.
func TestManyScheduledForOneMomentWithCancelRaces(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	ledger := faults.NewLedger()
	messages, races := lengthOf(400, 10_000), lengthOf(150, 5000)
	ids := make([]string, messages)
	far := time.Now().Add(24 * time.Hour)
	at(8, messages, func(i int) {
		ids[i] = ledger.Schedule(t.Context(), server, fmt.Sprintf("s%d@example.net", i),
			far)
	})
	due := rescheduleSoon(t, server, messages)
	<-time.After(time.Until(due) - 50*time.Millisecond)
	var mu sync.Mutex
	cancelled := map[faults.Accepted]bool{}
	answers := map[int]int{}
	at(8, races, func(i int) {
		a := server.Do(context.WithoutCancel(t.Context()), http.MethodPatch, "/api/emails/"+ids[i], `{"cancel":true}`)
		mu.Lock()
		defer mu.Unlock()
		answers[a.Status]++
		if a.Status == http.StatusOK {
			cancelled[faults.Accepted{EmailID: ids[i], Recipient: fmt.Sprintf("s%d@example.net", i)}] = true
		}
	})
	expect.EventuallyWithin(t, 3*time.Minute, "all emails that were not canceled have arrived",
		func() bool { return ledger.Missing(sink) == len(cancelled) })
	expect.Eventually(t, "every outcome is stored", func() bool {
		return server.Query(`SELECT count(*) FROM recipients WHERE settled_at IS NULL`)[0][0] == "0"
	})
	contradictions, late := 0, []time.Duration(nil)
	for _, line := range sink.Lines() {
		if cancelled[faults.Accepted{EmailID: line.EmailID(), Recipient: line.Recipient}] {
			contradictions++
		}
		late = append(late, line.At.Sub(due))
	}
	slices.Sort(late)
	early := server.Query(`SELECT count(*) FROM emails WHERE sent_at < scheduled_at`)[0][0]
	released := server.Query(`SELECT coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM sent_at - scheduled_at)), 0) FROM emails WHERE sent_at IS NOT NULL`)[0][0]
	figure(t, "scheduled for one second, cancel races", fmt.Sprintf("%d, %d", messages, races), "10000, 5000 long")
	figure(t, "canceled and too late", fmt.Sprintf("%d, %d", answers[http.StatusOK], answers[http.StatusConflict]),
		"both")
	figure(t, "released early", early, "0")
	figure(t, "contradictions", contradictions, "0")
	figure(t, "p99 late, released (s)", released, "≤ 10")
	// Arrival is bounded by the delivery speed of this machine.
	figure(t, "p99 late, arrived", late[len(late)*99/100], "-")
	p99, err := strconv.ParseFloat(released, 64)
	if err != nil || early != "0" || contradictions > 0 || late[0] < 0 || p99 > 10+busy.Seconds() ||
		answers[http.StatusOK]+answers[http.StatusConflict] != races {
		t.Errorf("early %s, contradictions %d, first %s, p99 %s, responses %v (%v)", early, contradictions, late[0],
			released, answers, err)
	}
	audit(t, ledger.Audit(sink, nil, cancelled))
}
