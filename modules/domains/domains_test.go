package domains

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dkim/dkimtest"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// world is an installation with a database, a DNS server and two customers.
type world struct {
	*Service
	db       *db.DB
	zone     *dnsxtest.Server
	accounts *accounts.Service
	facts    *bus.Log
	box      *secret.Box
	ada, eve string // account ids
}

// ourRecords are the records that the operator publishes for the installation.
var ourRecords = []string{`spf.postrider.example. 60 IN TXT "v=spf1 ip4:192.0.2.25 -all"`,
	`rp.postrider.example. 60 IN TXT "v=spf1 include:spf.postrider.example -all"`}

func newWorld(t testing.TB) *world {
	t.Helper()
	d := dbtest.New(t)
	w := &world{db: d, zone: dnsxtest.New(t, ourRecords...)}
	var err error
	w.accounts, err = accounts.New(accounts.Params{Config: accounts.Config{CacheTTL: time.Millisecond}, DB: d,
		Cursors: page.NewCodec(make([]byte, 16)), Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.accounts.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w.ada, w.eve = w.addAccount(t, "ada@example.com", accounts.PlanPro), w.addAccount(t, "eve@example.net",
		accounts.PlanPro)
	if w.box, err = secret.NewBox(secret.NewKey()); err != nil {
		t.Fatal(err)
	}
	w.Service = w.process(t)
	return w
}

// process returns another Service of the same installation.
func (w *world) process(t testing.TB) *Service {
	t.Helper()
	resolver, err := dnsx.New(dnsx.Config{Server: w.zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := bus.New(w.db, quiet(), bus.Options{})
	w.facts = b.Log()
	config := testConfig()
	config.CheckTimeout = 5 * time.Second
	s, err := New(Params{Config: config, DB: w.db, Bus: b, Accounts: w.accounts, Resolver: resolver, Box: w.box,
		NewKey:  dkimtest.Key,
		Cursors: page.NewCodec(make([]byte, 16)), Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (w *world) addAccount(t testing.TB, email, plan string) string {
	t.Helper()
	made, err := w.accounts.CreateAccount(t.Context(), accounts.NewAccount{Name: "Test", Email: email, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func (w *world) add(t testing.TB, accountID, name string) *ent.Domain {
	t.Helper()
	made, err := w.Add(t.Context(), accountID, NewDomain{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// publish publishes the records shown to the customer.
func (w *world) publish(t testing.TB, d *ent.Domain) {
	t.Helper()
	for _, r := range w.Records(d) {
		w.zone.Set(t, r.Name, zoneLine(r))
	}
}

func zoneLine(r dnscheck.RecordCheck) string {
	if r.Type == "TXT" {
		return fmt.Sprintf("%s. 300 IN TXT %s", r.Name, dkim.ZoneText(r.Value))
	}
	return fmt.Sprintf("%s. 300 IN %s %s.", r.Name, r.Type, r.Value)
}

func (w *world) verify(t testing.TB, d *ent.Domain) *ent.Domain {
	t.Helper()
	now, err := w.Verify(t.Context(), *d.AccountID, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// verified adds a domain, publishes its records and verifies it.
func (w *world) verified(t testing.TB, accountID, name string) *ent.Domain {
	t.Helper()
	d := w.add(t, accountID, name)
	w.publish(t, d)
	if d = w.verify(t, d); d.Status != "verified" {
		t.Fatalf("the domain %s is %s: %+v", name, d.Status, d.Records)
	}
	return d
}

// publishedFacts lists the facts about a domain, except domain.added.
func (w *world) publishedFacts(t testing.TB, d *ent.Domain) []event.Type {
	t.Helper()
	facts, err := w.facts.Facts(t.Context(), *d.AccountID, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	types := []event.Type{}
	for _, f := range facts[d.ID] {
		if f.Type != event.DomainAdded {
			types = append(types, f.Type)
		}
	}
	return types
}

func (w *world) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// states returns one letter per record: v verified, m missing, x mismatch.
func (w *world) states(d *ent.Domain) string {
	var b strings.Builder
	for _, r := range w.Records(d) {
		b.WriteString(map[dnscheck.Status]string{dnscheck.Verified: "v", dnscheck.Missing: "m",
			dnscheck.Mismatch: "x"}[r.Status])
	}
	return b.String()
}

func wantFault(t testing.TB, err error, kind fault.Kind, code string) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	refused := fault.Classify(err)
	if refused.Kind != kind || refused.Code != code {
		t.Fatalf("got the error %v (kind %d, code %q), want kind %d, code %q", err, refused.Kind, refused.Code,
			kind, code)
	}
	return refused
}

// eventually polls until the condition holds, or fails the test.
func eventually(t testing.TB, within time.Duration, ask func() bool) {
	t.Helper()
	expect.EventuallyWithin(t, within, "the condition holds", ask)
}
