package sendingtest

import (
	"context"
	"crypto"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Account is the account used by the tests.
const Account = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"

// Key is generated once, because generating a key takes longer than most tests.
var Key = sync.OnceValue(func() crypto.Signer {
	key, err := dkim.GenerateKey()
	if err != nil {
		panic(err)
	}
	return key
})

// Parts are the dependencies of the packages under test.
type Parts struct {
	DB          *db.DB
	Bus         *bus.Bus
	Idempotency *idempotency.Store
	Budget      *intake.Budget
	Pages       *page.Codec
	Logger      *slog.Logger
	Near        *Fakes
	Peer        *Peer

	spread atomic.Int32 // emails are distributed over the months
}

// New returns Parts over a new database, opened with the given changes to its configuration.
func New(t *testing.T, changes ...func(*db.Config)) *Parts {
	t.Helper()
	d := dbtest.New(t, changes...)
	log := slog.New(slog.DiscardHandler)
	idem, err := idempotency.New(idempotency.Params{DB: d.Hot, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	return &Parts{DB: d, Bus: bus.New(d, log, bus.Options{}), Idempotency: idem, Budget: budget,
		Pages: page.NewCodec([]byte("0123456789abcdef")), Logger: log,
		Peer: &Peer{Answers: map[string]smtpclient.Outcome{}},
		Near: &Fakes{
			Suppressed: map[string]string{}, Left: -1,
			Owner: accounts.Account{ID: Account, Email: "owner@example.com"},
			Sender: domains.SigningIdentity{DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Domain: "example.com",
				Selector: "pr1", Key: Key(),
				TLSMode: smtpclient.TLSOpportunistic},
		}}
}

// Caller is the sender in the tests.
func (p *Parts) Caller() accounts.Caller {
	return accounts.Caller{AccountID: Account, KeyID: "key_01kf0m4w7he6x8q2v5b3n9c1ta"}
}

// Exec runs a statement.
func (p *Parts) Exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := p.DB.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("run %s: %v", statement, err)
	}
}

// Count counts the rows of a table. The name may be followed by a WHERE clause.
func (p *Parts) Count(t *testing.T, table string) (n int) {
	t.Helper()
	if err := p.DB.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatalf("count %s: %v", table, err)
	}
	return n
}

// MakeDue makes all open recipients due now.
func (p *Parts) MakeDue(t *testing.T) {
	t.Helper()
	p.Exec(t, `UPDATE recipients SET due_at = now() WHERE due_at IS NOT NULL`)
}

// Payload returns the data of the email's fact at index n.
func (p *Parts) Payload(t *testing.T, emailID string, n int) (data event.Email) {
	t.Helper()
	facts, err := p.Bus.Log().Facts(t.Context(), Account, emailID)
	if err != nil || len(facts[emailID]) <= n {
		t.Fatalf("%d facts of %s, %v; want more than %d", len(facts[emailID]), emailID, err, n)
	}
	if err := json.Unmarshal(facts[emailID][n].Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// Reader reads stored emails, like records.
type Reader interface {
	Get(ctx context.Context, accountID, emailID string) (*ent.Email, error)
	Recipients(ctx context.Context, accountID string, emailIDs ...string) (map[string][]*ent.Recipient, error)
	Attempts(ctx context.Context, accountID string, emailIDs ...string) (map[string][]*ent.Attempt, error)
	Timeline(ctx context.Context, accountID string, emailIDs ...string) (map[string][]event.Fact, error)
}

// State returns an email of Account, its recipients, their attempts and the types of its facts.
func State(t *testing.T, from Reader, id string) (*ent.Email, []*ent.Recipient, []*ent.Attempt, []string) {
	t.Helper()
	e, err := from.Get(t.Context(), Account, id)
	if err != nil {
		t.Fatal(err)
	}
	recipients, err := from.Recipients(t.Context(), Account, id)
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := from.Attempts(t.Context(), Account, id)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := from.Timeline(t.Context(), Account, id)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, fact := range facts[id] {
		types = append(types, string(fact.Type))
	}
	return e, recipients[id], attempts[id], types
}

// Peer is a scripted receiving server.
type Peer struct {
	mu      sync.Mutex
	Answers map[string]smtpclient.Outcome // outcomes by recipient; Delivered by default
	Seen    []string
}

// Deliver returns the scripted outcome.
func (p *Peer) Deliver(_ context.Context, e smtpclient.Envelope, _ []byte,
	beforeFinalDot func() error) smtpclient.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := beforeFinalDot(); err != nil {
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Err: err}
	}
	p.Seen = append(p.Seen, e.To)
	if out, scripted := p.Answers[e.To]; scripted {
		return out
	}
	return smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}
}

// NoSignals implements signals without listeners; tests nudge workers themselves.
type NoSignals struct{}

// Wake does nothing.
func (NoSignals) Wake(string) {}

// Subscribe returns a channel that never receives.
func (NoSignals) Subscribe(string) (woken <-chan struct{}, end func()) { return nil, func() {} }

// At returns a time relative to now, with the precision of the database.
func At(d time.Duration) *time.Time {
	t := time.Now().Add(d).UTC().Truncate(time.Millisecond)
	return &t
}

// InUTC returns uses with their times in UTC, for comparison.
func InUTC(uses []accounts.EmailUsage) []accounts.EmailUsage {
	out := slices.Clone(uses)
	for i := range out {
		out[i].Due = out[i].Due.UTC()
	}
	return out
}
