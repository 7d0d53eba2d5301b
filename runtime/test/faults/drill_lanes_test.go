package faults_test

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// A burst by MX to many domains fills their lanes, so that most recipients are parked. Each is unparked as soon
// as its lane has room, so none waits while nothing is sent to its domain. Single messages to one more domain
// show what the server could have delivered in that time, however slow the machine is.
func TestDrillParkedRecipientsDoNotOutwaitTheirLane(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink, dns := faults.NewSink(t), dnsxtest.New(t)
	host := sink.Listen("127.0.0.1:0")
	_, port, err := net.SplitHostPort(host.Addr())
	if err != nil {
		t.Fatal(err)
	}
	domains, messages, clients := lengthOf(30, 100), lengthOf(900, 3000), lengthOf(32, 64)
	names := []string{beatDomain}
	for i := range domains {
		names = append(names, fmt.Sprintf("d%d.test", i))
	}
	for _, name := range names {
		dns.Add(t, name+". 60 IN MX 10 mx."+name+".", "mx."+name+". 60 IN A 127.0.0.1")
	}
	server := faults.Start(t, dbtest.URL(t), "POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS="+dns.Addr(), "POSTRIDER_MX_PORT="+
		port, "POSTRIDER_MX_ALLOW=127.0.0.0/8")
	longest, rates := journey{}, []int(nil)
	for round := range lengthOf(1, 8) {
		ledger := faults.NewLedger()
		begin := time.Now()
		stop := sendBeats(t, server, ledger)
		at(clients, messages,
			func(i int) { ledger.Send(t.Context(), server, fmt.Sprintf("r%dn%d@d%d.test", round, i, i%domains)) })
		expect.Eventually(t, "every message has arrived", func() bool { return ledger.Missing(sink) == 0 })
		rates = append(rates, int(float64(messages)/time.Since(begin).Seconds()))
		stop()
		expect.Eventually(t, "every message has arrived", func() bool { return ledger.Missing(sink) == 0 })
		awaitIdle(t, server)
		for _, j := range journeysSince(t, server, begin) {
			if j.beats > longest.beats || j.beats == longest.beats && j.idle > longest.idle {
				longest = j
			}
		}
		audit(t, ledger.Audit(sink, server.Unknown(), nil))
	}
	figure(t, "messages a second by MX, by round", fmt.Sprint(rates), "-")
	figure(t, "longest wait while the lane was idle", longest.idle, "≤ "+longestIdle.String())
	figure(t, "messages delivered to another domain in that time", longest.beats, fmt.Sprintf("≤ %d", mostBeats))
	if longest.beats > mostBeats || long && longest.idle > longestIdle {
		t.Errorf("%s waited %s although nothing was sent to its domain; %d messages to another domain were accepted and delivered in that time", longest.address, longest.idle, longest.beats)
	}
}

const (
	beatDomain  = "beat.test"
	beatEvery   = 50 * time.Millisecond
	longestIdle = 2500 * time.Millisecond
	mostBeats   = int(longestIdle / beatEvery)
)

// sendBeats sends to beatDomain, one message after the other, until the returned function is called.
func sendBeats(t *testing.T, server *faults.Server, ledger *faults.Ledger) (stop func()) {
	t.Helper()
	stopping, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
				ledger.Send(t.Context(), server, fmt.Sprintf("b%d@%s", i, beatDomain))
			case <-stopping:
				return
			}
		}
	}()
	return func() {
		close(stopping)
		<-ended
	}
}

// span is a period of time, by the database clock.
type span struct{ from, to time.Time }

// journey is how long a recipient waited although nothing was sent to its domain.
type journey struct {
	address string
	idle    time.Duration // the longest such period
	beats   int           // messages to beatDomain that were accepted and claimed within one such period
}

// journeysSince returns a journey for each recipient accepted since a time, except those of beatDomain.
func journeysSince(t *testing.T, server *faults.Server, begin time.Time) (all []journey) {
	t.Helper()
	type waited struct {
		address, domain string
		wait            span
	}
	var recipients []waited
	var beats []span
	sending := map[string][]span{} // attempts by domain, in the order of their start
	for _, row := range server.Query(`SELECT r.address, extract(epoch FROM r.queued_at), extract(epoch FROM a.started_at), extract(epoch FROM a.finished_at)
		FROM recipients r JOIN attempts a ON a.recipient_id = r.id WHERE r.queued_at >= $1 ORDER BY a.started_at`, begin) {
		var times [3]time.Time
		for i := range times {
			seconds, err := strconv.ParseFloat(row[i+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			times[i] = time.UnixMicro(int64(seconds * 1e6))
		}
		_, domain, _ := strings.Cut(row[0], "@")
		wait := span{times[0], times[1]}
		if domain == beatDomain {
			beats = append(beats, wait)
			continue
		}
		recipients = append(recipients, waited{row[0], domain, wait})
		sending[domain] = append(sending[domain], span{times[1], times[2]})
	}
	for _, r := range recipients {
		j := journey{address: r.address}
		for _, idle := range idleWithin(r.wait, sending[r.domain]) {
			j.idle = max(j.idle, idle.to.Sub(idle.from))
			j.beats = max(j.beats, countWithin(idle, beats))
		}
		all = append(all, j)
	}
	return all
}

// idleWithin returns the parts of a span that none of the others covers. The others are sorted.
func idleWithin(of span, others []span) (idle []span) {
	from := of.from
	for _, o := range others {
		if o.from.After(of.to) {
			break
		}
		if o.from.After(from) {
			idle = append(idle, span{from, o.from})
		}
		if o.to.After(from) {
			from = o.to
		}
	}
	if of.to.After(from) {
		idle = append(idle, span{from, of.to})
	}
	return idle
}

// countWithin counts the spans within another span.
func countWithin(outer span, inner []span) (n int) {
	for _, s := range inner {
		if !s.from.Before(outer.from) && !s.to.After(outer.to) {
			n++
		}
	}
	return n
}
