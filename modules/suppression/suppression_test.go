package suppression

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	ada   = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	eve   = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	about = "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
)

// world is an installation for a test.
type world struct {
	*Service

	db  *db.DB
	key secret.Key
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{db: dbtest.New(t), key: secret.NewKey()}
	w.Service = w.process(t, w.key)
	return w
}

// process returns another process of the installation, with these master keys.
func (w *world) process(t testing.TB, keys ...secret.Key) *Service {
	t.Helper()
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s, err := New(Params{Config: Config{BaseURL: "https://mail.example.com/"}, DB: w.db,
		Bus: bus.New(w.db, log, bus.Options{}), Box: box,
		Cursors: page.NewCodec(make([]byte, 16)), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) add(t testing.TB, accountID, email string) *ent.Suppression {
	t.Helper()
	row, err := w.Add(t.Context(), accountID, NewSuppression{Email: email})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// facts returns all facts of a type, oldest first.
func (w *world) facts(t testing.TB, typ event.Type) []string {
	t.Helper()
	rows, err := w.db.SQL.QueryContext(t.Context(), `SELECT data FROM facts WHERE type = $1 ORDER BY id`, typ)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var data json.RawMessage
		if err := rows.Scan(&data); err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	if err := w.db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// reasons calls FindBlocks within a transaction of the hot pool.
func reasons(t testing.TB, s *Service, list ...MessageRecipient) []string {
	t.Helper()
	tx, err := s.db.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}()
	blocks, err := s.FindBlocks(t.Context(), tx, list)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(blocks))
	for i, b := range blocks {
		out[i] = b.Reason
	}
	return out
}

func wantKind(t testing.TB, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	refused := fault.Classify(err)
	if refused.Kind != kind {
		t.Fatalf("the error %v is of kind %d, want %d", err, refused.Kind, kind)
	}
	return refused
}

func TestSpellingsOfAddressShareSuppression(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.add(t, ada, "Bob@MÜNCHEN.de")
	if *first.Email != "bob@xn--mnchen-3ya.de" || first.Reason != "manual" || first.EmailID != nil {
		t.Errorf("Add returned %+v", first)
	}
	for _, spelling := range []string{"bob@xn--mnchen-3ya.de", "BOB@münchen.DE"} {
		if again := w.add(t, ada, spelling); again.ID != first.ID {
			t.Errorf("adding %s returned %s, want the existing %s", spelling, again.ID, first.ID)
		}
		if got, err := w.Get(t.Context(), ada, spelling); err != nil || got.ID != first.ID {
			t.Errorf("Get of %s returned %v, %v", spelling, got, err)
		}
	}
	if other := w.add(t, eve, "bob@münchen.de"); other.ID == first.ID {
		t.Error("two accounts share a suppression")
	}
	if facts := w.facts(t, event.SuppressionAdded); len(facts) != 2 {
		t.Errorf("got the facts %v", facts)
	}
	if got := reasons(t, w.Service, MessageRecipient{AccountID: ada, Email: "Bob@xn--mnchen-3ya.de"},
		MessageRecipient{AccountID: ada, Email: "ann@xn--mnchen-3ya.de"}); !cmp.Equal(got, []string{"manual", ""}) {
		t.Errorf("got the blocks %q", got)
	}
}

func TestInvalidInputReportsEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Add(t.Context(), ada, NewSuppression{Email: "Bob <bob@example.net>", EmailID: "dom_1"})
	fields := wantKind(t, err, fault.Invalid).Fields
	if len(fields) != 2 || fields["email"] == "" || fields["email_id"] == "" {
		t.Errorf("got errors for the fields %v", fields)
	}
	_, err = w.List(t.Context(), ada, Filter{Email: "nobody", Reason: "spite"})
	if fields = wantKind(t, err, fault.Invalid).Fields; len(fields) != 2 {
		t.Errorf("List returned errors for the fields %v", fields)
	}
	_, err = w.OptOuts(t.Context(), ada, OptOutFilter{Email: "nobody", Category: "?"})
	if fields = wantKind(t, err, fault.Invalid).Fields; len(fields) != 2 {
		t.Errorf("OptOuts returned errors for the fields %v", fields)
	}
	for _, emails := range [][]string{nil, make([]string, MaxBatch+1)} {
		_, err = w.AddBatch(t.Context(), ada, BatchInput{Emails: emails})
		wantKind(t, err, fault.Invalid)
	}
	for _, unknown := range []string{"", "sup_x", "sup_01kf0m4w7he6x8q2v5b3n9c1ta", "bob", "a\x00@b.co",
		"bob@example.net"} {
		_, err := w.Get(t.Context(), ada, unknown)
		wantKind(t, err, fault.NotFound)
		wantKind(t, w.Remove(t.Context(), ada, unknown), fault.NotFound)
		_, err = w.OptOut(t.Context(), ada, unknown)
		wantKind(t, err, fault.NotFound)
		wantKind(t, w.RemoveOptOut(t.Context(), ada, unknown), fault.NotFound)
	}
}

func TestListPagesAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, email := range []string{"a@example.net", "b@example.net", "c@example.net"} {
		w.add(t, ada, email)
	}
	w.add(t, eve, "d@example.net")
	handled(t, w, event.EmailBounced, bounced("z@example.net", event.Bounce{Code: 550, EnhancedCode: "5.1.1"}))
	list := func(f Filter) (emails []string, next string) {
		t.Helper()
		got, err := w.List(t.Context(), ada, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range got.Items {
			emails = append(emails, strings.TrimSuffix(*row.Email, "@example.net"))
		}
		if got.HasMore != (got.NextCursor != "") {
			t.Errorf("the first page has more: %v, cursor %q", got.HasMore, got.NextCursor)
		}
		return emails, got.NextCursor
	}
	all, cursor := list(Filter{})
	if strings.Join(all, "") != "zcba" || cursor != "" {
		t.Errorf("all suppressions: %v, %q", all, cursor)
	}
	first, cursor := list(Filter{Request: page.Request{Limit: 3}})
	rest, last := list(Filter{Request: page.Request{Limit: 3, Cursor: cursor}})
	if strings.Join(first, "")+"|"+strings.Join(rest, "") != "zcb|a" || last != "" {
		t.Errorf("the pages are %v, %v, %q", first, rest, last)
	}
	if got, _ := list(Filter{Reason: "bounce"}); strings.Join(got, "") != "z" {
		t.Errorf("the bounces are %v", got)
	}
	if got, _ := list(Filter{Email: "B@Example.NET"}); strings.Join(got, "") != "b" {
		t.Errorf("the suppressions of b are %v", got)
	}
	if got, _ := list(Filter{Email: "d@example.net"}); got != nil {
		t.Errorf("the suppressions of another account are %v", got)
	}
	if _, err := w.db.SQL.ExecContext(t.Context(),
		`UPDATE suppressions SET created_at = created_at + interval '30 seconds' WHERE email = 'z@example.net'`); err != nil {
		t.Fatal(err)
	}
	limit := time.Now().Add(15 * time.Second)
	if got, _ := list(Filter{Since: &limit}); strings.Join(got, "") != "z" {
		t.Errorf("the suppressions added later are %v", got)
	}
	if got, _ := list(Filter{Until: &limit}); strings.Join(got, "") != "cba" {
		t.Errorf("the suppressions added before are %v", got)
	}
	if _, err := w.List(t.Context(), ada, Filter{Since: &limit, Until: &limit}); fault.Classify(err).Fields["since"] == "" {
		t.Errorf("an empty range returned %v, want an error for since", err)
	}
	found, err := w.FindByAddress(t.Context(), ada, "A@example.net", "z@example.net", "d@example.net",
		"nobody@example.net")
	if err != nil || len(found) != 2 || *found["A@example.net"].Email != "a@example.net" ||
		found["z@example.net"].Reason != "bounce" {
		t.Errorf("Of for four addresses returned %v, %v, want those of a and z", found, err)
	}
	_, err = w.List(t.Context(), eve, Filter{Request: page.Request{Limit: 3, Cursor: cursor}})
	wantKind(t, err, fault.Invalid)
}

func TestRemovedAddressIsNotBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	byID, byAddress := w.add(t, ada, "a@example.net"), w.add(t, ada, "b@example.net")
	wantKind(t, w.Remove(t.Context(), eve, byID.ID), fault.NotFound)
	wantKind(t, w.Remove(t.Context(), eve, "b@example.net"), fault.NotFound)
	for _, name := range []string{byID.ID, "B@EXAMPLE.net"} {
		if err := w.Remove(t.Context(), ada, name); err != nil {
			t.Error(err)
		}
		wantKind(t, w.Remove(t.Context(), ada, name), fault.NotFound)
	}
	if got := reasons(t, w.Service, MessageRecipient{AccountID: ada, Email: *byID.Email},
		MessageRecipient{AccountID: ada, Email: *byAddress.Email}); !cmp.Equal(got, []string{"", ""}) {
		t.Errorf("got the blocks %q", got)
	}
	if facts := w.facts(t, event.SuppressionRemoved); len(facts) != 2 || !strings.Contains(facts[0], byID.ID) {
		t.Errorf("got the facts %v", facts)
	}
}

func TestBatchRemovesEachAddressOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.add(t, ada, "first@example.net"), w.add(t, ada, "second@example.net")
	kept := w.add(t, ada, "kept@example.net")
	foreign := w.add(t, eve, "first@example.net")
	removed := func(in RemoveInput) (ids []string) {
		t.Helper()
		items, err := w.RemoveBatch(t.Context(), ada, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			switch {
			case item.Err != nil:
				wantKind(t, item.Err, fault.Invalid)
				ids = append(ids, "invalid")
			case item.Suppression == nil:
				ids = append(ids, "none")
			default:
				ids = append(ids, item.Suppression.ID)
			}
		}
		return ids
	}
	if diff := cmp.Diff([]string{first.ID, "invalid", "none", "none"}, removed(RemoveInput{
		Emails: []string{"FIRST@example.net", "nonsense", "first@Example.net", "other@example.net"}})); diff != "" {
		t.Errorf("removed by address (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{second.ID, "none", "none", "none", "none"}, removed(RemoveInput{
		IDs: []string{second.ID, second.ID, foreign.ID, "sup_x", ""}})); diff != "" {
		t.Errorf("removed by id (-want +got):\n%s", diff)
	}
	if facts := w.facts(t, event.SuppressionRemoved); len(facts) != 2 {
		t.Errorf("%d facts about removals, want 2: %v", len(facts), facts)
	}
	if n := w.count(t, `SELECT count(*) FROM suppressions WHERE id = ANY($1)`, "{"+kept.ID+","+foreign.ID+"}"); n != 2 {
		t.Errorf("%d of the suppressions that no item matches remain, want 2", n)
	}
}

