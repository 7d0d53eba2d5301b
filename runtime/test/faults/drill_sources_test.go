package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// sourced runs three processes, each with its own source address, that send mail directly.
type sourced struct {
	faults.Cluster

	sink   *faults.Sink
	host   *faults.Host
	ledger *faults.Ledger
	bursts int
}

func newSourced(t *testing.T) *sourced {
	t.Helper()
	s := &sourced{sink: faults.NewSink(t), ledger: faults.NewLedger()}
	s.host = s.sink.Listen("127.0.0.1:0")
	dns := dnsxtest.New(t, "example.net. 60 IN MX 10 mx.example.net.", "mx.example.net. 60 IN A 127.0.0.1")
	lanes := filepath.Join(t.TempDir(), "lanes")
	if err := os.WriteFile(lanes, []byte("default 20 20 100 10m -\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(s.host.Addr(), ":")
	s.Cluster = faults.StartCluster(t, dbtest.URL(t), 3, "POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS="+dns.Addr(),
		"POSTRIDER_MX_PORT="+port,
		"POSTRIDER_MX_ALLOW=127.0.0.0/8", "POSTRIDER_HOSTNAME=postrider.test", "POSTRIDER_LANES_FILE="+lanes)
	return s
}

// command runs a command on the same database.
func (s *sourced) command(args ...string) { s.Cluster[1].Command(s.Cluster[1].Database(), args...) }

// add adds a source address for a process.
func (s *sourced) add(address string, node int, more ...string) {
	s.command(append([]string{"source", "add", "--address", address, "--node", fmt.Sprint("node-", node), "--hostname",
		"out-" + strings.ReplaceAll(address, ".", "-") + ".test"}, more...)...)
}

// queryNumber queries the database for a number.
func (s *sourced) queryNumber(t *testing.T, statement string, args ...any) int {
	t.Helper()
	return number(t, s.Cluster[1].Query(statement, args...)[0][0])
}

// countAttempts counts the attempts from an address (empty: from any) that a process has started since a moment, by
// the database clock.
func (s *sourced) countAttempts(t *testing.T, address, since string) int {
	t.Helper()
	return s.queryNumber(t, `SELECT count(*) FROM attempts WHERE local_addr LIKE $1 || '%' AND started_at > $2::timestamptz`, address, since)
}

func (s *sourced) now() string { return s.Cluster[1].Query(`SELECT clock_timestamp()`)[0][0] }

// awaitSendFrom waits until mail accepted by a process is sent from an address.
func (s *sourced) awaitSendFrom(t *testing.T, node int, address string) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("mail of node-%d is sent from %s", node, address), func() bool {
		s.bursts++
		id := s.ledger.Send(t.Context(), s.Cluster[node-1], fmt.Sprintf("s%d@example.net", s.bursts))
		expect.Eventually(t, "it has been sent", func() bool { return s.ledger.Missing(s.sink) == 0 })
		return s.queryNumber(t,
			`SELECT count(*) FROM attempts a JOIN recipients r ON r.id = a.recipient_id WHERE r.email_id = $1 AND a.local_addr LIKE $2 || ':%'`, id, address) == 1
	})
}

// kill kills node-1 in the middle of a burst, and returns the number of its open attempts and the time of
// the kill by the database clock.
func (s *sourced) kill(t *testing.T) (id string, open int, at string) {
	t.Helper()
	id = s.Cluster[1].Query(`SELECT max(id) FROM nodes WHERE name = 'node-1'`)[0][0]
	s.host.Set(faults.Reply, faults.Hold) // no attempt ends before the kill
	s.bursts++
	burst(t, s.Cluster, s.ledger, fmt.Sprintf("b%d-", s.bursts), lengthOf(300, 900))
	expect.Eventually(t, "node-1 is busy", func() bool { return s.open(t, id) > 10 && s.host.Hits() > 10 })
	s.Cluster[0].KillNow()
	open, at = s.open(t, id), s.now()
	if err := s.host.Clear(); err != nil {
		t.Fatal(err)
	}
	return id, open, at
}

func (s *sourced) open(t *testing.T, id string) int {
	t.Helper()
	return s.queryNumber(t, `SELECT count(*) FROM attempts WHERE outcome IS NULL AND node = $1`, id)
}

// awaitArrival waits until all mail has arrived.
func (s *sourced) awaitArrival(t *testing.T) {
	t.Helper()
	expect.Eventually(t, "everything has arrived", func() bool { return s.ledger.Missing(s.sink) == 0 })
	awaitIdle(t, s.Cluster[1])
}

// awaitParked waits until all unsent mail waits for an address without a process, and returns the number of
// messages.
func (s *sourced) awaitParked(t *testing.T, id, address string) (n int) {
	t.Helper()
	expect.Eventually(t, "the rest waits for "+address, func() bool {
		n = s.queryNumber(t, `SELECT count(*) FROM recipients WHERE settled_at IS NULL`)
		return s.open(t, id) == 0 && n == s.queryNumber(t, `SELECT count(*) FROM recipients WHERE settled_at IS NULL AND lane LIKE $1 || ' %'`, address)
	})
	return n
}

func (s *sourced) audit(t *testing.T, open int) {
	t.Helper()
	unknown, past := s.Cluster[1].Unknown(), 0
	for _, n := range unknown {
		past += n
	}
	result := s.ledger.Audit(s.sink, unknown, nil)
	figure(t, "interrupted attempts, of them unknown", fmt.Sprintf("%d, %d", open, past), "-")
	figure(t, "duplicates", result.Duplicates, "at most those unknown")
	audit(t, result)
	if open == 0 {
		t.Error("no attempt was interrupted")
	}
}

