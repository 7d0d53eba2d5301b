package faults_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// answerLimit is the promised six seconds, plus a margin for a loaded machine.
const answerLimit = 6*time.Second + 500*time.Millisecond

// A database in immediate shutdown under load causes 503 responses while it is down.
func TestDatabaseStoppedImmediatelyLosesNothing(t *testing.T) {
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	database := dbtest.NewServer(t)
	server := faults.Start(t, database.URL(), outbound(host))
	load := faults.Begin(server, lengthOf(1, 2))
	var recovery, delivery, arrival time.Duration
	open := map[faults.Accepted]int{}
	times := lengthOf(1, 100)
	for i := range times {
		before := sink.Count()
		expect.Eventually(t, "the load is running", func() bool { return sink.Count() > before+50 })
		stopped := time.Now()
		if err := syscall.Kill(database.PID(), syscall.SIGQUIT); err != nil { // pg_ctl stop -m immediate
			t.Fatal(err)
		}
		database.Stop()
		outage := lengthOf(3*time.Second, 2*time.Second)
		if i%10 == 9 {
			outage = 15 * time.Second // longer than the leases
		}
		<-time.After(outage)
		if i == 0 {
			awaitOutage(t, load)
		}
		database.Start()
		back := time.Now()
		arrived := sink.Count()
		expect.Eventually(t, "mail is accepted again", func() bool { return load.LastAccepted().After(back) })
		recovery = max(recovery, time.Since(back))
		expect.Eventually(t, "mail is delivered again", func() bool { return sink.Count() > arrived })
		delivery = max(delivery, time.Since(back))
		// otherwise repeated stops leave more mail than the last minute can deliver
		expect.Eventually(t, "mail accepted before the stop has arrived",
			func() bool { return load.MissingOf(sink, stopped) == 0 })
		arrival = max(arrival, time.Since(back))
		for one, n := range server.OpenBetween(stopped, back) {
			open[one] += n
		}
	}
	load.End()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, server)
	figure(t, "stops", times, "1 short, 100 long")
	checkOutageResponses(t, load)
	atMost(t, "accepts again after it is back", recovery, 15*time.Second)
	atMost(t, "delivers again after it is back", delivery, 30*time.Second)
	atMost(t, "mail accepted before the stop has arrived after it is back", arrival, time.Minute)
	audit(t, load.Audit(sink, open, nil))
}

// awaitOutage waits until a request has failed; idle callers notice later than others.
func awaitOutage(t *testing.T, load *faults.Load) {
	t.Helper()
	expect.Eventually(t, "a request fails because of the outage", func() bool {
		counts, _ := load.Statuses()
		return counts[http.StatusServiceUnavailable] > 0
	})
}

// checkOutageResponses checks the responses during an outage: 2xx, 503 and other permitted statuses, in time.
func checkOutageResponses(t *testing.T, load *faults.Load, also ...int) {
	t.Helper()
	counts, slowest := load.Statuses()
	figure(t, "responses", fmt.Sprint(counts), "2xx and 503")
	for status, n := range counts {
		if status != http.StatusOK && status != http.StatusServiceUnavailable && !slices.Contains(also, status) {
			t.Errorf("%d responses had status %d", n, status)
		}
		atMost(t, fmt.Sprintf("slowest response %d", status), slowest[status], answerLimit)
	}
	if counts[http.StatusServiceUnavailable] == 0 {
		t.Error("no request failed during the outage")
	}
}

