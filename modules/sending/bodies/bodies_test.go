package bodies_test

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
)

// world is an installation with an S3 object store.
type world struct {
	*rooms.Harness

	store *blobtest.Server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store := blobtest.New(t)
	bucket, err := blob.S3(store.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &world{rooms.WithObjects(t, bucket, bodies.Config{After: time.Second}), store}
}

// deliver sends a message and delivers it.
func (w *world) deliver(t *testing.T, m sending.Message) string {
	t.Helper()
	id := w.Send(t, m)
	w.SettleWith(t, w.ClaimAll(t), smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	return id
}

// makeMovesDue makes waiting moves due, except those claimed by a worker, because the two would deadlock.
func (w *world) makeMovesDue(t *testing.T) {
	t.Helper()
	w.Exec(t, `UPDATE body_moves SET due_at = now() WHERE id IN (SELECT id FROM body_moves FOR UPDATE SKIP LOCKED)`)
}

func (w *world) claim(t *testing.T) []bodies.Move {
	t.Helper()
	moves, err := w.Mover.ClaimMoves(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return moves
}

// runMoves runs the walk, then runs and settles the due moves.
func (w *world) runMoves(t *testing.T) []string {
	t.Helper()
	if err := w.Mover.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makeMovesDue(t)
	results := w.Mover.Do(t.Context(), w.claim(t))
	if err := w.Mover.SettleMoves(t.Context(), results); err != nil {
		t.Fatal(err)
	}
	return bodies.Outcomes(results)
}

func (w *world) failStore() {
	w.store.Fault(func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
		rw.WriteHeader(http.StatusServiceUnavailable)
	})
}

func (w *world) recoverStore() {
	w.store.Fault(func(rw http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(rw, r) })
}

// countMoved counts the emails whose bodies exist only in the store.
func (w *world) countMoved(t *testing.T) int {
	t.Helper()
	return w.Count(t, `emails e WHERE body_key IS NOT NULL AND html IS NULL AND text IS NULL AND mime IS NULL
		AND NOT EXISTS (SELECT FROM attachments a WHERE a.email_id = e.id AND (a.object_key IS NULL OR a.data <> ''))`)
}

// readerView is everything that a reader can see of an email.
type readerView struct {
	Whole   records.EmailDetail
	Body    *ent.Email
	Snippet string
	Raw     string
	Files   []*ent.Attachment
}

func (w *world) readAll(t *testing.T, id string) (s readerView) {
	t.Helper()
	var errs [5]error
	s.Whole, errs[0] = w.Records.Detail(t.Context(), sendingtest.Account, id)
	all, err := w.Records.Bodies(t.Context(), sendingtest.Account, id)
	s.Body, errs[1] = all[id], err
	snippets, err := w.Records.Snippets(t.Context(), sendingtest.Account, id)
	s.Snippet, errs[2] = snippets[id], err
	raw, err := w.Composer.Raw(t.Context(), sendingtest.Account, id)
	s.Raw, errs[3] = string(raw), err
	files, err := w.Records.Attachments(t.Context(), sendingtest.Account, id)
	s.Files, errs[4] = files[id], err
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return s
}

var sameEmail = cmp.Options{cmpopts.IgnoreUnexported(ent.Email{}, ent.Attachment{}, ent.Recipient{}, ent.EmailEdges{},
	ent.AttachmentEdges{}, ent.RecipientEdges{}),
	cmpopts.IgnoreFields(ent.Email{}, "BodyKey", "BodySize", "BodySnippet")}

// everyKind returns one message for each way of storing a body.
func everyKind() map[string]sending.Message {
	body := func(text, html string) sending.Message {
		m := rooms.SimpleMessage("bob@example.net")
		m.Text, m.HTML = text, html
		return m
	}
	rich := body("Grüße {{unsubscribe_url}} \u2028 <&> \x01", "<p>Grüße & \u2029</p> {{unsubscribe_url}}")
	yes := true
	rich.Unsubscribe, rich.Headers, rich.Tags = &yes, []shape.Header{{Name: "X-Order", Value: "17"}},
		[]shape.Tag{{Name: "kind", Value: "news"}}
	rich.Attachments = []sending.Attachment{{Name: "one.txt", Data: []byte("one")},
		{Name: "large.bin", Data: bytes.Repeat([]byte("0123456789"), 50_000)}}
	alone := body("", "<p>Alone</p>")
	alone.NoText = true
	relayed := func(raw string) sending.Message {
		m := body("", "")
		m.Relayed = &sending.RelayedMessage{MIME: []byte(strings.ReplaceAll(raw, "\n", "\r\n"))}
		return m
	}
	const head = "From: ada@example.com\nTo: bob@example.net\nSubject: s\nMIME-Version: 1.0\nContent-Type: "
	return map[string]sending.Message{
		"text": body("Hello\n\nBob", ""), "html": body("", "<p>Hello</p>"), "both": body("Hello", "<p>Hello</p>"), "rich": rich, "without a text part": alone,
		"only a text part": body("-----", "<p>Not shown in lists</p>"), "blank": body(" \n", "<p>Shown</p>"),
		"long":    body(strings.Repeat("a line of text\r\n", 40_000), "<p>"+strings.Repeat("<b>ü</b>", 25_000)+"</p>"),
		"relayed": relayed(head + "text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\ngrüße\n"),
		"relayed with a file": relayed(head + "multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html; charset=utf-8\n\n<p>Hi</p>\n" +
			"--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf\nContent-Transfer-Encoding: base64\n\nJVBERg==\n--x--\n"),
		"long and relayed": relayed(head + "text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n" + strings.Repeat("grüße\n", 400_000)),
	}
}

// After delivery, the body of every kind of email exists only in the store, and every reader sees the same as
// before.
func TestMovedBodiesStayReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := map[string]readerView{}
	names := map[string]string{}
	for name, m := range everyKind() {
		id := w.deliver(t, m)
		before[id], names[id] = w.readAll(t, id), name
	}
	for _, outcome := range w.runMoves(t) {
		if outcome != "stored" {
			t.Errorf("a move ended as %s", outcome)
		}
	}
	if n := w.countMoved(t); n != len(before) || w.Count(t, "body_moves") != 0 {
		t.Fatalf("%d of %d bodies were moved and %d moves are left", n, len(before), w.Count(t, "body_moves"))
	}
	for id, want := range before {
		if diff := cmp.Diff(want, w.readAll(t, id), sameEmail); diff != "" {
			t.Errorf("%s, before (-) and after the move (+):\n%.2000s", names[id], diff)
		}
	}
	month := time.Now().UTC().Format("2006-01")
	objects := w.store.Objects(t)
	for key := range objects {
		if !strings.HasPrefix(key, "received/eu/sent/"+month+"/"+sendingtest.Account+"/msg_") {
			t.Errorf("an object has the unexpected key %s", key)
		}
	}
	if len(objects) != len(before)+w.Count(t, "attachments") || w.Count(t, "attachments") == 0 {
		t.Errorf("%d objects", len(objects))
	}
	if all, err := w.Records.Bodies(t.Context(), sendingtest.Account,
		slices.Collect(maps.Keys(before))...); err != nil || len(all) != len(before) {
		t.Errorf("reading all bodies in one call returned %d, %v", len(all), err)
	}
	if found, err := w.Records.Bodies(t.Context(), "acc_01kf0m4w7he6x8q2v5b3n9c1tb",
		slices.Collect(maps.Keys(before))...); err != nil || len(found) != 0 {
		t.Errorf("reading as another account returned %d bodies, %v", len(found), err)
	}
}

// The body of an unsent email stays in its row until all its recipients are settled.
func TestKeepsBodiesOfUnsentEmails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := time.Now().Add(time.Hour)
	later := rooms.SimpleMessage("carol@example.net")
	later.ScheduledAt = &at
	scheduled, deferred := w.Send(t, later), w.Send(t, rooms.SimpleMessage("bob@example.net"))
	w.SettleWith(t, w.ClaimAll(t), smtpclient.Outcome{Kind: smtpclient.Temporary, Code: 451, Reply: "451 Later"})
	if err := w.Mover.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(t, `body_moves WHERE due_at >= now() + interval '14 minutes'`); n != 2 || len(w.claim(t)) != 0 {
		t.Errorf("%d moves are waiting, want 2", n)
	}
	if n := w.Count(t, `body_moves WHERE email_id = '`+scheduled+`' AND due_at > now() + interval '1 hour'`); n != 1 {
		t.Error("the scheduled email would be checked before its time")
	}
	if got := w.runMoves(t); !slices.Equal(got, []string{"unfinished", "unfinished"}) || w.countMoved(t) != 0 {
		t.Errorf("moves ended as %v", got)
	}
	w.MakeDue(t)
	w.SettleWith(t, w.ClaimAll(t), smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	if got := w.runMoves(t); !slices.Contains(got, "stored") || w.countMoved(t) != 1 {
		t.Errorf("after the delivery, moves ended as %v", got)
	}
	if e, err := w.Records.Get(t.Context(), sendingtest.Account, deferred); err != nil || e.BodyKey == nil {
		t.Errorf("the delivered email reads as %+v, %v", e, err)
	}
}

// Resending or delivering again uses the same content as the first time.
func TestMovedBodiesAreResentUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, m := range everyKind() {
		id := w.deliver(t, m)
		before := w.readAll(t, id)
		if got := w.runMoves(t); w.Count(t, `emails WHERE body_key IS NOT NULL AND id = '`+id+`'`) != 1 {
			t.Fatalf("%s was not moved: %v", name, got)
		}
		receipt, err := w.Sending.Resend(t.Context(), w.Caller(), sending.Resend{EmailID: id})
		if err != nil {
			t.Errorf("%s: sending again returned %v", name, err)
			continue
		}
		after := w.readAll(t, receipt.ID)
		if diff := cmp.Diff([]*string{before.Whole.HTML, before.Whole.Text},
			[]*string{after.Whole.HTML, after.Whole.Text}); diff != "" {
			t.Errorf("%s, first (-) and sent again (+):\n%.1000s", name, diff)
		}
		w.SettleWith(t, w.ClaimAll(t), smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})

		// Load it as a delivery would.
		emails, err := compose.Load(t.Context(), w.DB.SQL, []string{id})
		if err != nil {
			t.Fatal(err)
		}
		signed, done, err := w.Composer.Sign(t.Context(), emails[id])
		if err != nil {
			t.Errorf("%s: delivering again returned %v", name, err)
			continue
		}
		if !bytes.HasSuffix(signed.Raw, []byte(before.Raw)) {
			t.Errorf("%s: the content differs when delivered again", name)
		}
		done()
	}
}

