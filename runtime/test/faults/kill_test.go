package faults_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// Kills at random points: all accepted mail arrives once, except for the attempts that were open when the
// process died.
func TestKillsAtRandomPointsLoseNothing(t *testing.T) {
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	server := faults.Start(t, dbtest.URL(t), outbound(host))
	load := faults.Begin(server, lengthOf(1, 2))
	kills := lengthOf(10, 200)
	open := map[faults.Accepted]int{}
	counted := map[string]bool{}
	heldSince := map[faults.Accepted]time.Time{}
	var resumed time.Duration
	for range kills {
		<-time.After(100*time.Millisecond + rand.N(800*time.Millisecond))
		server.Kill()
		killed := time.Now()
		for id, one := range server.OpenAttempts() {
			if !counted[id] { // from an earlier kill whose lease has not expired
				counted[id] = true
				open[one]++
				heldSince[one] = killed
			}
		}
		before := sink.Count()
		server.Launch()
		expect.Eventually(t, "delivery continues", func() bool { return sink.Count() > before })
		resumed = max(resumed, time.Since(killed))
	}
	load.End()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, server)

	figure(t, "kills", kills, "10 short, 200 long")
	audit(t, load.Audit(sink, open, nil))
	atMost(t, "delivery resumes after a kill, longest", resumed, 30*time.Second)
	figure(t, "claims of the killed process arrive after, longest", heldFor(sink, heldSince),
		"its lease of 12s, and a poll")
	if n := load.Contradictions(); n > 0 {
		t.Errorf("%d replays of a key had a different response", n)
	}
	oneEmailPerRecipient(t, sink)
}

// heldFor returns the longest wait of messages with open attempts at a kill.
func heldFor(sink *faults.Sink, since map[faults.Accepted]time.Time) (longest time.Duration) {
	last := map[faults.Accepted]time.Time{}
	for _, line := range sink.Lines() {
		one := faults.Accepted{EmailID: line.EmailID(), Recipient: line.Recipient}
		if line.At.After(since[one]) && !since[one].IsZero() {
			last[one] = line.At
		}
	}
	for one, at := range last {
		longest = max(longest, at.Sub(since[one]))
	}
	return longest
}

// oneEmailPerRecipient checks keyed sends, each with a unique recipient: a key that was retried until it got
// a response has created one message. Other callers do not retry.
func oneEmailPerRecipient(t *testing.T, sink *faults.Sink) {
	t.Helper()
	messages := map[string]string{}
	for _, line := range sink.Lines() {
		if other := messages[line.Recipient]; other != "" && other != line.Message {
			t.Errorf("%s had two messages, %s and %s", line.Recipient, other, line.Message)
		}
		messages[line.Recipient] = line.Message
	}
}

// awaitIdle waits until nothing is in progress.
func awaitIdle(t *testing.T, server *faults.Server) {
	t.Helper()
	expect.Eventually(t, "every outcome is stored", func() bool {
		return server.Query(`SELECT count(*) FROM recipients WHERE settled_at IS NULL`)[0][0] == "0"
	})
}

// A drain under load ends in time and leaves no work unfinished.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	host.Set(faults.Reply, faults.Slow) // long enough for many deliveries to be in progress
	server := faults.Start(t, dbtest.URL(t), outbound(host))
	load := faults.Begin(server, 1)
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 20 })
	begin := time.Now()
	server.Signal(syscall.SIGTERM)
	err := server.Ended()
	took := time.Since(begin)
	open := server.OpenAttempts()
	load.End()
	if err != nil || len(open) > 0 {
		t.Errorf("the drain ended with %v and left %d attempts open", err, len(open))
	}
	if err := host.Clear(); err != nil {
		t.Fatal(err)
	}
	server.Launch()
	expect.Eventually(t, "the rest has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, server)
	atMost(t, "drain under load", took, 30*time.Second)
	audit(t, load.Audit(sink, nil, nil))
}

