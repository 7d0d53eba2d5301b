package apilog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// keepers contains the retention of accounts, in days.
type keepers map[string]int

func (k keepers) Retentions(_ context.Context, after string, _ int) (list []accounts.Retention, _ error) {
	for id, days := range k {
		if id > after {
			list = append(list, accounts.Retention{AccountID: id, BodyDays: days, RecordDays: 90})
		}
	}
	return list, nil
}

func newLog(t *testing.T, of keepers) *Service {
	t.Helper()
	s, _ := newCountedLog(t, of)
	return s
}

func newCountedLog(t *testing.T, of keepers) (*Service, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	s, err := New(Params{DB: dbtest.New(t), Config: Config{Rate: 100}, Accounts: of,
		Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: slog.New(slog.DiscardHandler),
		Metrics: registry})
	if err != nil {
		t.Fatal(err)
	}
	return s, registry
}

// countedAs returns the number of requests that the metrics count with a result.
func countedAs(t *testing.T, registry *prometheus.Registry, result string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() == result {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no counter for %s", result)
	return 0
}

// stored stores requests in order.
func (s *Service) stored(t *testing.T, of ...Seen) {
	t.Helper()
	for i := range of {
		if of[i].At.IsZero() {
			of[i].At = time.Now()
		}
		s.Add(&of[i])
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *Service) ids(t *testing.T, account string, f Filter) (ids []string) {
	t.Helper()
	for cursor := ""; ; {
		got, err := s.List(t.Context(), account, f, page.Request{Limit: 2, Cursor: cursor})
		if err != nil {
			t.Fatalf("List of %+v returned %v", f, err)
		}
		for _, r := range got.Items {
			ids = append(ids, r.ID)
		}
		if cursor = got.NextCursor; !got.HasMore {
			return ids
		}
	}
}

func jsonBody(text string) CapturedBody {
	return CapturedBody{Size: int64(len(text)), Media: "application/json", Raw: []byte(text)}
}

func TestRequestsAreStoredAndListed(t *testing.T) {
	t.Parallel()
	s := newLog(t, nil)
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	const email = "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	s.stored(t,
		Seen{ID: "one", AccountID: "acc_a", Method: "POST", Path: "/api/emails", Operation: "sendEmail", Status: 200,
			Took: 12 * time.Millisecond, APIKeyID: "key_1", IP: "192.0.2.7",
			At: at, Asked: jsonBody(`{"to":"bob@example.net","token":"x"}`),
			Answered: jsonBody(`{"id":"` + email + `"}`)},
		Seen{ID: "two", AccountID: "acc_a", Method: "GET", Path: "/api/emails/" + email, Status: 200, UserID: "usr_1",
			EmailID: email, At: at.Add(time.Second)},
		Seen{ID: "three", AccountID: "acc_a", Method: "PATCH", Path: "/api/emails/\xff\x00", Status: 404,
			APIKeyID: "key_2", At: at.Add(2 * time.Second),
			Answered: CapturedBody{Size: 7, Media: "text/plain", Raw: []byte{0}}},
		Seen{ID: "four", AccountID: "acc_a", Method: "POST", Path: "/api/domains", Status: 503, APIKeyID: "key_1",
			At: at.Add(3 * time.Second)},
		Seen{ID: "two", AccountID: "acc_b", Method: "GET", Path: "/api/account", Status: 200, APIKeyID: "key_9",
			At: at},
		Seen{ID: "two", AccountID: "acc_a", Method: "GET", Path: "/api/account", Status: 200, APIKeyID: "key_1",
			At: at.Add(4 * time.Second)},
	)
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"all":                {Filter{}, []string{"two", "four", "three", "two", "one"}},
		"methods":            {Filter{Methods: []string{"POST", "PATCH"}}, []string{"four", "three", "one"}},
		"path":               {Filter{PathPrefix: "/api/emails"}, []string{"three", "two", "one"}},
		"another path":       {Filter{PathPrefix: "/api/emails/m"}, []string{"two"}},
		"failures":           {Filter{StatusFrom: 400}, []string{"four", "three"}},
		"some failures":      {Filter{StatusFrom: 400, StatusBelow: 500}, []string{"three"}},
		"successes":          {Filter{StatusBelow: 400}, []string{"two", "two", "one"}},
		"key":                {Filter{APIKeyID: "key_1"}, []string{"two", "four", "one"}},
		"person":             {Filter{UserID: "usr_1"}, []string{"two"}},
		"request id":         {Filter{RequestID: "two"}, []string{"two", "two"}},
		"email":              {Filter{EmailID: email}, []string{"two", "one"}},
		"since":              {Filter{Since: at.Add(2 * time.Second)}, []string{"two", "four", "three"}},
		"until":              {Filter{Until: at.Add(2 * time.Second)}, []string{"two", "one"}},
		"between":            {Filter{Since: at.Add(time.Second), Until: at.Add(3 * time.Second), Methods: []string{"GET"}}, []string{"two"}},
		"of another account": {Filter{APIKeyID: "key_9"}, nil},
		"no matches":         {Filter{RequestID: "five"}, nil},
	} {
		if got := s.ids(t, "acc_a", c.filter); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got := s.ids(t, "acc_b", Filter{}); !slices.Equal(got, []string{"two"}) {
		t.Errorf("the other account sees %q", got)
	}
	one, err := s.Get(t.Context(), "acc_a", "one")
	want := LoggedRequest{ID: "one", AccountID: "acc_a", Method: "POST", Path: "/api/emails", Operation: "sendEmail",
		Status: 200, DurationMS: 12, APIKeyID: "key_1", IP: "192.0.2.7",
		RequestBody: `{"to":"bob@example.net","token":"[redacted]"}`, RequestOctets: 36, ResponseBody: `{"id":"` +
			email + `"}`, ResponseOctets: 39, EmailID: email, CreatedAt: at}
	one.n, one.CreatedAt = 0, one.CreatedAt.UTC()
	if diff := cmp.Diff(want, one, cmp.AllowUnexported(LoggedRequest{})); err != nil || diff != "" {
		t.Errorf("the stored request differs: %v (-want +got)\n%s", err, diff)
	}
	if two, err := s.Get(t.Context(), "acc_a", "two"); err != nil || two.Path != "/api/account" {
		t.Errorf("Get of two requests with one id returned %+v, %v, want the newer", two, err)
	}
	if three, err := s.Get(t.Context(), "acc_a", "three"); err != nil || three.ResponseBody != "[text/plain]" ||
		three.ResponseOctets != 7 {
		t.Errorf("a body that is not JSON was stored as %+v, %v", three, err)
	}
	for _, id := range []string{"one", "four", "five", "", "\xff"} {
		if _, err := s.Get(t.Context(), "acc_b", id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("Get of %q by another account returned %v", id, err)
		}
	}
}

func TestInvalidLogFiltersAreRejected(t *testing.T) {
	t.Parallel()
	s := newLog(t, nil)
	now := time.Now()
	for name, f := range map[string]Filter{
		"method": {Methods: []string{"GET", "POKE"}}, "path": {PathPrefix: "api"},
		"path that is not text": {PathPrefix: "/\xff"}, "status": {StatusFrom: 99}, "status above": {StatusBelow: 601},
		"statuses": {StatusFrom: 500, StatusBelow: 400}, "times": {Since: now, Until: now}, "id": {RequestID: "a\x00"},
		"long id": {EmailID: strings.Repeat("x", 501)},
	} {
		if _, err := s.List(t.Context(), "acc_a", f, page.Request{}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: got the error %v, want Invalid", name, err)
		}
	}
	if _, err := s.List(t.Context(), "acc_a", Filter{},
		page.Request{Limit: 2, Cursor: "x"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a forged cursor returned %v", err)
	}
}

func TestEraseDeletesRequestsWithAddress(t *testing.T) {
	t.Parallel()
	s := newLog(t, nil)
	s.stored(t,
		Seen{ID: "body", AccountID: "acc_a", Asked: jsonBody(`{"to":"Bob <BOB@Example.net>"}`)},
		Seen{ID: "answer", AccountID: "acc_a", Answered: jsonBody(`{"to":"bob\u0040example.net"}`)},
		Seen{ID: "link", AccountID: "acc_a", Asked: jsonBody(`{"html":"https://a.example/?u=bob%40example.net"}`)},
		Seen{ID: "path", AccountID: "acc_a", Path: "/api/x/bob@example.net"},
		Seen{ID: "user", AccountID: "acc_a", Asked: jsonBody(`{"user_id":"User \"17\""}`)},
		Seen{ID: "other", AccountID: "acc_a", Asked: jsonBody(`{"to":"carol@example.net"}`)},
		Seen{ID: "stranger", AccountID: "acc_b", Asked: jsonBody(`{"to":"bob@example.net"}`)},
	)
	// buffered, but not stored yet
	s.Add(&Seen{ID: "held", AccountID: "acc_a", Asked: jsonBody(`{"to":"bob@example.net"}`), At: time.Now()})
	if n, err := s.Erase(t.Context(), "acc_a", "bob@example.net"); err != nil || n != 5 {
		t.Errorf("Erase returned %d, %v, want 5", n, err)
	}
	if n, err := s.EraseUser(t.Context(), "acc_a", `User "17"`); err != nil || n != 1 {
		t.Errorf("EraseUser returned %d, %v, want 1", n, err)
	}
	if got := s.ids(t, "acc_a", Filter{}); !slices.Equal(got, []string{"other"}) {
		t.Errorf("the remaining requests are %q", got)
	}
	// Another process stores requests that it buffered before the erasure.
	s.stored(t, Seen{ID: "late", AccountID: "acc_a", Asked: jsonBody(`{"to":"bob@example.net"}`)})
	if err := s.step(t.Context(), time.Now().Add(repeatAfter)); err != nil {
		t.Fatal(err)
	}
	if got := s.ids(t, "acc_a", Filter{}); !slices.Equal(got, []string{"other"}) || len(s.again) != 0 {
		t.Errorf("late requests %q remain, and %d erasures", got, len(s.again))
	}
	if got := s.ids(t, "acc_b", Filter{}); !slices.Equal(got, []string{"stranger"}) {
		t.Errorf("another account has the requests %q", got)
	}
}

func TestOldRequestsAreSwept(t *testing.T) {
	t.Parallel()
	s := newLog(t, keepers{"acc_a": 30, "acc_b": 2})
	for _, account := range []string{"acc_a", "acc_b", "acc_gone"} {
		for _, days := range []int{0, 1, 3, 6, 8} {
			s.stored(t, Seen{ID: fmt.Sprint(days), AccountID: account, At: time.Now().AddDate(0, 0, -days)})
		}
	}
	if n, err := s.Sweep(t.Context()); err != nil || n != 5 {
		t.Errorf("Sweep returned %d, %v, want 3 older than seven days and 2 older than their account's retention", n,
			err)
	}
	for account, want := range map[string][]string{"acc_a": {"6", "3", "1", "0"}, "acc_b": {"1", "0"},
		"acc_gone": {"6", "3", "1", "0"}} {
		if got := s.ids(t, account, Filter{}); !slices.Equal(got, want) {
			t.Errorf("%s has the remaining requests %q, want %q", account, got, want)
		}
	}
	if n, err := s.inBatches(t.Context(), surplusSQL, "acc_a", 2); err != nil || n != 2 {
		t.Errorf("Sweep of four requests with a maximum of two deleted %d, %v", n, err)
	}
	if got := s.ids(t, "acc_a", Filter{}); !slices.Equal(got, []string{"6", "3"}) {
		t.Errorf("the remaining requests are %q, want the newest two", got)
	}
}

// Add never waits, even if the database accepts no writes for a while.
func TestOverloadDropsRequests(t *testing.T) {
	t.Parallel()
	s, registry := newCountedLog(t, nil)
	tx, err := s.db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `LOCK TABLE api_requests`); err != nil {
		t.Fatal(err)
	}
	s.Add(&Seen{ID: "first", AccountID: "acc_a", At: time.Now()})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	expect.EventuallyWithin(t, 10*time.Second, "the first batch is being stored", func() bool {
		s.sampler.mu.Lock()
		defer s.sampler.mu.Unlock()
		return len(s.sampler.rows) == 0
	})
	begun := time.Now()
	for i := range 20_000 {
		if account := fmt.Sprint("acc_", i%50); s.Keep(account, 500) {
			s.Add(&Seen{ID: fmt.Sprint(i), AccountID: account, At: begun})
		}
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("20,000 requests were added in %s, while the table was locked", took)
	}
	if got := countedAs(t, registry, "full"); got != 20_000-bufferRows {
		t.Errorf("%v requests were counted as dropped, want all but %d", got, bufferRows)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 20*time.Second, "the buffered requests are stored", func() bool {
		n, err := db.One(t.Context(), s.db.SQL, db.Value[int], `SELECT count(*) FROM api_requests`)
		return err == nil && n == bufferRows+1
	})
	// after the commit
	expect.EventuallyWithin(t, 10*time.Second, "all stored requests are counted",
		func() bool { return countedAs(t, registry, "stored") == bufferRows+1 })
}

// Every filter of a page uses an index, however many rows an account has.
func TestFiltersUseIndexes(t *testing.T) {
	t.Parallel()
	s := newLog(t, nil)
	const fill = `INSERT INTO api_requests (request_id, account_id, method, path, operation, status, duration_ms, api_key_id, user_id, ip, request_body, request_octets, response_body, response_octets, email_id, created_at)
		SELECT 'req_' || i, 'acc_' || i % 5, CASE i % 2 WHEN 0 THEN 'GET' ELSE 'POST' END, '/api/p' || i % 1000, 'o', CASE i % 500 WHEN 0 THEN 500 ELSE 200 END, 1, 'key_' || i % 2000, CASE i % 3000 WHEN 0 THEN 'usr_1' ELSE '' END, '', '', 0, '', 0,
			CASE i % 10 WHEN 0 THEN 'msg_' || i ELSE '' END, now() - i * interval '1 second' FROM generate_series($1::int, $1::int + 4999) AS i`
	// each batch must fit into the statement timeout, even on a busy machine
	for from := 1; from < 60000; from += 5000 {
		if _, err := s.db.SQL.ExecContext(t.Context(), fill, from); err != nil {
			t.Fatal(err)
		}
	}
	// Analyze every row instead of a sample, because a random sample can make another plan look cheaper.
	if _, err := s.db.SQL.ExecContext(t.Context(),
		`SET default_statistics_target = 10000; ANALYZE api_requests`); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Filter{
		"all": {}, "method": {Methods: []string{"GET"}}, "path": {PathPrefix: "/api/p77"},
		"failures": {StatusFrom: 400}, "key": {APIKeyID: "key_5"}, "person": {UserID: "usr_1"},
		"request": {RequestID: "req_5"}, "email": {EmailID: "msg_50"}, "times": {Since: time.Now().Add(-10 * time.Hour),
			Until: time.Now().Add(-9*time.Hour - 58*time.Minute)}, "no key": {APIKeyID: "key_x"},
	} {
		q := f.query(columnsSQL, "acc_0", 0, false, 26)
		plan, err := db.All(t.Context(), s.db.SQL, db.Value[string],
			`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) `+q.Text, q.Args...)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
			t.Errorf("%s scans the whole table:\n%s", name, text)
		}
		for _, line := range plan {
			var removed int
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "Rows Removed by Filter: %d", &removed); err == nil &&
				removed > 500 {
				t.Errorf("%s reads %d rows that do not match:\n%s", name, removed, strings.Join(plan, "\n"))
			}
		}
	}
}