// The running service does all of this in the background.
func TestServiceMovesBodiesInTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		w.deliver(t, rooms.SimpleMessage("bob@example.net"))
	}
	w.failStore()
	if err := w.Mover.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 30*time.Second, "a move was tried", func() bool { return w.Count(t, `body_moves WHERE attempts > 0`) > 0 })
	if w.countMoved(t) != 0 {
		t.Error("bodies moved although the store is unavailable")
	}
	if behind, err := w.Mover.Backlog(t.Context()); err != nil || behind == 0 {
		t.Errorf("with the store unavailable, the oldest email is overdue by %s, %v", behind, err)
	}
	w.recoverStore()
	expect.EventuallyWithin(t, 60*time.Second, "all bodies are in the store",
		func() bool { w.makeMovesDue(t); return w.countMoved(t) == 20 })
	if needed, err := bodies.NeedsObjectStore(t.Context(), w.DB); err != nil || !needed {
		t.Errorf("Needed returned %v, %v; want true", needed, err)
	}
	if n := w.Count(t, `schema_migrations WHERE oldest = version AND name LIKE '%_sent_bodies.sql'`); n != 1 {
		t.Error("older versions can still start")
	}
	if _, err := w.Records.Erase(t.Context(), sendingtest.Account, "bob@example.net"); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 60*time.Second, "all objects are deleted", func() bool {
		w.makeMovesDue(t)
		return len(w.store.Objects(t)) == 0 && w.Count(t, "body_moves") == 0
	})
	if needed, err := bodies.NeedsObjectStore(t.Context(), w.DB); err != nil || needed {
		t.Errorf("Needed without emails returned %v, %v; want false", needed, err)
	}
	if behind, err := w.Mover.Backlog(t.Context()); err != nil || behind != 0 {
		t.Errorf("with nothing to move, the oldest email is overdue by %s, %v", behind, err)
	}
}