// The process with the dedicated address of an account is killed in a burst. The account's mail waits for
// the address, whichever process accepted it, and the doctor names it. After a restart under its name the
// process continues immediately.
func TestDrillKillWithDedicatedAddress(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	s := newSourced(t)
	const address = "127.0.0.21"
	s.add(address, 1, "--pool", "dedicated", "--account", s.Cluster[0].AccountID, "--warm-up")
	s.command("account", "update", s.Cluster[0].AccountID, "--plan", "dedicated")
	s.Cluster[0].Query(`UPDATE sources SET warmup_started_at = now() - interval '5 days'`) // from then on the daily limit is larger than a burst
	s.command("source", "resume", address)                                                 // all processes reload it
	s.awaitSendFrom(t, 1, address)
	s.awaitSendFrom(t, 2, address)
	id, open, at := s.kill(t)
	if long {
		n := s.awaitParked(t, id, address)
		figure(t, "mail that waits for the address", n, "> 0")
		// its exit code reports errors
		printed, told, _ := s.Cluster[1].Try(s.Cluster[1].Database(), "doctor", "--only=sources")
		if want := address +
			" (dedicated): the process node-1 is not running, or does not have it; mail of its account is waiting"; !strings.Contains(string(printed), want) {
			t.Errorf("the doctor printed %s%s, want %s", printed, told, want)
		}
		if begun := s.countAttempts(t, "", at); n == 0 || begun > 0 {
			t.Errorf("%d are waiting, and %d attempts were started without the process that has the address", n, begun)
		}
	}
	s.Cluster[0].Launch()
	ready := time.Now()
	expect.Eventually(t, "mail is sent from the address again",
		func() bool { return s.countAttempts(t, address, at) > 0 })
	atMost(t, "resumed after a restart under the same name", time.Since(ready), 2*time.Second)
	s.awaitArrival(t)
	if long { // the address moves to another process
		id, more, _ := s.kill(t)
		open += more
		s.awaitParked(t, id, address)
		before, begun := s.warmUp(), s.now()
		s.command("source", "move", address, "--node", "node-2")
		moved := time.Now()
		expect.Eventually(t, "mail is sent from the address again",
			func() bool { return s.countAttempts(t, address, begun) > 0 })
		atMost(t, "resumed after the address was moved", time.Since(moved), 3*time.Second)
		s.awaitArrival(t)
		if n := s.queryNumber(t,
			`SELECT count(*) FROM attempts a JOIN nodes n ON n.id = a.node WHERE a.started_at > $1::timestamptz AND n.name <> 'node-2'`, begun); n > 0 || s.warmUp() != before {
			t.Errorf("%d attempts were not made by node-2; the warm-up was %s and is %s", n, before, s.warmUp())
		}
	}
	if n := s.queryNumber(t,
		`SELECT count(*) FROM attempts a JOIN recipients r ON r.id = a.recipient_id WHERE r.address LIKE 'b%' AND a.local_addr <> '' AND a.local_addr NOT LIKE $1 || ':%'`, address); n > 0 {
		t.Errorf("%d attempts of the bursts were made from another address", n)
	}
	s.audit(t, open)
}

func (s *sourced) warmUp() string {
	return s.Cluster[1].Query(`SELECT warmup_started_at FROM sources`)[0][0]
}

// Each process has its own shared address. After one is killed, mail for its address is sent from the
// others. If the pool has no other address, mail waits for ten minutes, and is then sent from the machine's
// own address.
func TestDrillKillWithSharedAddresses(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	if !long {
		t.Skip("takes a quarter of an hour: make drill ONLY=KillWithShared")
	}
	s := newSourced(t)
	for node := 1; node <= 3; node++ {
		s.add(fmt.Sprint("127.0.0.1", node), node, "--pool", "shared")
	}
	for node := 1; node <= 3; node++ {
		s.awaitSendFrom(t, node, fmt.Sprint("127.0.0.1", node))
	}
	cut := 0
	for range 5 {
		id, open, at := s.kill(t)
		killed := time.Now()
		expect.Eventually(t, "its claims are taken over", func() bool { return s.open(t, id) == 0 })
		atMost(t, "taken over by others", time.Since(killed), 13*time.Second)
		s.awaitArrival(t)
		if n := s.countAttempts(t, "127.0.0.11:", at); n > 0 {
			t.Errorf("%d attempts were started from the address of the dead process", n)
		}
		s.Cluster[0].Launch()
		s.awaitSendFrom(t, 1, "127.0.0.11")
		cut += open
	}
	s.command("source", "pause", "127.0.0.12")
	s.command("source", "pause", "127.0.0.13")
	s.awaitSendFrom(t, 2, "127.0.0.11")
	id, open, at := s.kill(t)
	killed := time.Now()
	figure(t, "mail that waits for the only address of the pool", s.awaitParked(t, id, "127.0.0.11"), "> 0")
	if n := s.countAttempts(t, "127.0.0.1:", at); n > 0 {
		t.Errorf("%d attempts were started from another address immediately", n)
	}
	expect.EventuallyWithin(t, 11*time.Minute, "mail is sent from the machine's own address",
		func() bool { return s.countAttempts(t, "127.0.0.1:", at) > 0 })
	took := time.Since(killed)
	atMost(t, "address skipped after", took, 10*time.Minute+30*time.Second)
	if took < 9*time.Minute+45*time.Second {
		t.Errorf("mail was sent from another address after %s, want ten minutes", took)
	}
	s.awaitArrival(t)
	s.audit(t, cut+open)
}
