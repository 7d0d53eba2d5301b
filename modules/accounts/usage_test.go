package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func addFree(t testing.TB, s *Service, email string) *ent.Account {
	t.Helper()
	made, err := s.CreateAccount(t.Context(), NewAccount{Name: "Acme", Email: email})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func uses(accountID string, n int) []EmailUsage {
	list := make([]EmailUsage, n)
	for i := range list {
		list[i].AccountID = accountID
	}
	return list
}

// consume counts in its own transaction and returns how many uses were granted.
func consume(t testing.TB, s *Service, list []EmailUsage) (granted int, refused []error) {
	t.Helper()
	err := s.db.InHotTx(t.Context(), func(tx *sql.Tx) (err error) {
		refused, err = s.Consume(t.Context(), tx, list)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range refused {
		if err == nil {
			granted++
		}
	}
	return granted, refused
}

func wantCounted(t testing.TB, s *Service, accountID string, day, month int64) {
	t.Helper()
	got, err := s.readCounters(t.Context(), s.db.Hot, accountID)
	if err != nil {
		t.Fatal(err)
	}
	if got.day != day || got.month != month {
		t.Errorf("%d counted in the day and %d in the month, want %d and %d", got.day, got.month, day, month)
	}
}

// moveUsage simulates the end of a period by moving its counts to the previous period.
func moveUsage(t testing.TB, s *Service, accountID, period, before string) {
	t.Helper()
	dbtest.Exec(t, s.db, `UPDATE usages SET period = `+before+` WHERE account_id = $1 AND period = `+period, accountID)
}

func TestCapsUnderConcurrency(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	first, second := start(t, d, Config{}), start(t, d, Config{}) // two processes
	capped, busy := addFree(t, first, "ada@example.com"), addFree(t, first, "bob@example.com")
	paid := addAccount(t, first, "paid@example.com")
	if granted, _ := consume(t, first, uses(capped.ID, 90)); granted != 90 {
		t.Fatalf("got %d of 90 granted", granted)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	granted := map[string]int{}
	for left, i := 500, 0; left > 0; i++ {
		n := min(1+rand.IntN(20), left)
		left -= n
		// Accounts in random order: the locks must be taken in a fixed order.
		list := append(append(append(uses(paid.ID, 1), uses(capped.ID, n)...), uses(busy.ID, 1)...),
			uses(paid.ID, 1)...)
		rand.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		s := []*Service{first, second}[i%2]
		all.Go(func() {
			err := s.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
				refused, err := s.Consume(t.Context(), tx, list)
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				for j, err := range refused {
					if err == nil {
						granted[list[j].AccountID]++
					} else if fault.Classify(err).Code != fault.CodePlanLimit {
						t.Error(err)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if granted[capped.ID] != 10 {
		t.Errorf("got %d of 500 granted, want 10", granted[capped.ID])
	}
	wantCounted(t, first, capped.ID, 100, 100)
	wantCounted(t, first, busy.ID, int64(granted[busy.ID]), int64(granted[busy.ID]))
	if rows := dbtest.Count(t, first.db, `SELECT count(*) FROM usages`); rows != 4 {
		t.Errorf("%d counters, want a day and a month of two accounts", rows)
	}
}

func TestRefusalNamesTheCapAndItsReset(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	granted, refused := consume(t, s, uses(made.ID, 103))
	if granted != 100 {
		t.Fatalf("got %d of 103 granted, want 100", granted)
	}
	for i, err := range refused {
		if (err != nil) != (i >= 100) {
			t.Errorf("use %d returned %v", i, err)
		}
	}
	var daily *fault.Error
	if !errors.As(refused[102], &daily) || daily.Kind != fault.Limit || daily.Code != fault.CodePlanLimit ||
		daily.UpgradeURL != UpgradeURL {
		t.Fatalf("the use over the daily cap got %+v, want plan_limit with the link to %s", refused[102], UpgradeURL)
	}
	if daily.RetryAfter <= 0 || daily.RetryAfter > 24*time.Hour || daily.Details["cap"] != "daily" ||
		daily.Details["limit"] != 100 ||
		!strings.Contains(daily.Message, "Free allows 100 emails per day") ||
		!strings.HasSuffix(daily.Message, "T00:00:00Z") {
		t.Errorf("the error for the daily cap is %s, %v, retry after %s", daily.Message, daily.Details,
			daily.RetryAfter)
	}

	dbtest.Exec(t, s.db, `UPDATE usages SET emails = 2990 WHERE account_id = $1 AND period = `+monthNow, made.ID)
	moveUsage(t, s, made.ID, dayNow, `'2020-01-01'`)
	granted, refused = consume(t, s, uses(made.ID, 30))
	var monthly *fault.Error
	if !errors.As(refused[29], &monthly) || granted != 10 {
		t.Fatalf("got %d granted, then %v", granted, refused[29])
	}
	if monthly.RetryAfter != 0 || monthly.Details["cap"] != "monthly" || monthly.Details["limit"] != 3000 ||
		!strings.Contains(monthly.Message, "Free allows 3000 emails per month") ||
		!strings.HasSuffix(monthly.Message, "-01T00:00:00Z") {
		t.Errorf("the error for the monthly cap is %s, %v, retry after %s", monthly.Message, monthly.Details,
			monthly.RetryAfter)
	}
	wantCounted(t, s, made.ID, 10, 3000) // emails refused by the monthly cap do not count toward the day
}

func TestNewPeriodsStartAtZero(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	for day := range 3 {
		if granted, _ := consume(t, s, uses(made.ID, 120)); granted != 100 {
			t.Errorf("on day %d, %d uses were granted", day, granted)
		}
		wantCounted(t, s, made.ID, 100, int64(100*(day+1)))
		moveUsage(t, s, made.ID, dayNow, fmt.Sprintf(`'2020-01-0%d'`, day+1))
	}
	dbtest.Exec(t, s.db, `UPDATE usages SET emails = 3000 WHERE account_id = $1 AND period = `+monthNow, made.ID)
	if granted, _ := consume(t, s, uses(made.ID, 1)); granted != 0 {
		t.Error("an email beyond the monthly cap was granted")
	}
	moveUsage(t, s, made.ID, monthNow, `'2020-01'`)
	if granted, _ := consume(t, s, uses(made.ID, 101)); granted != 100 {
		t.Errorf("got %d granted in a new month", granted)
	}
	wantCounted(t, s, made.ID, 100, 100)
}

func TestUsagePeriodsFollowDatabaseClock(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	consume(t, s, uses(made.ID, 1))
	var periods string
	err := s.db.SQL.QueryRowContext(t.Context(), `SELECT string_agg(period, ' ' ORDER BY period) FROM usages`).Scan(&periods)
	now := time.Now().UTC()
	if want := now.Format("2006-01") + " " + now.Format("2006-01-02"); err != nil || periods != want {
		t.Errorf("got the periods %q, %v, want %q", periods, err, want)
	}
	used, err := s.readCounters(t.Context(), s.db.SQL, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	month := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	if off := used.dayEndsAt().Sub(day).Abs(); off > time.Second {
		t.Errorf("the end of the day is off by %s", off)
	}
	if off := used.monthEndsAt().Sub(month).Abs(); off > time.Second {
		t.Errorf("the end of the month is off by %s", off)
	}
}

func TestRefundReturnsUses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made, paid := addFree(t, s, "ada@example.com"), addAccount(t, s, "paid@example.com")
	err := s.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
		if _, err := s.Consume(t.Context(), tx, append(uses(made.ID, 100), uses(paid.ID, 3)...)); err != nil {
			return err
		}
		return s.Refund(t.Context(), tx, append(uses(made.ID, 2), uses(paid.ID, 3)...))
	})
	if err != nil {
		t.Fatal(err)
	}
	wantCounted(t, s, made.ID, 98, 98)
	if granted, _ := consume(t, s, uses(made.ID, 5)); granted != 2 {
		t.Errorf("got %d granted after a refund of 2", granted)
	}
}

// Uses of a transaction that is rolled back are not counted.
func TestRolledBackTransactionCountsNothing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	undone := errors.New("undone")
	err := s.db.InTx(t.Context(), func(tx *ent.Tx) error {
		if _, err := s.Consume(t.Context(), tx, uses(made.ID, 100)); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	wantCounted(t, s, made.ID, 0, 0)
}

// deaf is a database that fails the test on any statement.
type deaf struct{ t *testing.T }

func (d deaf) ExecContext(_ context.Context, query string, _ ...any) (sql.Result, error) {
	d.t.Errorf("unexpected statement: %s", query)
	return nil, errors.New("deaf")
}

func (d deaf) QueryContext(_ context.Context, query string, _ ...any) (*sql.Rows, error) {
	d.t.Errorf("unexpected query: %s", query)
	return nil, errors.New("deaf")
}

var _ db.Execer = deaf{}

func TestAccountsWithoutCapsCostNoStatement(t *testing.T) {
	t.Parallel()
	s := newService(t)
	paid := addAccount(t, s, "paid@example.com")
	if _, err := s.Account(t.Context(), paid.ID); err != nil {
		t.Fatal(err)
	}
	refused, err := s.Consume(t.Context(), deaf{t}, uses(paid.ID, 2))
	if err != nil || len(refused) != 2 || errors.Join(refused...) != nil {
		t.Errorf("Consume of an account without caps returned %v, %v, want 2 uses granted", refused, err)
	}
	if err := s.Refund(t.Context(), deaf{t}, uses(paid.ID, 2)); err != nil {
		t.Error(err)
	}
	if err := s.Move(t.Context(), deaf{t}, paid.ID, time.Now(), time.Now().AddDate(0, 0, 1)); err != nil {
		t.Error(err)
	}
}

// A plan may have only one of the two caps.
func TestPlanWithOneCap(t *testing.T) {
	t.Parallel()
	s := newService(t)
	dbtest.Exec(t, s.db, `UPDATE plans SET daily_emails = NULL, monthly_emails = 4 WHERE id = 'pro'`)
	made := addAccount(t, s, "ada@example.com")
	granted, refused := consume(t, s, uses(made.ID, 6))
	if granted != 4 || fault.Classify(refused[5]).Details["cap"] != "monthly" {
		t.Errorf("got %d granted, then %v", granted, refused[5])
	}
	// With a cap lowered below the emails already sent, no email is granted, without an internal error.
	dbtest.Exec(t, s.db, `UPDATE plans SET daily_emails = 2 WHERE id = 'pro'`)
	if granted, _ := consume(t, s, uses(made.ID, 1)); granted != 0 {
		t.Error("an email was granted past a lowered cap")
	}
	wantCounted(t, s, made.ID, 4, 4)
}

func TestUnlocked(t *testing.T) {
	t.Parallel()
	free := Plan{Sandboxed: true}
	for name, c := range map[string]struct {
		account            Account
		verified, unlocked bool
	}{
		"free, own domain":                     {Account{Plan: free}, true, false},
		"free, payment method, own domain":     {Account{Plan: free, PaymentMethod: true}, true, true},
		"free, payment method, sandbox sender": {Account{Plan: free, PaymentMethod: true}, false, false},
		"free, unlocked by the operator":       {Account{Plan: free, ProductionUnlocked: true}, false, true},
		"paid":                                 {Account{}, false, true},
	} {
		if got := c.account.IsUnlocked(c.verified); got != c.unlocked {
			t.Errorf("%s: Unlocked is %t, want %t", name, got, c.unlocked)
		}
	}
}
