package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// A base backup is taken under load and the log is archived. The database is lost, and restored to a moment.
// Mail accepted by then is present, including waiting mail. Nothing is sent before an operator allows it,
// and mail sent before the failure is never sent again.
func TestDrillPointInTime(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	slow := sink.Listen("127.0.0.1:0")
	slow.Set(faults.Reply, faults.Slow)
	host := outbound(slow)
	primary := dbtest.NewServer(t)
	archive := primary.Archive()
	first := faults.Start(t, primary.URL(), host)
	endpoint := newListener(t)
	endpoint.subscribe(t, first, `,"events":["email.delivered"]`)

	kept := faults.Begin(first, 1) // with scheduled emails
	count := func(n int) {
		t.Helper()
		expect.Eventually(t, "the load is running", func() bool { return kept.Count() >= n })
	}
	count(lengthOf(50, 2000))
	archive.TakeBase()
	count(kept.Count() + lengthOf(50, 2000))
	waits := lengthOf(10, 100)
	due := time.Now().Add(20 * time.Second) // a while after that moment
	for i := range waits {
		kept.Schedule(t.Context(), first, fmt.Sprintf("waits%d@example.net", i), due)
	}
	slow.Set(faults.Reply, faults.Hold)
	expect.Eventually(t, "deliveries are in progress",
		func() bool { return slow.Hits() > 0 && len(first.OpenAttempts()) > 0 })
	kept.End()
	moment := first.Query(`SELECT clock_timestamp()::text`)[0][0]
	if err := slow.Clear(); err != nil {
		t.Fatal(err)
	}
	gone := faults.NewLedger()
	at(4, lengthOf(50, 1000), func(i int) { gone.Send(t.Context(), first, fmt.Sprintf("after%d@example.net", i)) })
	expect.Eventually(t, "everything has been sent", func() bool { return kept.Missing(sink)+gone.Missing(sink) == 0 })
	awaitIdle(t, first)
	expect.Eventually(t, "every event was received",
		func() bool { heard, _ := endpoint.counts(); return heard >= kept.Count()+gone.Count() })
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	failure := time.Now()
	archive.Finish(t)
	primary.Stop()
	left, posted := sink.Count(), endpoint.countPosts()

	began := time.Now()
	restored := archive.Restore(moment)
	figure(t, "database restored after", time.Since(began), "-")
	there := map[string]bool{}
	rows, err := faults.Query(t.Context(), restored.URL(), `SELECT id FROM emails`)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		there[row[0]] = true
	}
	absent, beyond := 0, 0
	for id := range kept.EmailIDs() {
		if !there[id] {
			absent++
		}
	}
	for id := range gone.EmailIDs() {
		if there[id] {
			beyond++
		}
	}
	figure(t, "accepted by the moment, and present",
		fmt.Sprintf("%d of %d", len(kept.EmailIDs())-absent, len(kept.EmailIDs())), "all")
	figure(t, "accepted after it, and present", fmt.Sprintf("%d of %d", beyond, len(gone.EmailIDs())), "0")
	rows, err = faults.Query(t.Context(), restored.URL(), `SELECT count(*) FROM attempts WHERE outcome IS NULL`)
	if err != nil || rows[0][0] == "0" {
		t.Errorf("%v attempts were in progress at the moment (%v), want some", rows, err)
	}
	figure(t, "attempts in progress at the moment", rows[0][0], "some")
	if absent+beyond > 0 {
		t.Errorf("%d emails accepted by the moment are missing, and %d accepted after it are present", absent, beyond)
	}

	first.Command(restored.URL(), "hold", "set", "--reason", "restored to a moment")
	second := first.Moved(restored.URL(), host)
	fresh := faults.NewLedger()
	for i := range lengthOf(10, 100) {
		fresh.Send(t.Context(), second, fmt.Sprintf("fresh%d@example.net", i))
	}
	expect.Eventually(t, "it has been held for some seconds", func() bool {
		var ready struct {
			Held float64 `json:"delivery_held_seconds"`
		}
		a := second.Do(t.Context(), http.MethodGet, "/readyz", "")
		return json.Unmarshal(a.Body, &ready) == nil && ready.Held >= lengthOf(6.0, 30.0)
	})
	figure(t, "sent while the installation was held", sink.Count()-left+endpoint.countPosts()-posted, "0")
	if sink.Count() != left || endpoint.countPosts() != posted {
		t.Errorf("%d emails and %d webhooks were sent while the installation was held", sink.Count()-left,
			endpoint.countPosts()-posted)
	}

	var dropped struct {
		Recipients int `json:"recipients"`
		Scheduled  int `json:"scheduled_emails"`
		Webhooks   int `json:"webhooks"`
	}
	if err := json.Unmarshal(first.Command(restored.URL(), "hold", "drop", "--due-before", failure.UTC().
		Format(time.RFC3339Nano)), &dropped); err != nil {
		t.Fatal(err)
	}
	figure(t, "dropped: recipients, scheduled, webhooks",
		fmt.Sprintf("%d, %d, %d", dropped.Recipients, dropped.Scheduled, dropped.Webhooks),
		fmt.Sprintf("≥ %d scheduled", waits))
	if dropped.Scheduled < waits {
		t.Errorf("%d scheduled emails were dropped, want at least the %d that waited at the moment", dropped.Scheduled,
			waits)
	}
	first.Command(restored.URL(), "hold", "release")
	expect.Eventually(t, "mail accepted after the restore has arrived", func() bool { return fresh.Missing(sink) == 0 })
	awaitIdle(t, second)
	result := fresh.Audit(sink, nil, nil) // counts the copies of all messages
	figure(t, "doubled", result.Duplicates, "0")
	audit(t, result)
}
