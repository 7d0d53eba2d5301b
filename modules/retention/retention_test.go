package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/bus"
)

// stock is a store of emails whose ids are numbers. The test sets which of them have expired.
type stock struct {
	old   map[string][]string // by account
	late  map[string][]string
	calls []string
	fail  error
}

func (s *stock) ListExpired(_ context.Context, accountID string, keep records.DetailLevel, after string, _ time.Time,
	limit int) ([]string, string, error) {
	s.calls = append(s.calls, fmt.Sprintf("expired %s %d after %q", accountID, keep, after))
	var page []string
	for _, id := range s.old[accountID] {
		if id > after && len(page) < limit {
			page = append(page, id)
		}
	}
	if len(page) == limit {
		return page, page[limit-1], nil
	}
	return page, "", nil
}

func (s *stock) ExpiredLate(_ context.Context, accountID string, _ records.DetailLevel, _ time.Time,
	_ int) ([]string, error) {
	return s.late[accountID], nil
}

func (s *stock) PurgeBodies(_ context.Context, accountID string, ids []string) (int, error) {
	s.calls = append(s.calls, fmt.Sprintf("bodies %s %d", accountID, len(ids)))
	return len(ids), nil
}

func (s *stock) Delete(_ context.Context, accountID string, ids []string) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	s.late[accountID] = slices.DeleteFunc(s.late[accountID], func(id string) bool { return slices.Contains(ids, id) })
	s.calls = append(s.calls, fmt.Sprintf("delete %s %d", accountID, len(ids)))
	return len(ids), nil
}

func (s *stock) DeleteFor(_ context.Context, accountID string, ids []string) (int, error) {
	s.calls = append(s.calls, fmt.Sprintf("follow %s %d", accountID, len(ids)))
	return len(ids), nil
}

func (s *stock) Erase(context.Context, string, string) (records.Erasure, error) {
	return records.Erasure{Deleted: []string{"a"}, Redacted: []string{"b"}}, s.fail
}

var errGone = errors.New("gone")

// tenants lists accounts.
type tenants []accounts.Retention

func (a tenants) Retentions(_ context.Context, after string, limit int) ([]accounts.Retention, error) {
	i := slices.IndexFunc(a, func(r accounts.Retention) bool { return r.AccountID > after })
	if i < 0 {
		return nil, nil
	}
	return a[i:min(len(a), i+limit)], nil
}

func newService(t *testing.T, mail *stock, list tenants) *Service {
	t.Helper()
	d := dbtest.New(t)
	log := slog.New(slog.DiscardHandler)
	return New(Params{DB: d, Accounts: list, Stores: Stores{Mail: mail, Follower: mail},
		Facts: bus.New(d, log, bus.Options{}), Logger: log})
}

func numbers(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("msg_%04d", i)
	}
	return ids
}

func TestPurgeWalksAccountsAndKeepsMarks(t *testing.T) {
	t.Parallel()
	mail := &stock{old: map[string][]string{"acc_a": numbers(step + 1)},
		late: map[string][]string{"acc_b": {"msg_late"}}}
	s := newService(t, mail, tenants{keeping("acc_a"), keeping("acc_b")})
	// The bodies of late emails are only deleted when they are purged; here they have none.
	done, err := s.Purge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done.Records != step+2 || done.Bodies != step+1 || done.Skipped {
		t.Errorf("Purge returned %+v, want %d records and %d bodies", done, step+2, step+1)
	}
	want := []string{
		`expired acc_a 0 after ""`, "follow acc_a 500", "delete acc_a 500", `expired acc_a 0 after "msg_0499"`,
		"follow acc_a 1", "delete acc_a 1",
		`expired acc_a 1 after ""`, "bodies acc_a 500", `expired acc_a 1 after "msg_0499"`, "bodies acc_a 1",
		`expired acc_b 0 after ""`, "follow acc_b 1", "delete acc_b 1", `expired acc_b 1 after ""`,
	}
	if diff := cmp.Diff(want, mail.calls); diff != "" {
		t.Errorf("the calls differ (-want +got):\n%s", diff)
	}

	mail.calls = nil
	if _, err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if mail.calls[0] != `expired acc_a 0 after "msg_0499"` {
		t.Errorf("the second purge began with %s", mail.calls[0])
	}
	if _, err := s.db.SQL.ExecContext(t.Context(), `UPDATE retention_marks SET updated_at = now() - interval '8 days'`); err != nil {
		t.Fatal(err)
	}
	mail.calls = nil
	if _, err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if mail.calls[0] != `expired acc_a 0 after ""` {
		t.Errorf("a week later, the purge began with %s", mail.calls[0])
	}
}

