package journeys_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// goneAfter is how long mail of a source waits in these tests for a process with its address: longer than a
// live process can stall.
const goneAfter = 20 * time.Second

// withAddresses simulates a machine with some addresses, whose sources are reloaded soon.
func withAddresses(addresses ...string) func(*app.Options) {
	var has machine.Networks
	for _, text := range addresses {
		has = append(has, machine.SingleNetwork(netip.MustParseAddr(text)))
	}
	return func(o *app.Options) {
		o.Machine = has
		o.More = append(o.More, fx.Decorate(func(c outbound.Config) outbound.Config {
			c.ReadEvery, c.GoneAfter = 200*time.Millisecond, goneAfter
			return c
		}))
	}
}

func withNodeName(name string) func(setting.RawValues) {
	return func(c setting.RawValues) { c["POSTRIDER_NODE"], c["POSTRIDER_LOG_FORMAT"] = name, "json" }
}

// fleet runs two processes on one database, each with an address that the other lacks.
type fleet struct {
	*scenario
	other *harness.App
	sent  int
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	app := harness.StartWith(t, withNodeName("one"), withAddresses("127.0.0.2"))
	app.MailDomain(t, "away.test")
	return &fleet{scenario: scenarioOf(t, app), other: app.StartPeer(t, withNodeName("two"), withAddresses("127.0.0.3"))}
}

// addSource adds a source address.
func (f *fleet) addSource(t *testing.T, in outbound.SourceInput) (err error) {
	t.Helper()
	in.Hostname = "out-" + strings.ReplaceAll(in.Address, ".", "-") + ".test"
	f.Operate(t, "", func(o harness.Operator) { _, err = o.Outbound.AddSource(t.Context(), in) })
	return err
}

func (f *fleet) pause(t *testing.T, address string, pause bool) {
	t.Helper()
	f.Operate(t, "", func(o harness.Operator) {
		if _, err := o.Outbound.PauseSource(t.Context(), address, pause); err != nil {
			t.Fatal(err)
		}
	})
}

// send has an app accept a number of messages.
func (f *fleet) send(t *testing.T, by *harness.App, n int) (ids []string) {
	t.Helper()
	for range n {
		f.sent++
		ids = append(ids,
			by.Send(t, fmt.Sprintf(`{"from":"ada@dev.test","to":"bob%d@away.test","subject":"Hello","text":"Hello"}`,
				f.sent)))
	}
	return ids
}

// awaitArrival waits until messages are delivered, each with its first attempt and from the address of its route,
// and counts them by address.
func (f *fleet) awaitArrival(t *testing.T, ids []string) map[string]int {
	t.Helper()
	from := map[string]int{}
	expect.Eventually(t, fmt.Sprintf("%d messages are delivered", len(ids)), func() bool {
		clear(from)
		done := 0
		rows, err := f.db.QueryContext(t.Context(),
			`SELECT r.state, r.attempts, a.way, split_part(a.local_addr, ':', 1), a.outcome FROM recipients r JOIN attempts a ON a.recipient_id = r.id WHERE r.email_id = ANY($1)`, "{"+strings.Join(ids, ",")+"}")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var state, way, local, outcome string
			var attempts int
			if err := rows.Scan(&state, &attempts, &way, &local, nullable{&outcome}); err != nil {
				t.Fatal(err)
			}
			if attempts != 1 || outcome != "delivered" && outcome != "" {
				t.Fatalf("a recipient is %s after attempt %d, by %s: %s", state, attempts, way, outcome)
			}
			if state == "delivered" {
				done++
				from[local]++
				if way != "" && local != way {
					t.Errorf("a message by %s was sent from %s", way, local)
				}
			}
		}
		return rows.Err() == nil && done == len(ids)
	})
	return from
}

// nullable scans a text column, with "" for null.
type nullable struct{ into *string }

func (n nullable) Scan(value any) error {
	*n.into, _ = value.(string)
	return nil
}