func TestBatchOfRemovalsIsValidated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, in := range map[string]RemoveInput{
		"nothing": {}, "both": {Emails: []string{"a@b.co"}, IDs: []string{"sup_x"}},
		"too many addresses": {Emails: make([]string, MaxBatch+1)}, "too many ids": {IDs: make([]string, MaxBatch+1)},
	} {
		if _, err := w.RemoveBatch(t.Context(), ada, in); fault.KindOf(err) != fault.Invalid {
			t.Errorf("removing %s: error %v, want an invalid field", name, err)
		}
	}
}

func TestBatchReportsEachAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := w.add(t, ada, "held@example.net")
	items, err := w.AddBatch(t.Context(), ada,
		BatchInput{Emails: []string{"new@example.net", "nonsense", "HELD@example.net", "New@Example.net"}})
	if err != nil {
		t.Fatal(err)
	}
	if !items[0].Added || items[2].Added || items[3].Added || items[2].Suppression.ID != held.ID ||
		items[3].Suppression.ID != items[0].Suppression.ID {
		t.Errorf("got the items %+v", items)
	}
	if items[1].Suppression != nil || wantKind(t, items[1].Err, fault.Invalid).Fields["email"] != "has no @" {
		t.Errorf("item 1 is %+v", items[1])
	}
	if n := len(w.facts(t, event.SuppressionAdded)); n != 2 {
		t.Errorf("got %d facts", n)
	}
}

func TestResponseAndSuppressionAreStoredTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := errors.New("the key is taken")
	_, err := w.Add(t.Context(), ada,
		NewSuppression{Email: "a@example.net",
			Keep: func(_ context.Context, _ idempotency.Execer, row *ent.Suppression) error {
				if row.ID == "" {
					t.Error("Keep was called without the row")
				}
				return refused
			}})
	if !errors.Is(err, refused) {
		t.Error(err)
	}
	_, err = w.AddBatch(t.Context(), ada,
		BatchInput{Emails: []string{"a@example.net"},
			Keep: func(context.Context, idempotency.Execer, []BatchItem) error { return refused }})
	if !errors.Is(err, refused) {
		t.Error(err)
	}
	if n := w.count(t, `SELECT (SELECT count(*) FROM suppressions) + (SELECT count(*) FROM facts)`); n != 0 {
		t.Errorf("%d rows and facts remain", n)
	}
	held := w.add(t, ada, "a@example.net")
	_, err = w.RemoveBatch(t.Context(), ada, RemoveInput{IDs: []string{held.ID},
		Keep: func(context.Context, idempotency.Execer, []RemovedItem) error { return refused }})
	if !errors.Is(err, refused) {
		t.Errorf("a removal whose response is not stored returned %v, want %v", err, refused)
	}
	if _, err := w.Get(t.Context(), ada, held.ID); err != nil {
		t.Errorf("a removal was committed without its response: %v", err)
	}
}

func TestErasedAddressStaysBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, ada, "bob@example.net")
	kept := w.add(t, eve, "bob@example.net")
	unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net", Category: "News"})
	if n, err := w.Erase(t.Context(), ada, "Bob@example.net"); n != 2 || err != nil {
		t.Fatalf("Erase returned %d, %v", n, err)
	}
	if n, err := w.Erase(t.Context(), ada, "bob@example.net"); n != 0 || err != nil {
		t.Errorf("the second Erase returned %d, %v", n, err)
	}
	if n, err := w.Erase(t.Context(), ada, "no address"); n != 0 || err != nil {
		t.Errorf("Erase of an invalid address returned %d, %v", n, err)
	}
	if n := w.count(t, `SELECT count(*) FROM suppressions WHERE account_id = $1 AND email IS NULL AND email_id IS NULL`, ada); n != 1 {
		t.Errorf("%d suppressions were erased", n)
	}
	if n := w.count(t, `SELECT count(*) FROM category_opt_outs WHERE email IS NULL AND email_id IS NULL`); n != 1 {
		t.Errorf("%d opt-outs were erased", n)
	}
	if got := reasons(t, w.Service, MessageRecipient{AccountID: ada, Email: "bob@example.net"}); got[0] != "manual" {
		t.Errorf("got the blocks %q", got)
	}
	if again := w.add(t, ada, "bob@example.net"); again.Email != nil {
		t.Errorf("after adding the address again, the suppression shows %s", *again.Email)
	}
	if got, err := w.Get(t.Context(), eve, kept.ID); err != nil || got.Email == nil {
		t.Errorf("the suppression of another account was erased as well: %v, %v", got, err)
	}
}
