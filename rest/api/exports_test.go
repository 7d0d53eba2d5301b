package api_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api"
	restsuppressions "github.com/postrider/postrider/rest/suppressions"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeTurns grants one turn, which must be renewed before each write.
type fakeTurns struct {
	mu    sync.Mutex
	taken bool
	kept  int
	lost  error         // returned by Keep
	ended chan struct{} // receives a value for each End
}

func newTurns() *fakeTurns { return &fakeTurns{ended: make(chan struct{}, 10)} }

func (f *fakeTurns) Begin(context.Context, string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken {
		return "", &fault.Error{Kind: fault.Limit, Code: fault.CodeExportInProgress, RetryAfter: 10 * time.Second,
			Message: "Another export of this account is under way; wait until it is over, or end it"}
	}
	f.taken = true
	return "turn_1", nil
}

func (f *fakeTurns) ExtendInterval() time.Duration { return 0 }

func (f *fakeTurns) Extend(context.Context, string, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept++
	return f.lost
}

func (f *fakeTurns) End(ctx context.Context, _, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = false
	f.ended <- struct{}{}
	return ctx.Err()
}

func (f *fakeTurns) Read(_ context.Context, read func() error) error { return read() }

func exporting(t *testing.T, turns *fakeTurns,
	pages func(context.Context, string) (page.Page[*ent.Suppression], error)) *bundle {
	t.Helper()
	return newBundle(t, func(o *api.Options) {
		o.Routes = []api.Routes{restsuppressions.Routes(&fakeSuppression{pages: pages}, turns)}
	})
}

// suppressedFor returns suppressions with the texts as email IDs, which are not validated here.
func suppressedFor(texts ...string) (all []*ent.Suppression) {
	for _, text := range texts {
		s := (&fakeSuppression{}).sample()
		s.EmailID = &text
		all = append(all, s)
	}
	return all
}

