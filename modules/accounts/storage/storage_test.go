package storage_test

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/ops/diskroom"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// disk is a Disk with a fill level that the test sets.
type disk struct {
	level atomic.Int32
	used  atomic.Int64
}

func (d *disk) Level() diskroom.Level { return diskroom.Level(d.level.Load()) }
func (d *disk) Use(bytes int64)       { d.used.Add(bytes) }

type world struct {
	db       *db.DB
	accounts *accounts.Service
	disk     *disk
}

func newWorld(t *testing.T) *world {
	t.Helper()
	d := dbtest.New(t)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &world{d, a, &disk{}}
}

// process returns one of the processes that share the database.
func (w *world) process(t *testing.T, c storage.Config) *storage.Service {
	t.Helper()
	s, err := storage.New(storage.Params{Config: c, DB: w.db, Accounts: w.accounts, Disk: w.disk,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// account creates an account with a quota set by the operator.
func (w *world) account(t *testing.T, stored, daily *int) string {
	t.Helper()
	made, err := w.accounts.CreateAccount(t.Context(),
		accounts.NewAccount{Name: "Acme", Email: id.New(id.User) + "@example.com", Plan: accounts.PlanScale})
	if err != nil {
		t.Fatal(err)
	}
	w.limit(t, made.ID, stored, daily)
	return made.ID
}

func (w *world) limit(t *testing.T, accountID string, stored, daily *int) {
	t.Helper()
	if _, err := w.accounts.UpdateAccount(t.Context(), accountID,
		accounts.AccountChange{StoredBytes: &stored, DailyBytes: &daily}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) usage(t *testing.T, accountID string) accounts.Usage {
	t.Helper()
	used, err := w.accounts.Usage(t.Context(), accountID)
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func (w *world) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// count returns the result of a query for one number.
func (w *world) count(t *testing.T, statement string) int64 {
	t.Helper()
	n, err := db.One(t.Context(), w.db.SQL, db.Value[int64], statement)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func wantCap(t *testing.T, err error, limit string) {
	t.Helper()
	refused := fault.Classify(err)
	if err == nil || refused.Kind != fault.Limit || refused.Code != fault.CodePlanLimit ||
		refused.Details["cap"] != limit || refused.UpgradeURL == "" {
		t.Fatalf("the charge returned %v with details %v, want plan_limit with cap %s", err, refused.Details, limit)
	}
}

func TestAccountWithoutQuotaHasNoCounter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, accountID := w.process(t, storage.Config{}), w.account(t, nil, nil)
	if err := s.Charge(t.Context(), accountID, storage.Other, 1<<50); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, `SELECT count(*) FROM storage_counters`); n != 0 {
		t.Errorf("an account without a quota has %d counters, want none", n)
	}
	if used := w.usage(t, accountID); used.StoredBytes != nil || used.StoredBytesCap != nil {
		t.Errorf("the usage of an account without a quota is %+v, want no bytes", used)
	}
}

func TestErrorNamesExceededByteCap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.process(t, storage.Config{})
	stored := w.account(t, new(1000), new(10_000))
	if err := s.Charge(t.Context(), stored, storage.Other, 900); err != nil {
		t.Fatal(err)
	}
	wantCap(t, s.Charge(t.Context(), stored, storage.Other, 101), "stored_bytes")
	if err := s.Charge(t.Context(), stored, storage.Other, 100); err != nil {
		t.Errorf("charging the last 100 bytes: %v", err)
	}
	daily := w.account(t, nil, new(1000))
	if err := s.Charge(t.Context(), daily, storage.Other, 1000); err != nil {
		t.Fatal(err)
	}
	err := s.Charge(t.Context(), daily, storage.Other, 1)
	wantCap(t, err, "daily_bytes")
	if refused := fault.Classify(err); refused.RetryAfter <= 0 || refused.RetryAfter > 24*time.Hour ||
		refused.Details["resets_at"] == nil || refused.Details["limit"] != 1000 {
		t.Errorf("the refusal has details %v and can be retried after %s, want the end of the day", refused.Details,
			refused.RetryAfter)
	}
	// On the next day, the daily count starts again.
	w.exec(t, `UPDATE storage_counters SET day = '2020-01-01' WHERE account_id = $1`, daily)
	expect.Eventually(t, "the quota of the next day",
		func() bool { return s.Charge(t.Context(), daily, storage.Other, 1) == nil })
}

// Concurrent charges of several processes never exceed the quota, and leave less than one allowance of it
// unused.
func TestProcessesNeverExceedTheQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const quota, size = 1_000_000, 700
	accountID := w.account(t, new(quota), nil)
	var granted atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		s := w.process(t, storage.Config{})
		for range 8 {
			all.Go(func() {
				for range 100 {
					switch err := s.Charge(t.Context(), accountID, storage.Other, size); {
					case err == nil:
						granted.Add(size)
					case fault.KindOf(err) != fault.Limit:
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() { // bytes that are not stored after all can be charged again
			for range 50 {
				if s.Charge(t.Context(), accountID, storage.Other, size) == nil {
					s.Refund(t.Context(), accountID, size)
				}
			}
		})
		t.Cleanup(func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := granted.Load(); n > quota || n < quota*8/10 {
		t.Errorf("%d of %d bytes were granted, want almost all and no more", n, quota)
	}
}

func TestStopReturnsUnspentBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accountID := w.account(t, new(1_000_000), new(1_000_000))
	s := w.process(t, storage.Config{})
	if err := s.Charge(t.Context(), accountID, storage.Other, 1000); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	used := w.usage(t, accountID)
	if *used.StoredBytes != 1000 || *used.DailyBytes != 1000 || *used.StoredBytesCap != 1_000_000 {
		t.Errorf("after charging 1000 bytes and a stop, the counter has %d stored bytes and %d of today, want 1000",
			*used.StoredBytes,
			*used.DailyBytes)
	}
	if n := w.count(t, `SELECT count(*) FROM storage_allowances`); n != 0 {
		t.Errorf("got %d allowances after the stop, want none", n)
	}
}

func TestAllowanceOfDeadProcessExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accountID := w.account(t, new(1_000_000), nil)
	dead := w.process(t, storage.Config{})
	if err := dead.Charge(t.Context(), accountID, storage.Other, 1000); err != nil {
		t.Fatal(err)
	}
	w.exec(t, `UPDATE storage_allowances SET expires_at = now() - interval '1 second'`)
	if err := w.process(t, storage.Config{}).ReturnExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Only bytes that the dead process spent since its last report may be missing from the counter.
	if stored := w.count(t, `SELECT stored FROM storage_counters`); stored > 1000 || stored < 0 {
		t.Errorf("after the allowance expired, the counter has %d bytes, want at most 1000", stored)
	}
	// A process that was only paused for a long time does not return the allowance again.
	if err := dead.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored := w.count(t, `SELECT stored FROM storage_counters`); stored < 0 {
		t.Errorf("after the process resumed, the counter has %d bytes, want no negative number", stored)
	}
}

func TestRepeatedRefusalCostsNoQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accountID := w.account(t, new(1000), nil)
	s := w.process(t, storage.Config{})
	wantCap(t, s.Charge(t.Context(), accountID, storage.Other, 2000), "stored_bytes")
	if _, err := w.accounts.Account(t.Context(), accountID); err != nil {
		t.Fatal(err)
	}
	w.exec(t, `DROP TABLE storage_counters`)
	wantCap(t, s.Charge(t.Context(), accountID, storage.Other, 2000), "stored_bytes")
}

const emailSQL = `INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, last_event, html)
	VALUES ($1, $2, 'dom_1', 'a@b.c', 'a@b.c', '["x@y.z"]', 'Hello', $1, 'sent', 'email.sent', $3)`

// The next measurement frees the quota of deleted data, however it was deleted.
func TestMeasurementFreesQuotaOfDeletedData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accountID := w.account(t, new(1_000_000), nil)
	s := w.process(t, storage.Config{RemeasureAfter: time.Nanosecond})
	text := make([]byte, 100_000)
	for i := range text {
		text[i] = 'a' + byte(i*i%26)
	}
	var ids []string
	for range 8 {
		ids = append(ids, id.New(id.Email))
		if err := s.Charge(t.Context(), accountID, storage.Mail, 100_000+2*storage.RowBytes); err != nil {
			t.Fatal(err)
		}
		w.exec(t, emailSQL, ids[len(ids)-1], accountID, string(text))
	}
	measure := func() int64 {
		t.Helper()
		w.exec(t, `UPDATE storage_counters SET due_at = now()`)
		if err := s.MeasureDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Report(t.Context()); err != nil {
			t.Fatal(err)
		}
		return *w.usage(t, accountID).StoredBytes
	}
	whole := int64(8 * (100_000 + 2*storage.RowBytes))
	if got := measure(); got < whole-1000 || got > whole+1000 {
		t.Errorf("8 emails of 100 kB were measured as %d bytes, want about %d", got, whole)
	}
	wantCap(t, s.Charge(t.Context(), accountID, storage.Mail, 300_000), "stored_bytes")
	w.exec(t, `DELETE FROM emails WHERE id = ANY ($1)`, db.Array(ids[:4]))
	w.exec(t, `UPDATE emails SET html = NULL WHERE id = $1`, ids[4])
	if got := measure(); got > whole/2 {
		t.Errorf("after deleting 4 emails and a body, %d bytes are stored, want less than half of %d", got, whole)
	}
	expect.Eventually(t, "a charge is accepted again",
		func() bool { return s.Charge(t.Context(), accountID, storage.Mail, 300_000) == nil })
	if n := w.count(t, `SELECT count(*) FROM storage_counters WHERE measured_at IS NOT NULL AND (kinds->>'emails')::bigint > 0 AND progress IS NULL`); n != 1 {
		t.Errorf("%d counters have a complete measurement, want 1", n)
	}
}

// A large account is measured in pages, over several claims, and bytes charged meanwhile count.
func TestMeasurementResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accountID := w.account(t, new(1_000_000_000), nil)
	s := w.process(t, storage.Config{})
	if err := s.Charge(t.Context(), accountID, storage.Other, 1); err != nil {
		t.Fatal(err)
	}
	w.exec(t, `INSERT INTO suppressions (id, account_id, address_hash, reason)
		SELECT 'sup_' || lpad(n::text, 26, '0'), $1, decode(md5(n::text), 'hex'), 'manual' FROM generate_series(1, 12345) n`, accountID)
	w.exec(t, `UPDATE storage_counters SET due_at = now()`)
	if err := s.MeasureDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if bytes := w.count(t, `SELECT (kinds->>'suppressions')::bigint FROM storage_counters`); bytes != 12345*512 {
		t.Errorf("12,345 suppressions were measured as %d bytes, want %d", bytes, 12345*512)
	}
}

// Every measured table exists with the columns that its expression names.
func TestEveryTableCanBeMeasured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, statement := range storage.PageStatements() {
		if _, err := w.db.SQL.ExecContext(t.Context(), statement, id.New(id.Account), "", 10); err != nil {
			t.Errorf("measure %s: %v", name, err)
		}
	}
}

func TestReceivedMailIsLimitedToItsShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const daily = 80_000_000
	accountID := w.account(t, nil, new(daily))
	processes := []*storage.Service{w.process(t, storage.Config{}), w.process(t, storage.Config{})}
	const size = 1_000_000
	taken := map[int]int{}
	for network := range 8 {
		for n := range 20 {
			from := netip.AddrFrom4([4]byte{198, 51, byte(network), byte(n)})
			if processes[0].ChargeReceived(t.Context(), accountID, from, size) == nil {
				taken[network]++
			}
		}
	}
	total := 0
	for network, n := range taken {
		if total += n; n > 10 {
			t.Errorf("network %d stored %d MB, want at most an eighth of the daily quota", network, n)
		}
	}
	if total != 40 {
		t.Errorf("unknown senders stored %d MB, want half of the daily quota", total)
	}
	// Other processes apply the share once the first one has reported.
	if err := processes[0].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := processes[1].Charge(t.Context(), accountID, storage.Other, size); err != nil {
		t.Errorf("the account's own write was rejected after unknown senders used up their share: %v", err)
	}
	wantCap(t, processes[1].ChargeReceived(t.Context(), accountID, netip.MustParseAddr("203.0.113.9"), size),
		"daily_bytes")
}

func TestRefundOfUncountedMailHasNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.process(t, storage.Config{})
	const daily, size = 80_000_000, 1_000_000
	from := netip.MustParseAddr("198.51.100.7")
	accountID := w.account(t, nil, nil)
	if err := s.ChargeReceived(t.Context(), accountID, from, size); err != nil {
		t.Fatal(err)
	}
	w.limit(t, accountID, nil, new(daily))
	s.RefundReceived(t.Context(), accountID, from, size)
	taken := 0
	for range 20 {
		if s.ChargeReceived(t.Context(), accountID, from, size) == nil {
			taken++
		}
	}
	if taken != 10 {
		t.Errorf("a network stored %d MB, want 10, an eighth of the daily quota", taken)
	}
}

func TestFullDiskStopsFreeAccountsFirstAndMailLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.process(t, storage.Config{})
	paid := w.account(t, nil, nil)
	made, err := w.accounts.CreateAccount(t.Context(), accounts.NewAccount{Name: "Free", Email: "free@example.com",
		Plan: accounts.PlanFree})
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[diskroom.Level]string{
		diskroom.Enough:   "free mail, free other, paid mail, paid received, paid other",
		diskroom.PaidOnly: "paid mail, paid received, paid other",
		diskroom.MailOnly: "paid mail, paid received",
		diskroom.Full:     "",
	} {
		w.disk.level.Store(int32(level))
		got := ""
		for _, c := range []struct {
			name, accountID string
			kind            storage.DataKind
		}{{"free mail", made.ID, storage.Mail}, {"free other", made.ID, storage.Other},
			{"paid mail", paid, storage.Mail}, {"paid received", paid, storage.Received},
			{"paid other", paid, storage.Other}} {
			switch err := s.Charge(t.Context(), c.accountID, c.kind, 100); {
			case err == nil && got == "":
				got = c.name
			case err == nil:
				got += ", " + c.name
			case !storage.IsDiskFull(err) || fault.KindOf(err) != fault.Unavailable || fault.Classify(err).RetryAfter == 0:
				t.Errorf("at level %s, %s was rejected with %v, want 503 with Retry-After", level, c.name, err)
			}
		}
		if got != want {
			t.Errorf("at level %s, these writes were accepted: %s; want: %s", level, got, want)
		}
	}
	if w.disk.used.Load() == 0 {
		t.Error("the bytes to write were not announced to the disk")
	}
}

// While an allowance lasts, the accept path only pays for a subtraction.
func BenchmarkChargeWithinAnAllowance(b *testing.B) {
	d := dbtest.New(b)
	s, err := storage.New(storage.Params{DB: d, Accounts: unlimitedDay{}, Logger: slog.New(slog.DiscardHandler),
		Config: storage.Config{}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Charge(b.Context(), "acc_1", storage.Mail, 1); err != nil {
			b.Fatal(err)
		}
	}
}

type unlimitedDay struct{}

func (unlimitedDay) Account(context.Context, string) (accounts.Account, error) {
	return accounts.Account{ID: "acc_1", Plan: accounts.Plan{Name: "Pro", DailyBytes: new(1 << 50)}}, nil
}
