package outbound

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// world is an installation with an account of each plan that affects routing.
type world struct {
	*Service
	*Ways

	db                                *db.DB
	accounts                          *accounts.Service
	domains                           *knownDomains
	key                               secret.Key
	dedicated, pool, free             string
	dedicatedDomain, dedicatedDomain2 string
	logged                            *strings.Builder
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{db: dbtest.New(t), domains: &knownDomains{}, key: secret.NewKey()}
	var err error
	w.accounts, err = accounts.New(accounts.Params{DB: w.db, Cursors: page.NewCodec(make([]byte, 16)),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.accounts.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w.dedicated, w.pool, w.free = w.account(t, "dedicated"), w.account(t, "pool"), w.account(t, "free")
	w.dedicatedDomain, w.dedicatedDomain2 = w.domains.add(w.dedicated, "one.example"), w.domains.add(w.dedicated,
		"two.example")
	w.Service, w.Ways = New(Params{DB: w.db, Accounts: w.accounts, Domains: w.domains, Box: w.box(t)}),
		w.process(t, Config{})
	return w
}

func (w *world) account(t testing.TB, plan string) string {
	t.Helper()
	made, err := w.accounts.CreateAccount(t.Context(), accounts.NewAccount{Name: plan, Email: plan + "@example.com",
		Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// knownDomains replaces the domains module, which would need a DNS server.
type knownDomains []*ent.Domain

func (k *knownDomains) add(accountID, name string) string {
	d := &ent.Domain{ID: id.New(id.Domain), AccountID: &accountID, Name: name}
	*k = append(*k, d)
	return d.ID
}

func (k *knownDomains) Find(_ context.Context, accountID, name string) (*ent.Domain, error) {
	for _, d := range *k {
		if *d.AccountID == accountID && (d.Name == name || d.ID == name) {
			return d, nil
		}
	}
	return nil, fault.NoSuch("domain", name)
}

func (w *world) box(t testing.TB) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(w.key)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// process returns another started process of the installation. It reads the configuration only on request.
func (w *world) process(t testing.TB, config Config, signals ...Signals) *Ways {
	t.Helper()
	if config.ReadEvery == 0 {
		config.ReadEvery = time.Hour
	}
	w.logged = &strings.Builder{}
	p := WaysParams{Config: config, DB: w.db, Accounts: w.accounts, Box: w.box(t),
		Logger: slog.New(slog.NewTextHandler(w.logged, nil))}
	if len(signals) > 0 {
		p.Signals = signals[0]
	}
	s, err := NewWays(p)
	if err != nil {
		t.Fatal(err)
	}
	start(t, s)
	return s
}

func start(t testing.TB, s *Ways) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// add stores sources that this machine need not have, and reads the configuration.
func (w *world) add(t testing.TB, sources ...SourceInput) {
	t.Helper()
	for _, in := range sources {
		in.Unchecked = true
		if in.Hostname == "" {
			in.Hostname = "out-" + strings.NewReplacer(".", "-", ":", "-").Replace(in.Address) + ".example.com"
		}
		if _, err := w.AddSource(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	reread(t, w.Ways)
}

func reread(t testing.TB, s *Ways) {
	t.Helper()
	if err := s.read(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// choose returns the labels of n deliveries of an account to one destination.
func choose(t testing.TB, s *Ways, n int, q Question) []string {
	t.Helper()
	if q.Destination == "" {
		q.Destination = "example.net"
	}
	questions := make([]Question, n)
	for i := range questions {
		questions[i] = q
	}
	ways, err := s.Choose(t.Context(), questions)
	if err != nil || len(ways) != n {
		t.Fatalf("Choose returned %d ways, %v", len(ways), err)
	}
	return labels(ways)
}

func labels(ways []smtpclient.Way) []string {
	all := make([]string, len(ways))
	for i, way := range ways {
		all[i] = way.Label
	}
	return all
}

// tally counts equal labels.
func tally(labels []string) map[string]int {
	counts := map[string]int{}
	for _, l := range labels {
		counts[l]++
	}
	return counts
}

func count(t testing.TB, w *world, s *Ways, labels []string) {
	t.Helper()
	if err := w.db.InHotTx(t.Context(),
		func(tx *sql.Tx) error { return s.Count(t.Context(), tx, labels) }); err != nil {
		t.Fatal(err)
	}
}

// counted returns the number of deliveries counted for an address today.
func (w *world) counted(t testing.TB, address string) (n int64) {
	t.Helper()
	err := w.db.SQL.QueryRowContext(t.Context(), `SELECT coalesce(sum(d.deliveries), 0) FROM source_days d JOIN sources s ON s.id = d.source_id
		WHERE s.address = $1 AND d.day = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`, address).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