// countWaiting returns how many recipients are parked under a source, without an attempt.
func (f *fleet) countWaiting(t *testing.T, address string) (n int) {
	t.Helper()
	if err := f.db.QueryRowContext(t.Context(),
		`SELECT count(*) FROM recipients WHERE lane LIKE $1 || ' %' AND due_at IS NOT NULL AND attempts = 0`, address).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Mail is sent by the process whose machine has its source address, whichever process accepts and claims it,
// and no attempt is lost. After that process stops, mail of shared addresses is sent by the other one, and
// mail of a dedicated address waits for it.
func TestMailIsSentByProcessWithItsAddress(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	f := newFleet(t)
	// 1. Each process delivers from its own address. Unknown addresses are rejected.
	for name, refused := range map[string]struct {
		in          outbound.SourceInput
		field, want string
	}{
		"nobody's": {outbound.SourceInput{Address: "127.0.0.9", Pool: "shared"}, "address",
			"cannot be 127.0.0.9: no running process has it (running: one, two)"},
		"another's": {outbound.SourceInput{Address: "127.0.0.2", Node: "two", Pool: "shared"}, "address", "the process two does not have 127.0.0.2"},
		"of an unknown": {outbound.SourceInput{Address: "127.0.0.2", Node: "six", Pool: "shared"}, "node",
			"cannot be six: the running delivery processes are one, two"},
	} {
		if err := f.addSource(t, refused.in); fault.KindOf(err) != fault.Invalid || fault.Classify(err).
			Fields[refused.field] != refused.want {
			t.Errorf("%s: %v, want %s %s", name, err, refused.field, refused.want)
		}
	}
	for _, in := range []outbound.SourceInput{{Address: "127.0.0.2", Pool: "shared"},
		{Address: "127.0.0.3", Node: "two", Pool: "shared"}} {
		if err := f.addSource(t, in); err != nil {
			t.Fatal(err)
		}
	}
	expect.Eventually(t, "mail is sent from source addresses", func() bool {
		return f.awaitArrival(t, append(f.send(t, f.App, 1), f.send(t, f.other, 1)...))["127.0.0.1"] == 0
	})
	from := f.awaitArrival(t, append(f.send(t, f.App, 30), f.send(t, f.other, 30)...))
	if from["127.0.0.2"] == 0 || from["127.0.0.2"]+from["127.0.0.3"] != 60 {
		t.Errorf("60 messages were sent from %v, want 127.0.0.2 and 127.0.0.3", from)
	}
	// 2. Messages that only the other can send are handed over to it.
	f.pause(t, "127.0.0.2", true)
	expect.Eventually(t, "mail is sent from 127.0.0.3",
		func() bool { return f.awaitArrival(t, f.send(t, f.App, 1))["127.0.0.3"] == 1 })
	begun := time.Now()
	if from := f.awaitArrival(t, f.send(t, f.App, 40)); from["127.0.0.3"] != 40 {
		t.Errorf("40 messages were sent from %v, want 127.0.0.3", from)
	}
	t.Logf("40 messages for the address of the other process took %s", time.Since(begun).Round(time.Millisecond))
	// 3. The other process stops. Mail waits for its shared address, and then uses another one.
	if err := f.other.Stop(); err != nil {
		t.Fatal(err)
	}
	ids := f.send(t, f.App, 20)
	if from := f.awaitArrival(t, ids); from["127.0.0.1"] != 20 {
		t.Errorf("20 messages were sent from %v, want the machine's own address", from)
	}
	f.pause(t, "127.0.0.2", false)
	expect.Eventually(t, "mail is sent from 127.0.0.2",
		func() bool { return f.awaitArrival(t, f.send(t, f.App, 1))["127.0.0.2"] == 1 })
	// 4. Mail waits for a dedicated address, however long it takes.
	plan := accounts.PlanDedicated
	f.Change(t, accounts.AccountChange{Plan: &plan})
	if err := f.addSource(t, outbound.SourceInput{Address: "127.0.0.4", Node: "two", Pool: "dedicated",
		Account: f.AccountID, Unchecked: true}); err != nil {
		t.Fatal(err)
	}
	var waits []string
	expect.Eventually(t, "mail waits for 127.0.0.4", func() bool {
		waits = append(waits, f.send(t, f.App, 1)...)
		return f.countWaiting(t, "127.0.0.4") > 0
	})
	waits = append(waits, f.send(t, f.App, 10)...)
	expect.Eventually(t, "the log reports that no process has 127.0.0.4", func() bool {
		return slices.ContainsFunc(strings.Split(f.Log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, "no process has a source address") && strings.Contains(line, "127.0.0.4")
		})
	})
	expect.Eventually(t, "ten messages wait", func() bool { return f.countWaiting(t, "127.0.0.4") >= 10 })
	f.StartPeer(t, withNodeName("two"), withAddresses("127.0.0.4"))
	if from := f.awaitArrival(t, waits); from["127.0.0.4"] < 11 {
		t.Errorf("%d messages were sent from %v, want at least 11 from 127.0.0.4", len(waits), from)
	}
	// No attempt failed, in any process, and receivers saw the recorded addresses.
	for _, m := range f.MX.Messages() {
		if !slices.Contains([]string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}, m.Remote) {
			t.Errorf("a message arrived from %s", m.Remote)
		}
	}
	var failed int
	if err := f.db.QueryRowContext(t.Context(),
		`SELECT count(*) FROM attempts WHERE outcome <> 'delivered' OR number > 1`).Scan(&failed); err != nil || failed != 0 {
		t.Errorf("%d attempts failed or were repeated, %v", failed, err)
	}
}