// A worker that is suspended past its lease and resumes sends nothing that another worker has sent in the
// meantime.
func TestSuspendedWorkerDoesNotResend(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	host.Set(faults.Envelope, faults.Hold)
	first := faults.Start(t, dbtest.URL(t), outbound(host))
	load := faults.Begin(first, 1)
	expect.Eventually(t, "deliveries are in progress", func() bool { return host.Hits() > 0 && load.Count() >= 20 })
	load.End()
	first.Signal(syscall.SIGSTOP)
	held := len(first.OpenAttempts())
	if held == 0 {
		t.Fatal("the first worker holds nothing")
	}
	if err := host.Clear(); err != nil { // the replies that the first one waits for are in transit
		t.Fatal(err)
	}
	stopped := time.Now()
	second := first.StartPeer()
	expect.Eventually(t, "the second worker delivers everything", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, second)
	took := time.Since(stopped)
	if err := second.Stop(); err != nil {
		t.Error(err)
	}
	first.Signal(syscall.SIGCONT)
	more := faults.Begin(first, 1)
	expect.Eventually(t, "the first worker is busy again",
		func() bool { return more.Count() > 40 && more.Missing(sink) < more.Count() })
	more.End()
	expect.Eventually(t, "the first worker delivers new mail", func() bool { return more.Missing(sink) == 0 })
	awaitIdle(t, first)
	figure(t, "attempts held by the suspended worker", held, "> 0")
	figure(t, "the second worker has delivered all after", took, "a lease of 12s, plus a margin")
	audit(t, load.Audit(sink, nil, nil))
}

// A process is frozen while receivers hold the reply to the final dot. Another process delivers its mail: at
// most the attempts in progress are duplicated, and operators see the number.
func TestFrozenProcessDuplicatesOnlyAttemptsInProgress(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	host.Set(faults.Reply, faults.Hold)
	nodes := faults.StartCluster(t, dbtest.URL(t), 2, outbound(host))
	first, second := nodes[0], nodes[1]
	ledger := faults.NewLedger()
	messages := lengthOf(60, 300)
	for i := range messages {
		ledger.Send(t.Context(), first, fmt.Sprintf("n%d@example.net", i))
	}
	expect.Eventually(t, "deliveries are in progress", func() bool { return host.Hits() >= 10 })
	first.Signal(syscall.SIGSTOP)
	defer first.Signal(syscall.SIGCONT)
	inFlight, frozen := len(first.OpenAttempts()), time.Now() // attempts of both processes
	if err := host.Clear(); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the other process delivers everything", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, second)
	result := ledger.Audit(sink, second.Unknown(), nil)
	audit(t, result)
	figure(t, "attempts in progress", inFlight, "> 0")
	figure(t, "emails duplicated by the freeze", result.Duplicates, "at most those in progress")
	figure(t, "everything is delivered after", time.Since(frozen), "12 s after the freeze, plus a margin")
	if result.Duplicates == 0 || result.Duplicates > inFlight {
		t.Errorf("%d emails were duplicated while %d attempts were in progress", result.Duplicates, inFlight)
	}
	unknown := 0
	for _, n := range second.Unknown() {
		unknown += n
	}
	want := fmt.Sprintf("postrider_attempts_unknown %d\n", unknown)
	if metrics := second.Do(t.Context(), http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics.Body),
		want) {
		t.Errorf("the metrics do not contain %q", want)
	}
	inDoubt := fmt.Sprintf("postrider_fault_recipients_in_doubt{kind=\"process\",node=\"node-1\"} %d\n", unknown)
	if metrics := second.Do(t.Context(), http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics.Body), inDoubt) {
		t.Errorf("the metrics do not contain %q", inDoubt)
	}
	if ready := second.Do(t.Context(), http.MethodGet, "/readyz", ""); !strings.Contains(string(ready.Body),
		fmt.Sprintf(`"queue_unknown_results":%d`, unknown)) {
		t.Errorf("GET /readyz returned %s, want %d unknown results", ready.Body, unknown)
	}
}