// A frozen database counts as unavailable: every request gets a response, the process stays alive, and
// nothing piles up.
func TestFrozenDatabaseReturnsUnavailable(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	database := dbtest.NewServer(t)
	server := faults.Start(t, database.URL(), outbound(host))
	warm := faults.Begin(server, 1)
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 50 })
	base := countGoroutines(t, server) // under load
	load := faults.Begin(server, 1)
	warm.End()
	host.Set(faults.Reply, faults.Slow) // long enough for many deliveries to be in progress
	expect.Eventually(t, "deliveries are in progress", func() bool { return host.Hits() >= 20 })

	database.Freeze()
	frozen := time.Now()
	unready := time.Duration(0)
	for alive, length := 0, lengthOf(8*time.Second, time.Minute); alive < 10 || unready == 0 ||
		time.Since(frozen) < length; alive++ {
		if a := server.Do(t.Context(), http.MethodGet, "/readyz", ""); a.Status == http.StatusServiceUnavailable &&
			unready == 0 {
			unready = time.Since(frozen)
		}
		if a := server.Do(t.Context(), http.MethodGet, "/healthz", ""); a.Status != http.StatusOK ||
			a.Took > time.Second+busy {
			t.Errorf("liveness: %d after %s", a.Status, a.Took)
		}
		if time.Since(frozen) > length+expect.Patience {
			t.Fatal("the process never reported that it is not ready")
		}
		<-time.After(200 * time.Millisecond)
	}
	during := countGoroutines(t, server)
	awaitOutage(t, load)
	if err := host.Clear(); err != nil {
		t.Fatal(err)
	}
	thawed := time.Now()
	database.Thaw()
	expect.Eventually(t, "mail is accepted again", func() bool { return load.LastAccepted().After(thawed) })
	recovery := time.Since(thawed)
	expect.Eventually(t, "the goroutines of the outage have ended",
		func() bool { return countGoroutines(t, server) <= base+base/5 })
	ebb := time.Since(thawed)
	load.End()
	expect.Eventually(t, "all accepted mail has arrived",
		func() bool { return load.Missing(sink)+warm.Missing(sink) == 0 })
	awaitIdle(t, server)

	atMost(t, "readiness is false after", unready, 10*time.Second)
	checkOutageResponses(t, load)
	figure(t, "goroutines before and during", fmt.Sprintf("%d, %d", base, during), "-")
	atMost(t, "goroutines are back after", ebb, 30*time.Second)
	atMost(t, "accepts again after", recovery, 15*time.Second)
	audit(t, load.Audit(sink, server.OpenBetween(frozen, thawed), nil))
}

// A database that takes seconds for each write is not unavailable, and clients still get their responses in
// time: all waits of a request add up to at most its six seconds, and a late end is not reported as an
// internal error.
func TestOverloadedDatabaseRespondsInTime(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	database := dbtest.NewServer(t)
	server := faults.Start(t, database.URL(), outbound(host))
	slow := database.OpenPatiently()
	dbtest.Exec(t, slow,
		`CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2.4); RETURN NULL; END'`)
	tables := []string{"rate_limits", "emails"}
	for _, table := range tables {
		dbtest.Exec(t, slow, `CREATE TRIGGER slow BEFORE INSERT ON `+table+` FOR EACH STATEMENT EXECUTE FUNCTION be_slow()`)
	}
	begun := time.Now()
	load := faults.Begin(server, 8)
	expect.Eventually(t, "many requests got responses",
		func() bool { return load.Count() > 0 && time.Since(begun) > lengthOf(15*time.Second, time.Minute) })
	for _, table := range tables {
		dbtest.Exec(t, slow, `DROP TRIGGER slow ON `+table)
	}
	quick := time.Now()
	expect.Eventually(t, "mail is accepted again", func() bool { return load.LastAccepted().After(quick) })
	load.End()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, server)
	checkOutageResponses(t, load, http.StatusConflict) // a key whose first request is still running
	audit(t, load.Audit(sink, server.OpenBetween(begun, quick), nil))
}

func countGoroutines(t *testing.T, server *faults.Server) int {
	t.Helper()
	a := server.Do(t.Context(), http.MethodGet, "/metrics", "")
	for line := range strings.Lines(string(a.Body)) {
		if value, found := strings.CutPrefix(line, "go_goroutines "); found {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no go_goroutines in the metrics: %d", a.Status)
	return 0
}