func TestExportsInBothForms(t *testing.T) {
	t.Parallel()
	texts := []string{"=1+1", "+1", "-1", "@x", "\tx", "\rx", "＝1+1", "＋1", "－1", "＠x", "a,b", `say "hi"`,
		"two\r\nlines", " =1", "ünï\u2028", "", "<b>&"}
	turns := newTurns()
	b := exporting(t, turns, func(_ context.Context, cursor string) (page.Page[*ent.Suppression], error) {
		at := map[string]int{"": 0, "5": 5, "10": 10}[cursor]
		if at == 10 {
			return page.Page[*ent.Suppression]{Items: suppressedFor(texts[at:]...)}, nil
		}
		return page.Page[*ent.Suppression]{Items: suppressedFor(texts[at : at+5]...), HasMore: true,
			NextCursor: map[int]string{0: "5", 5: "10"}[at]}, nil
	})
	asCSV := b.do(t, request{method: "GET", path: "/api/suppressions/export?format=csv", key: "read"})
	expect.Golden(t, "answers/export.csv", asCSV.body)
	if got := asCSV.header.Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
		t.Errorf("the CSV came as %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(asCSV.body)).ReadAll()
	if err != nil || len(rows) != 1+len(texts) {
		t.Fatalf("%d rows, want %d: %v", len(rows), 1+len(texts), err)
	}
	for i, text := range texts {
		if text != "" && strings.ContainsAny(string([]rune(text)[:1]), "=+-@\t\r＝＋－＠") {
			text = "'" + text
		}
		// The reader of the library takes a line break in a cell for \n.
		if got := rows[1+i][3]; got != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("cell %d is %q, want %q", i, got, text)
		}
	}
	asLines := b.do(t, request{method: "GET", path: "/api/suppressions/export"})
	if name, kind := asLines.header.Get("Content-Disposition"),
		asLines.header.Get("Content-Type"); kind != "application/x-ndjson" ||
		!strings.HasPrefix(name, `attachment; filename="suppressions-20`) || !strings.HasSuffix(name, `.jsonl"`) {
		t.Errorf("the lines came as %q, %q", kind, name)
	}
	var got []string
	for line := range strings.Lines(asLines.body) {
		var record struct {
			EmailID string `json:"email_id"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q is not JSON: %v", line, err)
		}
		got = append(got, record.EmailID)
	}
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Errorf("the lines (-want +got):\n%s", diff)
	}
	if turns.kept != 6 || turns.taken {
		t.Errorf("after two exports of three pages the turn was kept %d times, want 6, and is taken: %t", turns.kept,
			turns.taken)
	}
}

func TestExportsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, key string
		taken     bool
		fail      error
		status    int
	}{
		"export_in_progress": {path: "/api/suppressions/export", taken: true, status: 429},
		"export_format":      {path: "/api/suppressions/export?format=xml&reason=spite", status: 400},
		"export_limit":       {path: "/api/suppressions/export?limit=10&cursor=x", status: 400},
		"export_scope":       {path: "/api/suppressions/export", key: "sending", status: 403},
		"export_away":        {path: "/api/suppressions/export", fail: fault.DatabaseUnavailable(io.EOF), status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := newTurns()
			turns.taken = c.taken
			b := exporting(t, turns, func(context.Context, string) (page.Page[*ent.Suppression], error) {
				return page.Page[*ent.Suppression]{}, c.fail
			})
			got := b.do(t, request{method: "GET", path: c.path, key: c.key})
			if got.status != c.status || turns.taken != c.taken || c.status == 429 &&
				got.header.Get("Retry-After") != "10" {
				t.Errorf("got %d, Retry-After %q, the turn is taken: %t; want %d, and the turn as before", got.status,
					got.header.Get("Retry-After"), turns.taken, c.status)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

// The sending scope can read emails and custom events, single and in lists, but cannot export them.
func TestASendingKeyExportsNothing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api/emails/export", "/api/suppressions/export", "/api/events/export"} {
		if got := newBundleFor(t, path).do(t, request{method: "GET", path: path, key: "sending"}); got.status != 403 {
			t.Errorf("GET %s with a sending key: got %d %s, want 403", path, got.status, got.body)
		}
	}
}

// export reads the response and returns how it ended.
func export(t *testing.T, b *bundle) (octets int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+"/api/suppressions/export?format=csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer svc_full")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the export began with %d", response.StatusCode)
	}
	body, err := io.ReadAll(response.Body)
	return len(body), err
}

func TestAnExportThatFailsMidwayIsCutOff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		second, keep error
	}{
		"the second page cannot be read": {second: fault.DatabaseUnavailable(io.EOF)},
		"another export took the turn":   {keep: errors.New("the turn has gone")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := newTurns()
			b := exporting(t, turns, func(_ context.Context, cursor string) (page.Page[*ent.Suppression], error) {
				if cursor == "" {
					return page.Page[*ent.Suppression]{Items: suppressedFor(long, long), HasMore: true,
						NextCursor: "2"}, nil
				}
				turns.mu.Lock()
				defer turns.mu.Unlock()
				turns.lost = c.keep
				return page.Page[*ent.Suppression]{Items: suppressedFor(long)}, c.second
			})
			if octets, err := export(t, b); !errors.Is(err, io.ErrUnexpectedEOF) || octets < 2000 {
				t.Errorf("after %d bytes the answer ended with %v, want the first page and %v", octets, err,
					io.ErrUnexpectedEOF)
			}
			<-turns.ended
		})
	}
}

func TestAnExportEndsWhenItsClientLeaves(t *testing.T) {
	t.Parallel()
	turns := newTurns()
	ctx, leave := context.WithCancel(t.Context())
	b := exporting(t, turns, func(ctx context.Context, cursor string) (page.Page[*ent.Suppression], error) {
		if cursor != "" { // a list without an end
			leave()
			<-ctx.Done()
			return page.Page[*ent.Suppression]{}, ctx.Err()
		}
		return page.Page[*ent.Suppression]{Items: suppressedFor("x"), HasMore: true, NextCursor: "next"}, nil
	})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/api/suppressions/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer svc_full")
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
	}
	<-turns.ended
	if turns.taken {
		t.Error("the turn of an export whose client has left is still taken")
	}
}

// The service receives the filters of the list, and pages have the maximum size.
func TestFiltersOfExportsArrive(t *testing.T) {
	t.Parallel()
	f := &fakeSuppression{}
	b := newSuppressionBundle(t, f)
	b.do(t, request{method: "GET", path: "/api/suppressions/export?email=bob@example.net&reason=bounce"})
	if diff := cmp.Diff(suppression.Filter{Request: page.Request{Limit: page.MaxLimit, Cursor: "next"},
		Email: "bob@example.net", Reason: "bounce"}, f.filter); diff != "" {
		t.Errorf("the filter of the second page (-want +got):\n%s", diff)
	}
}
