package faults_test

import (
	"fmt"
	"maps"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// cell is one fault at one phase, at its own mail host.
type cell struct {
	fault faults.Fault
	phase faults.Phase
	host  *faults.Host
	to    string
}

// newCells returns a mail host for every fault at every phase: all on one port, each on its own loopback address.
func newCells(t *testing.T, sink *faults.Sink, dns *dnsxtest.Server) (all []cell, port string) {
	t.Helper()
	port = "0"
	for i, fault := range faults.Faults {
		for j, phase := range faults.Phases {
			ip := fmt.Sprintf("127.77.%d.%d", i+1, j+1)
			host := sink.Listen(net.JoinHostPort(ip, port))
			_, port, _ = net.SplitHostPort(host.Addr())
			name := fmt.Sprintf("f%dp%d.test", i, j)
			dns.Add(t, name+". 60 IN MX 10 mx."+name+".", "mx."+name+". 60 IN A "+ip)
			host.Set(phase, fault)
			all = append(all, cell{fault: fault, phase: phase, host: host, to: "bob@" + name})
		}
	}
	return all, port
}

// Whatever happens to a connection at whatever phase, the message arrives. It arrives once more for each
// lost final reply, and that is recorded.
func TestNetworkFaultsAtEveryPhase(t *testing.T) {
	t.Parallel()
	sink, dns := faults.NewSink(t), dnsxtest.New(t)
	all, port := newCells(t, sink, dns)
	server := faults.Start(t, dbtest.URL(t), "POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS="+dns.Addr(), "POSTRIDER_MX_PORT="+port, "POSTRIDER_MX_ALLOW=127.0.0.0/8")
	ledger := faults.NewLedger()
	silent := 0
	for _, c := range all {
		ledger.Send(t.Context(), server, c.to)
		if c.fault == faults.Silence {
			silent++
		}
	}
	expect.Eventually(t, "every attempt except the silent ones has ended", func() bool {
		return server.Query(`SELECT count(*) FROM attempts WHERE outcome IS NULL`)[0][0] == strconv.Itoa(silent) &&
			server.Query(`SELECT count(DISTINCT recipient_id) FROM attempts WHERE outcome IS NOT NULL`)[0][0] == strconv.Itoa(len(all)-silent)
	})
	longest := server.Query(`SELECT max(extract(epoch FROM finished_at - started_at) * 1000)::int FROM attempts`)[0][0]
	for _, c := range all {
		if c.phase != faults.Connect && c.host.Hits() == 0 {
			t.Errorf("%s at %s never occurred", c.fault, c.phase)
		}
		if err := c.host.Clear(); err != nil {
			t.Fatal(err)
		}
	}
	expect.Eventually(t, "the silent ones end when they are cut",
		func() bool { return len(server.OpenAttempts()) == 0 })
	if err := server.Stop(); err != nil { // forgets the state of the hosts
		t.Error(err)
	}
	unanswered := sink.Unanswered()
	noDeferral(server)
	server.Launch()
	expect.Eventually(t, "every message has arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, server)

	copies := map[faults.Pair]int{}
	for _, line := range sink.Lines() {
		copies[line.Pair]++
	}
	unknown := server.Unknown()
	doubled := 0
	for pair, n := range copies {
		one := faults.Accepted{EmailID: pair.EmailID(), Recipient: pair.Recipient}
		if n != 1+unanswered[pair] || unknown[one] < unanswered[pair] {
			t.Errorf("%+v arrived %d times; %d replies were lost, %d attempts are recorded as unknown", pair, n,
				unanswered[pair], unknown[one])
		}
		doubled += n - 1
	}
	for _, c := range all {
		for pair := range unanswered {
			if pair.Recipient == c.to && c.phase != faults.Reply {
				t.Errorf("%s at %s: a copy was accepted without a reply", c.fault, c.phase)
			}
		}
	}
	figure(t, "cells", len(all), "36")
	figure(t, "longest attempt without a silence (ms)", longest, "immediate")
	figure(t, "duplicates in the cells of the final reply", doubled, "5: one for each except slow")
	if doubled < len(faults.Faults)-1 || long && doubled > len(faults.Faults)-1 { // after a minute each is retried
		t.Errorf("%d duplicates", doubled)
	}
	audit(t, ledger.Audit(sink, unknown, nil))
}

// Lost final replies are counted exactly: an attempt with an unknown end, and one more copy under the same
// Message-ID.
func TestLostFinalRepliesAreRecorded(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	host.Set(faults.Reply, faults.Reset)
	server := faults.Start(t, dbtest.URL(t), outbound(host))
	ledger := faults.NewLedger()
	messages := lengthOf(20, 500)
	for i := range messages {
		ledger.Send(t.Context(), server, fmt.Sprintf("n%d@example.net", i))
	}
	// After failures, later messages may be delayed, so not all need to be tried.
	expect.Eventually(t, "replies are lost", func() bool { return host.Hits() >= min(messages, 5) })
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	unanswered := sink.Unanswered()
	if err := host.Clear(); err != nil {
		t.Fatal(err)
	}
	noDeferral(server)
	server.Launch()
	expect.Eventually(t, "every message has arrived without faults", func() bool {
		return ledger.Missing(sink) == 0 && sink.Count() >= messages+len(unanswered)
	})
	awaitIdle(t, server)
	unknown := server.Unknown()
	lost, recorded := 0, 0
	for one := range maps.Values(unanswered) {
		lost += one
	}
	for n := range maps.Values(unknown) {
		recorded += n
	}
	figure(t, "final replies lost", lost, "> 0")
	figure(t, "attempts recorded as unknown", recorded, "as many")
	figure(t, "second copies", sink.Count()-messages, "as many")
	if lost == 0 || lost != recorded || sink.Count()-messages != lost {
		t.Errorf("%d replies lost, %d recorded, %d copies of %d messages", lost, recorded, sink.Count(), messages)
	}
	audit(t, ledger.Audit(sink, unknown, nil))
}

// The transport never waits longer than the time limit of the phase. The test sets the limits of the
// transport; the server uses those of RFC 5321, which are minutes.
func TestSilentHostTimesOutAtEveryPhase(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink, dns := faults.NewSink(t), dnsxtest.New(t)
	for _, phase := range faults.Phases {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			host := sink.Listen("127.0.0.1:0")
			host.Set(phase, faults.Silence)
			resolver, err := dnsx.New(dnsx.Config{Server: dns.Addr()})
			if err != nil {
				t.Fatal(err)
			}
			name, port, err := net.SplitHostPort(host.Addr())
			if err != nil {
				t.Fatal(err)
			}
			number, err := strconv.Atoi(port)
			if err != nil {
				t.Fatal(err)
			}
			const limit, never = 300 * time.Millisecond, time.Hour
			limits := smtpclient.Timeouts{Connect: never, Greeting: never, Command: never, Mail: never, Rcpt: never,
				Data: never, Block: never, Dot: never, Quit: limit}
			*map[faults.Phase]*time.Duration{faults.Connect: &limits.Greeting, faults.Greeting: &limits.Greeting,
				faults.Hello:    &limits.Command,
				faults.Envelope: &limits.Mail, faults.Body: &limits.Dot, faults.Reply: &limits.Dot}[phase] = limit
			transport, err := smtpclient.New(smtpclient.Config{Hostname: "here.test", Resolver: resolver,
				Smarthost: &smtpclient.Smarthost{Host: name, Port: number}, Timeouts: limits})
			if err != nil {
				t.Fatal(err)
			}
			defer transport.Close()
			begin := time.Now()
			got := transport.Deliver(t.Context(), smtpclient.Envelope{From: "ada@dev.test", To: "bob@example.net"},
				[]byte("Message-ID: <m@dev.test>\r\n\r\nt\r\n"), nil)
			took := time.Since(begin)
			// The final reply may take twice as long as a body that is not read.
			atMost(t, "attempt", took, 2*limit+time.Second)
			if got.Kind != smtpclient.Temporary || got.Ambiguous != (phase == faults.Reply || phase == faults.Body) {
				t.Errorf("outcome %+v", got)
			}
		})
	}
}
