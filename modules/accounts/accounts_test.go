package accounts

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// start starts a service as one process of an installation would. Unless config says otherwise, it closes no
// hours, because tests backdate facts.
func start(t testing.TB, d *db.DB, config Config) *Service {
	t.Helper()
	config.CloseEvery = cmp.Or(config.CloseEvery, time.Hour)
	s, err := New(Params{Config: config, DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

func newService(t testing.TB) *Service {
	t.Helper()
	return start(t, dbtest.New(t), Config{})
}

func addAccount(t testing.TB, s *Service, email string) *ent.Account {
	t.Helper()
	made, err := s.CreateAccount(t.Context(), NewAccount{Name: "Acme", Email: email, Plan: PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func wantKind(t testing.TB, err error, kind fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind {
		t.Fatalf("error %v, want kind %d", err, kind)
	}
}

func TestCreatesAccountWithOwner(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made, err := s.CreateAccount(t.Context(), NewAccount{Name: " Acme ", Email: "Ada@Example.COM", OwnerName: "Ada",
		Unmetered: true})
	if err != nil {
		t.Fatal(err)
	}
	if made.Name != "Acme" || made.Email != "ada@example.com" || made.PlanID != PlanFree {
		t.Errorf("the new account is %+v, want Acme, ada@example.com and the free plan", made)
	}
	joined, err := made.QueryMemberships().WithUser().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if owner := joined.Edges.User; owner.Email != made.Email || owner.Name != "Ada" || joined.Role != "owner" {
		t.Errorf("the new account has the user %+v with the role %s, want Ada as owner with the address %s", owner,
			joined.Role, made.Email)
	}
	snapshot, err := s.Account(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !snapshot.Unmetered || snapshot.ProductionUnlocked || snapshot.Suspended || !snapshot.Plan.Sandboxed ||
		snapshot.Plan.MaxDomains != 1 || snapshot.Plan.DailyEmails == nil || *snapshot.Plan.DailyEmails != 100 {
		t.Errorf("Account returned %+v, want it not unlocked, with the limits of the free plan",
			snapshot)
	}
}

// A person who owns several teams is still one user, and the accounts share the email.
func TestOnePersonOwnsSeveralAccounts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first := addAccount(t, s, "ada@example.com")
	second, err := s.CreateAccount(t.Context(), NewAccount{Name: "Other", Email: "ADA@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if users, members := s.db.Ent.User.Query().CountX(t.Context()), s.db.Ent.Membership.Query().
		CountX(t.Context()); users != 1 || members != 2 {
		t.Errorf("got %d users and %d memberships, want 1 user who belongs to both accounts", users, members)
	}
	_, err = s.AccountByEmail(t.Context(), "ada@example.com")
	wantKind(t, err, fault.Conflict)
	if said := err.Error(); !strings.Contains(said, first.ID) || !strings.Contains(said, second.ID) {
		t.Errorf("the error for an email of two accounts is %q, want both ids", said)
	}
}

func TestNewAccountReportsEveryWrongField(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, err := s.CreateAccount(t.Context(), NewAccount{Name: " ", Email: "not an address", OwnerName: "a\nb"})
	refused := fault.Classify(err)
	for _, field := range []string{"name", "email", "owner_name"} {
		if refused.Fields[field] == "" {
			t.Errorf("no error for the field %s in %v", field, refused.Fields)
		}
	}
	_, err = s.CreateAccount(t.Context(), NewAccount{Name: "Acme", Email: "a@example.com", Plan: "gold"})
	if fault.Classify(err).Fields["plan"] == "" {
		t.Errorf("unknown plan: %v", err)
	}
	_, err = s.CreateAccount(t.Context(), NewAccount{Name: "Acme", Email: "Ada <a@example.com>"})
	if fault.Classify(err).Fields["email"] == "" {
		t.Errorf("display name: %v", err)
	}
}

func TestEnsureAccountIsSafeConcurrently(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids := make(chan string, 8)
	for range cap(ids) {
		go func() {
			found, err := s.EnsureAccount(t.Context(),
				NewAccount{Name: "Development", Email: "dev@dev.test", Plan: PlanScale})
			if err != nil {
				ids <- err.Error()
				return
			}
			ids <- found.ID
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if other := <-ids; other != first {
			t.Errorf("concurrent calls returned the accounts %s and %s, want one", first, other)
		}
	}
	found, err := s.AccountByEmail(t.Context(), "Dev@dev.test")
	if err != nil || found.ID != first {
		t.Errorf("%v, %v, want %s", found, err, first)
	}
}

func TestUnknownAccount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, err := s.Account(t.Context(), "acc_unknown")
	wantKind(t, err, fault.NotFound)
	_, err = s.AccountByEmail(t.Context(), "nobody@example.com")
	wantKind(t, err, fault.NotFound)
}

func TestCachedAccountPicksUpChanges(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.New(t), Config{CacheTTL: 20 * time.Millisecond})
	made := addAccount(t, s, "ada@example.com")
	if before, err := s.Account(t.Context(), made.ID); err != nil || before.Suspended || before.Plan.ID != PlanPro {
		t.Fatal(before, err)
	}
	dbtest.Exec(t, s.db, `UPDATE accounts SET suspended_at = now(), plan_id = 'scale' WHERE id = $1`, made.ID)
	expect.EventuallyWithin(t, 5*time.Second, "the cached account is suspended and has the new plan", func() bool {
		now, err := s.Account(t.Context(), made.ID)
		return err == nil && now.Suspended && now.Plan.MaxDomains == 1000
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
	if ttl := (Config{}).withDefaults().CacheTTL; ttl > 3*time.Second {
		t.Errorf("CacheTTL defaults to %s", ttl)
	}
	wrong := fault.Classify(Config{CacheTTL: 5 * time.Second, CacheSize: -1, LastUsedEvery: -1, SweepEvery: -1}.Validate())
	if len(wrong.Fields) != 4 {
		t.Errorf("a configuration with four wrong settings names %v, want 4 fields", wrong.Fields)
	}
}