func TestOnlyOneProcessPurges(t *testing.T) {
	t.Parallel()
	s := newService(t, &stock{}, nil)
	conn, err := s.db.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `SELECT pg_advisory_lock($1)`, int64(purgeLock)); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Purge(t.Context()); err != nil || !done.Skipped {
		t.Errorf("a purge during another returned %+v, %v, want it skipped", done, err)
	}
	if _, err := conn.ExecContext(t.Context(), `SELECT pg_advisory_unlock($1)`, int64(purgeLock)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock is released
		if done, err := s.Purge(t.Context()); err != nil || done.Skipped {
			t.Errorf("a purge after the lock was released returned %+v, %v, want it done", done, err)
		}
	}
}

func TestFailedPurgeKeepsItsMark(t *testing.T) {
	t.Parallel()
	mail := &stock{late: map[string][]string{}, old: map[string][]string{"acc_a": numbers(step)}, fail: errGone}
	s := newService(t, mail, tenants{keeping("acc_a")})
	if _, err := s.Purge(t.Context()); err == nil {
		t.Fatal("no error")
	}
	mail.fail, mail.calls = nil, nil
	if _, err := s.Purge(t.Context()); err != nil || mail.calls[0] != `expired acc_a 0 after ""` {
		t.Errorf("the purge after a failed one made the calls %v, %v, want it to start at the old mark",
			mail.calls, err)
	}
}

func TestEraseContinuesAfterError(t *testing.T) {
	t.Parallel()
	mail := &stock{}
	s := newService(t, mail, nil)
	got, err := s.Erase(t.Context(), "acc_a", "Bob@Example.net")
	if err != nil || got != (Erased{Emails: 2, Redacted: 2}) {
		t.Errorf("Erase returned %+v, %v, want one email and one redacted in each mode", got, err)
	}
	if got, err := s.Erase(t.Context(), "tst_a", "bob@example.net"); err != nil || got != (Erased{Emails: 1, Redacted: 1}) {
		t.Errorf("Erase in test mode returned %+v, %v, want live data untouched", got, err)
	}
	mail.fail, mail.calls = errGone, nil
	if _, err := s.Erase(t.Context(), "acc_a", "bob@example.net"); err == nil || len(mail.calls) != 1 {
		t.Errorf("Erase with a failing store made the calls %v, %v, want an error after the first", mail.calls, err)
	}
	for _, bad := range []string{"", "bob", "Bob <bob@example.net>", "a@b\r\n"} {
		if _, err := s.Erase(t.Context(), "acc_a", bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Erase of %q returned %v, want invalid", bad, err)
		}
	}
}

