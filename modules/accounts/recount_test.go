package accounts

import (
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

const insertFactSQL = `INSERT INTO facts (id, account_id, type, subject_id, data) SELECT $1, $2, 'email.sent', $3, '{}'`

// handOver stores the facts of n emails that an account sent at the given time.
func handOver(t testing.TB, on db.Execer, accountID string, n int, at time.Time) (emailIDs []string) {
	t.Helper()
	for range n {
		email := id.New(id.Email)
		fact := id.Since(id.Fact, at)[:14] + id.New(id.Fact)[14:]
		if _, err := on.ExecContext(t.Context(), insertFactSQL, fact, accountID, email); err != nil {
			t.Fatal(err)
		}
		emailIDs = append(emailIDs, email)
	}
	return emailIDs
}

func changePlan(t testing.TB, s *Service, accountID, plan string) {
	t.Helper()
	if _, err := s.UpdateAccount(t.Context(), accountID, AccountChange{Plan: &plan}); err != nil {
		t.Fatalf("change to the plan %s: %v", plan, err)
	}
}

func usageOf(t testing.TB, s *Service, accountID string) (day, month int64) {
	t.Helper()
	u, err := s.Usage(t.Context(), accountID)
	if err != nil {
		t.Fatal(err)
	}
	return u.Day, u.Month
}

// monthDay returns a time in the current month but not today, if there is one.
func monthDay(now time.Time) (at time.Time, month int64) {
	now = now.UTC()
	if now.Day() == 1 {
		return time.Date(now.Year(), now.Month()-1, 15, 12, 0, 0, 0, time.UTC), 0
	}
	return time.Date(now.Year(), now.Month(), 1, 12, 0, 0, 0, time.UTC), 1
}

func TestPlanChangeKeepsCounts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	now := time.Now()
	earlier, counts := monthDay(now)
	handOver(t, s.db.SQL, made.ID, 7, earlier)
	if granted, _ := consume(t, s, uses(made.ID, 60)); granted != 60 {
		t.Fatalf("got %d of 60 granted, want all", granted)
	}
	handOver(t, s.db.SQL, made.ID, 60, now)
	changePlan(t, s, made.ID, PlanPro)
	handOver(t, s.db.SQL, made.ID, 25, now) // not counted on acceptance
	if day, month := usageOf(t, s, made.ID); day != 85 || month != 85+7*counts {
		t.Errorf("a plan without caps reports %d for the day and %d for the month, want 85 and %d", day, month,
			85+7*counts)
	}
	dbtest.Exec(t, s.db, `INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, uncommon, last_event, scheduled_at, release_at)
		SELECT 'msg_'||n, $1, 'dom_1', 'a@b.example', 'a@b.example', '[]', 's', 'm', 'scheduled', 'scheduled', 'email.scheduled', $2::timestamptz, $2::timestamptz FROM generate_series(1, 5) n`,
		made.ID, now.AddDate(0, 0, 40))
	changePlan(t, s, made.ID, PlanFree)
	wantCounted(t, s, made.ID, 85, 85+7*counts)
	if granted, _ := consume(t, s, uses(made.ID, 30)); granted != 15 {
		t.Errorf("after 85 of 100 emails were sent under two plans, %d of 30 were granted, want 15", granted)
	}
	due := EmailUsage{AccountID: made.ID, Due: now.AddDate(0, 0, 40)}
	list := make([]EmailUsage, 100)
	for i := range list {
		list[i] = due
	}
	if granted, _ := consume(t, s, list); granted != 95 {
		t.Errorf("on a day with 5 scheduled emails, %d of 100 were granted, want 95", granted)
	}
}

