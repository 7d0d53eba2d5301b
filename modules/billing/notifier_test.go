package billing_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// mailer stores mail like the real one, within the transaction of hold.
type mailer struct {
	db *db.DB

	mu   sync.Mutex
	sent []string
	fail error
}

func (m *mailer) Send(ctx context.Context, n notices.Notice,
	hold func(context.Context, db.Execer) (bool, error)) error {
	return m.db.InTx(ctx, func(tx *ent.Tx) error {
		wanted, err := hold(ctx, tx)
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil && wanted && m.fail == nil {
			m.sent = append(m.sent, fmt.Sprint(n.To, " ", n.Kind, " ", n.Values["number"]))
		}
		if m.fail != nil {
			return m.fail
		}
		return err
	})
}

func (m *mailer) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Sorted(slices.Values(m.sent))
	m.sent = nil
	return strings.Join(out, "; ")
}

func TestNotifiesPayingPeopleOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	made, err := a.CreateAccount(t.Context(),
		accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: accounts.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	for who, role := range map[string]string{"bob": "billing", "eve": "developer", "mal": "owner"} {
		exec(`INSERT INTO users (id, email, name, disabled_at) VALUES ($1, $2, $3, CASE WHEN $4 THEN now() END)`,
			"usr_"+who, who+"@example.com", who, who == "mal")
		exec(`INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, $3)`, made.ID, "usr_"+who, role)
	}
	m := &mailer{db: d}
	service := billing.NewNotifier(d, m, "https://mail.example.com")
	run := func(what, want string) {
		t.Helper()
		var wait sync.WaitGroup
		for range 3 { // concurrently, like several processes
			wait.Go(func() {
				if err := service.Run(t.Context()); err != nil && m.fail == nil {
					t.Errorf("%s: publishing failed: %v", what, err)
				}
			})
		}
		wait.Wait()
		if got := m.said(); got != want {
			t.Errorf("%s: mailed %q, want %q", what, got, want)
		}
	}
	both := func(kind string) string { return "ada@example.com " + kind + "; bob@example.com " + kind }
	// A member who switched off alerts about usage gets those about payments only.
	exec(`INSERT INTO users (id, email, name) VALUES ('usr_mia', 'mia@example.com', 'mia')`)
	exec(`INSERT INTO memberships (account_id, user_id, role, muted_alerts) VALUES ($1, 'usr_mia', 'billing', '["usage"]')`, made.ID)
	withMia := func(kind string) string { return both(kind) + "; mia@example.com " + kind }
	run("nothing", "")
	exec(`UPDATE accounts SET monthly_limit = 1000 WHERE id = $1`, made.ID)
	exec(`INSERT INTO usage_hours (account_id, hour, emails) VALUES ($1, date_trunc('hour', now()), 799)`, made.ID)
	run("79.9 %", "")
	exec(`UPDATE usage_hours SET emails = 800`)
	m.fail = fmt.Errorf("the mail cannot be stored")
	run("80 %, and nothing can be stored", "")
	m.fail = nil
	run("80 %", both("limit_near 1000"))
	run("again", "")
	exec(`INSERT INTO usages (account_id, period, emails) VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), 1000)`, made.ID)
	run("100 %", both("limit_reached 1000"))
	exec(`UPDATE accounts SET monthly_limit = NULL WHERE id = $1`, made.ID)
	exec(`UPDATE plans SET included_emails = 900, overage = true WHERE id = 'pro'`)
	run("more than what is included", both("included_reached 900"))
	exec(`UPDATE accounts SET payment_due_at = now() - interval '1 hour' WHERE id = $1`, made.ID)
	run("a payment failed", withMia("payment_failed 0"))
	run("again", "")
	exec(`UPDATE accounts SET payment_due_at = now() - interval '73 hours' WHERE id = $1`, made.ID)
	run("after three days", withMia("payment_failed 3"))
	exec(`UPDATE accounts SET payment_due_at = NULL WHERE id = $1`, made.ID)
	exec(`INSERT INTO audit_entries (id, account_id, actor_kind, actor_id, actor_name, action, target, changes, ip, user_agent, request_id)
		VALUES ('aud_1', $1, 'system', '', 'billing', 'billing.synced', $1, '{"plan": "pro"}', '', '', '')`, made.ID)
	run("another plan", withMia("plan_changed 0"))
	run("again", "")
}

// recorder collects published events.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) Publish(_ context.Context, _ db.Execer, facts ...event.Fact) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range facts {
		r.events = append(r.events, fmt.Sprintf("%s %s", f.Type, f.Data))
	}
	return nil
}

func (*recorder) Wake() {}

// Each threshold of an account's usage is published once per month, by one process.
func TestPublishesReachedUsageOnce(t *testing.T) {
	t.Parallel()
	d, r := dbtest.New(t), &recorder{}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	made, err := a.CreateAccount(t.Context(), accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: accounts.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	month, err := db.One(t.Context(), d.SQL, db.Value[string], `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`)
	if err != nil {
		t.Fatal(err)
	}
	run := func(what string, want ...string) {
		t.Helper()
		var wait sync.WaitGroup
		for range 3 { // concurrently, like several processes
			wait.Go(func() {
				if err := billing.PublishUsage(t.Context(), d, r); err != nil {
					t.Errorf("%s: publishing failed: %v", what, err)
				}
			})
		}
		wait.Wait()
		if got := r.events; !slices.Equal(got, want) {
			t.Errorf("%s: published %q, want %q", what, got, want)
		}
		r.events = nil
	}
	reached := func(percent, emails int) string {
		return fmt.Sprintf(`account.usage_reached {"account_id":%q,"cap":"limit","month":%q,"percent":%d,"emails":%d,"limit":1000}`,
			made.ID, month, percent, emails)
	}
	exec(`UPDATE accounts SET monthly_limit = 1000 WHERE id = $1`, made.ID)
	exec(`INSERT INTO usage_hours (account_id, hour, emails) VALUES ($1, date_trunc('hour', now()), 799)`, made.ID)
	run("79.9 %")
	exec(`UPDATE usage_hours SET emails = 800`)
	run("80 %", reached(80, 800))
	run("again")
	exec(`UPDATE usage_hours SET emails = 1001`)
	run("100 %", reached(100, 1001))
	run("again")
}