// Automations could write to the person during the erasure, so they are erased first.
func TestActiveDataIsErasedFirstAndAgain(t *testing.T) {
	t.Parallel()
	mail := &stock{}
	keep := func(what string, acts bool) module.PersonalData {
		return module.PersonalData{What: what, Active: acts,
			Erase: func(_ context.Context, _, address string) (int64, error) {
				mail.calls = append(mail.calls, "erase "+what+" of "+address)
				return 1, nil
			}, EraseUser: func(_ context.Context, _, userID string) (int64, error) {
				mail.calls = append(mail.calls, "erase "+what+" of "+userID)
				return 1, nil
			}}
	}
	d, log := dbtest.New(t), slog.New(slog.DiscardHandler)
	s := New(Params{DB: d, Stores: Stores{Mail: mail, Follower: mail},
		Kept:  []module.PersonalData{keep("texts", false), keep("notes", false), keep("runs", true)},
		Facts: bus.New(d, log, bus.Options{}), Logger: log})
	if _, err := s.Erase(t.Context(), "tst_a", "bob@example.net"); err != nil {
		t.Fatal(err)
	}
	want := []string{"erase runs of bob@example.net", "follow tst_a 2", "erase runs of bob@example.net",
		"erase notes of bob@example.net", "erase texts of bob@example.net"}
	if !slices.Equal(mail.calls, want) {
		t.Errorf("Erase made the calls %q, want %q", mail.calls, want)
	}
	mail.calls = nil
	if err := s.EraseUser(t.Context(), "tst_a", "u1"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"erase runs of u1", "erase notes of u1", "erase texts of u1"}; !slices.Equal(mail.calls, want) {
		t.Errorf("EraseUser made the calls %q, want %q", mail.calls, want)
	}
}

func keeping(accountID string) accounts.Retention {
	return accounts.Retention{AccountID: accountID, BodyDays: 30, RecordDays: 90}
}

// A lock timeout delays the purge by seconds, not until the next hour.
func TestPurgeRetriesSoonAfterLockTimeout(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, func(c *db.Config) { c.LockTimeout = 100 * time.Millisecond })
	var out expect.Log
	log, registry := slog.New(slog.NewTextHandler(&out, nil)), prometheus.NewRegistry()
	mail := &stock{old: map[string][]string{"acc_a": numbers(step)}, late: map[string][]string{}}
	s := New(Params{DB: d, Accounts: tenants{keeping("acc_a")}, Stores: Stores{Mail: mail, Follower: mail},
		Facts: bus.New(d, log, bus.Options{}), Logger: log, Workers: worker.NewMetrics(registry)})
	other, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), `LOCK TABLE retention_marks IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	task := s.purgeTask()
	task.First = 0
	s.tasks.Start(task)
	t.Cleanup(func() { s.tasks.Stop(context.Background()) })
	expect.Eventually(t, "a purge that waits for a lock fails", func() bool { return failures(t, registry) > 0 })
	if text := out.String(); !strings.Contains(text, "purge of old mail fails") || !strings.Contains(text, "retry_in=") ||
		!strings.Contains(text, "lock timeout") {
		t.Errorf("the log does not report the lock timeout and the next attempt:\n%s", text)
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the purge succeeds after the lock is released", func() bool {
		return strings.Contains(out.String(), "purge of old mail works again") && failures(t, registry) == 0
	})
	if !strings.Contains(out.String(), fmt.Sprintf("emails=%d", step)) {
		t.Errorf("the log does not report %d purged emails:\n%s", step, out.String())
	}
}

// failures returns the consecutive failures of the purge.
func failures(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "postrider_worker_task_failures" {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("the metric for failures of tasks is missing")
	return 0
}

// Data of test mode is purged after its own period, for accounts that use it.
func TestPurgeOfTestMode(t *testing.T) {
	t.Parallel()
	var calls []string
	kept := module.PersonalData{What: "notes", Purge: func(_ context.Context, tenant string, before time.Time) (int64, error) {
		calls = append(calls, fmt.Sprintf("%s %.0f", tenant, time.Since(before).Hours()/24))
		return 0, nil
	}}
	d, log := dbtest.New(t), slog.New(slog.DiscardHandler)
	using := keeping("acc_a")
	using.TestDays = 7
	s := New(Params{DB: d, Accounts: tenants{using, keeping("acc_b")}, Kept: []module.PersonalData{kept},
		Facts: bus.New(d, log, bus.Options{}), Logger: log})
	if _, err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"acc_a 90", "tst_a 7", "acc_b 90"}; !slices.Equal(calls, want) {
		t.Errorf("Purge made the calls %q, want %q", calls, want)
	}
}