// A process that still uses the old plan counts nothing. The emails of its open transactions are counted
// after these have ended.
func TestEmailsInFlightAtPlanChangeAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.New(t), Config{RecountAfter: time.Millisecond, RecountEvery: 10 * time.Millisecond})
	made := addAccount(t, s, "ada@example.com")
	late, err := s.db.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	handOver(t, late, made.ID, 30, time.Now())
	changePlan(t, s, made.ID, PlanFree)
	wantCounted(t, s, made.ID, 0, 0)
	var all sync.WaitGroup
	for range 4 { // other transactions count meanwhile
		all.Go(func() {
			for range 5 {
				err := s.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
					if _, err := s.Consume(t.Context(), tx, uses(made.ID, 1)); err != nil {
						return err
					}
					handOver(t, tx, made.ID, 1, time.Now())
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	expect.EventuallyWithin(t, 30*time.Second, "the emails in flight are counted", func() bool {
		got, err := s.readCounters(t.Context(), s.db.SQL, made.ID)
		return err == nil && got.day == 50 && got.month == 50
	})
	expect.EventuallyWithin(t, 30*time.Second, "no recount is pending", func() bool {
		n, err := db.One(t.Context(), s.db.SQL, db.Value[int], `SELECT count(*) FROM usage_recounts WHERE account_id = $1`, made.ID)
		return err == nil && n == 0
	})
	wantCounted(t, s, made.ID, 50, 50)
}

func hoursOf(t testing.TB, s *Service, accountID string) (hours, emails int) {
	t.Helper()
	if err := s.db.SQL.QueryRowContext(t.Context(),
		`SELECT count(*), coalesce(sum(emails), 0) FROM usage_hours WHERE account_id = $1`, accountID).Scan(&hours, &emails); err != nil {
		t.Fatal(err)
	}
	return hours, emails
}

func TestHoursAreClosedOnceByOneProcess(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	first, second := newIdle(t, d), newIdle(t, d)
	made := addAccount(t, first, "ada@example.com")
	now := time.Now().UTC().Truncate(time.Hour)
	handOver(t, d.SQL, made.ID, 3, now.Add(-50*time.Hour))
	handOver(t, d.SQL, made.ID, 4, now.Add(-2*time.Hour))
	handOver(t, d.SQL, made.ID, 2, now.Add(-time.Hour-time.Millisecond)) // the end of the same hour
	handOver(t, d.SQL, made.ID, 5, now.Add(30*time.Minute))              // in an open hour
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if err := []*Service{first, second}[i%2].closeHours(t.Context()); err != nil {
				t.Errorf("close hours: %v", err)
			}
		})
	}
	all.Wait()
	if err := first.closeHours(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hours, emails := hoursOf(t, first, made.ID); hours != 2 || emails != 9 {
		t.Errorf("%d emails are counted in %d hours, want 9 in 2", emails, hours)
	}
}

// An hour stays open while a transaction may still add facts to it.
func TestHoursCloseWhenTheHorizonPasses(t *testing.T) {
	t.Parallel()
	s := newIdle(t, dbtest.New(t))
	made := addAccount(t, s, "ada@example.com")
	hour := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Hour)
	handOver(t, s.db.SQL, made.ID, 1, hour)
	if err := s.createMark(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{time.Hour - time.Millisecond, false}, {time.Hour, true}, {time.Hour, false}} {
		err := s.db.InTx(t.Context(), func(tx *ent.Tx) error {
			closed, err := closeHour(t.Context(), tx, hour.Add(c.after))
			if closed != c.want {
				t.Errorf("with the horizon %s after the beginning of the hour, closed is %v, want %v", c.after,
					closed, c.want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if hours, emails := hoursOf(t, s, made.ID); hours != 1 || emails != 1 {
		t.Errorf("%d emails are counted in %d hours, want 1 in 1", emails, hours)
	}
}

// Emails that are erased in an open hour still count.
func TestErasedEmailsStayCounted(t *testing.T) {
	t.Parallel()
	s := newIdle(t, dbtest.New(t))
	made := addAccount(t, s, "ada@example.com")
	emails := handOver(t, s.db.SQL, made.ID, 6, time.Now())
	err := s.db.InTx(t.Context(), func(tx *ent.Tx) error {
		if err := s.KeepUsage(t.Context(), tx, made.ID, emails[:4]...); err != nil {
			return err
		}
		_, err := tx.ExecContext(t.Context(), `DELETE FROM facts WHERE subject_id = ANY($1)`, db.Array(emails[:4]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if day, month := usageOf(t, s, made.ID); day != 6 || month != 6 {
		t.Errorf("after erasing 4 of 6 emails, the usage is %d for the day and %d for the month, want 6", day, month)
	}
	changePlan(t, s, made.ID, PlanFree)
	wantCounted(t, s, made.ID, 6, 6)
}

// newIdle returns a service without background tasks.
func newIdle(t testing.TB, d *db.DB) *Service {
	t.Helper()
	return start(t, d, Config{CloseEvery: time.Hour, RecountEvery: time.Hour})
}

// An account's own limit, and the included emails while a payment is overdue, are caps like those of the
// plan: earlier emails count, and the error names the cap.
func TestLowestMonthlyCapApplies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addAccount(t, s, "ada@example.com")
	handOver(t, s.db.SQL, made.ID, 3, time.Now())
	change := func(c AccountChange) {
		t.Helper()
		if _, err := s.UpdateAccount(t.Context(), made.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	refusal := func(n int) (granted int, which any) {
		t.Helper()
		uses := make([]EmailUsage, n)
		for i := range uses {
			uses[i] = EmailUsage{AccountID: made.ID}
		}
		err := s.db.InTx(t.Context(), func(tx *ent.Tx) error {
			refused, err := s.Consume(t.Context(), tx, uses)
			for _, r := range refused {
				if r == nil {
					granted++
					continue
				}
				f := fault.Classify(r)
				which = f.Details["cap"]
				if f.Code != fault.CodePlanLimit || f.UpgradeURL != UpgradeURL {
					t.Errorf("the plan_limit error is %+v", f)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return granted, which
	}
	change(AccountChange{MonthlyLimit: new(new(2))})
	if granted, which := refusal(1); granted != 0 || which != "own" {
		t.Errorf("with a limit of 2 and 3 emails sent, %d more were granted and the cap is %v, want none and own",
			granted, which)
	}
	change(AccountChange{MonthlyLimit: new(new(5))})
	if granted, which := refusal(4); granted != 2 || which != "own" {
		t.Errorf("with a limit of 5 and 3 emails sent, %d more were granted and the cap is %v, want 2 and own",
			granted, which)
	}
	change(AccountChange{MonthlyLimit: new((*int)(nil))})
	if granted, which := refusal(4); granted != 4 || which != nil {
		t.Errorf("without a limit, %d were granted and the cap is %v, want all and no cap", granted, which)
	}
	if _, err := s.db.SQL.ExecContext(t.Context(), `UPDATE plans SET included_emails = 4, overage = true WHERE id = 'pro'`); err != nil {
		t.Fatal(err)
	}
	change(AccountChange{PaymentDue: new(true), MonthlyLimit: new(new(100))})
	if granted, which := refusal(4); granted != 1 || which != "payment_due" {
		t.Errorf("while a payment is overdue, %d more were granted and the cap is %v, "+
			"want 1 (4 included, 3 sent) and payment_due", granted, which)
	}
	change(AccountChange{PaymentDue: new(false)})
	if granted, _ := refusal(4); granted != 4 {
		t.Errorf("after the payment, %d of 4 were granted, want all", granted)
	}
	for _, wrong := range []int{0, -1, MaxMonthlyLimit + 1} {
		_, err := s.UpdateAccount(t.Context(), made.ID, AccountChange{MonthlyLimit: new(&wrong)})
		if fault.Classify(err).Fields["monthly_limit"] == "" {
			t.Errorf("a limit of %d returned %v, want an error", wrong, err)
		}
	}
}

func TestDefaultPlanMustExist(t *testing.T) {
	t.Parallel()
	s, err := New(Params{Config: Config{DefaultPlan: "gold"}, DB: dbtest.New(t),
		Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil ||
		!strings.Contains(err.Error(), `POSTRIDER_DEFAULT_PLAN: "gold" is not a plan`) {
		t.Errorf("Start returned %v", err)
	}
}
