package inbound

import (
	"context"
	"errors"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/storage/search"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Limits of one commit.
const (
	storeBatch = 128
	storeBytes = 16 << 20
	// Large messages have separate writers, so that others do not wait for them.
	heavyFrom = 256 << 10
	// One writer per share of the memory for large messages, so that a client that fills one share does not
	// block the writers of others.
	heavyWriters = 4
)

// writer stores messages, many per commit.
type writer struct {
	db            *db.DB
	bus           Bus
	moves         bool // contents move to the object store afterwards
	single, heavy *db.Joiner[*arrival]
}

func newWriter(d *db.DB, b Bus, moves bool) *writer {
	w := &writer{db: d, bus: b, moves: moves}
	size := func(a *arrival) int { return len(a.raw) }
	w.single = db.NewJoiner(db.JoinerConfig[*arrival]{MaxItems: storeBatch, MaxBytes: storeBytes,
		Timeout: d.FlushTime(), Size: size}, w.flush)
	w.heavy = db.NewJoiner(db.JoinerConfig[*arrival]{Writers: heavyWriters, MaxItems: storeBatch, MaxBytes: storeBytes,
		Timeout: d.FlushTime(), Size: size}, w.flush)
	return w
}

// close stores waiting messages.
func (w *writer) close() {
	w.single.Close()
	w.heavy.Close()
}

// joinerFor returns the joiner for a message of the given size.
func (w *writer) joinerFor(size int) *db.Joiner[*arrival] {
	if size >= heavyFrom {
		return w.heavy
	}
	return w.single
}

// storeSQL stores messages with their facts in one statement, and therefore in one round trip and one commit.
// The foreign key of the records is checked at the end of the statement. A message for several accounts is sent
// to the database only once.
var storeSQL = db.Compile(`
WITH raw AS (
	SELECT r.data, r.n FROM ` + rawRows.NumberedSource("n") + `
), content AS MATERIALIZED (
	SELECT nextval(pg_get_serial_sequence('received_contents', 'id')) AS id, c.account_id, c.raw, c.n FROM ` + contentRows.NumberedSource("n") + `
), kept AS (
	INSERT INTO received_contents (id, account_id, size, data, due_at)
	SELECT c.id, c.account_id, octet_length(r.data), r.data, CASE WHEN @move::bool THEN now() END FROM content c JOIN raw r ON r.n = c.raw
), received AS (
	` + recordRows.Insert("received_emails") + ` JOIN content c ON c.n = v.content
), ` + bus.PublishSQL("true", "true") + `
SELECT count(*) FROM content`)

var rawRows = batch.New("r", batch.Bytes("data", func(a *arrival) []byte { return a.raw }))

// storedContent is a message as stored for one account.
type storedContent struct {
	accountID string
	raw       int // index of the message, starting at 1
}

var contentRows = batch.New("c",
	batch.Text("account_id", func(c storedContent) string { return c.accountID }),
	batch.Int("raw", func(c storedContent) int { return c.raw }),
)

// storedRecord is a message as stored for one recipient.
type storedRecord struct {
	*arrival
	recipientRecord

	content      int // index of the content, starting at 1
	words, marks string
}

// recordRows uses the column answers to mark a missing In-Reply-To, because a message may also reply to an
// empty id.
var recordRows = batch.New("v",
	batch.Text("id", func(r *storedRecord) string { return r.id }),
	batch.Text("account_id", func(r *storedRecord) string { return r.accountID }),
	batch.Text("domain_id", func(r *storedRecord) string { return r.domainID }),
	batch.Int("content", func(r *storedRecord) int { return r.content }).SourceOnly(),
	batch.ComputedColumn[*storedRecord]("content_id", "c.id"),
	batch.Text("rcpt_to", func(r *storedRecord) string { return r.rcpt }),
	batch.Text("mail_from", func(r *storedRecord) string { return r.from }),
	batch.Text("from", func(r *storedRecord) string { return r.message.From }),
	batch.Text("from_address", func(r *storedRecord) string { return clipText(r.message.FromAddress, maxMark) }),
	batch.JSON("to", func(r *storedRecord) []string { return orEmpty(r.message.To) }),
	batch.JSON("cc", func(r *storedRecord) []string { return orEmpty(r.message.CC) }),
	batch.JSON("reply_to", func(r *storedRecord) []string { return orEmpty(r.message.ReplyTo) }),
	batch.Text("subject", func(r *storedRecord) string { return r.message.Subject }),
	batch.Text("message_id", func(r *storedRecord) string { return r.message.MessageID }),
	batch.Bool("answers", func(r *storedRecord) bool { return r.message.InReplyTo != nil }).SourceOnly(),
	batch.Text("answered", func(r *storedRecord) string {
		if r.message.InReplyTo == nil {
			return ""
		}
		return *r.message.InReplyTo
	}).SourceOnly(),
	batch.ComputedColumn[*storedRecord]("in_reply_to", "CASE WHEN v.answers THEN v.answered END"),
	batch.JSON("references", func(r *storedRecord) []string { return orEmpty(r.message.References) }),
	batch.JSON("authentication", func(r *storedRecord) shape.Authentication { return r.auth }),
	batch.Text("spam_status", func(r *storedRecord) receivedemail.SpamStatus { return r.spam.status }),
	batch.Text("spam_score", func(r *storedRecord) string {
		if r.spam.score == nil {
			return ""
		}
		return strconv.FormatFloat(*r.spam.score, 'g', -1, 64)
	}).OrNull().As("float8"),
	batch.Bool("auto_submitted", func(r *storedRecord) bool { return r.message.AutoSubmitted }),
	batch.Int("size", func(r *storedRecord) int { return len(r.raw) }),
	batch.JSON("attachments", func(r *storedRecord) []shape.ReceivedFile {
		files := make([]shape.ReceivedFile, len(r.message.Files))
		for i, f := range r.message.Files {
			files[i] = shape.ReceivedFile(f)
		}
		return files
	}),
	batch.JSON("defects", func(r *storedRecord) []string { return orEmpty(r.message.Defects) }),
	batch.Text("remote_ip", func(r *storedRecord) string { return r.remote.String() }),
	batch.Text("helo", func(r *storedRecord) string { return r.hello }),
	batch.Text("tls", func(r *storedRecord) string { return r.tls }),
	batch.Time("received_at", func(r *storedRecord) time.Time { return r.at }),
	batch.Text("words", func(r *storedRecord) string { return r.words }).SourceOnly(),
	batch.Text("marks", func(r *storedRecord) string { return r.marks }).SourceOnly(),
	batch.ComputedColumn[*storedRecord]("search", search.DocumentSQL),
)

// flush stores messages together. After an error, the joiner retries them one by one.
func (w *writer) flush(ctx context.Context, batch []*arrival) []error {
	// a message may be a memory-mapped file; see intake.RecoverDiskFault
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := w.store(ctx, batch); err != nil {
		errs := make([]error, len(batch))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	return nil
}

func (w *writer) store(ctx context.Context, arrivals []*arrival) error {
	var contents []storedContent
	var records []*storedRecord
	var facts []event.Fact
	for i, a := range arrivals {
		before := len(contents)
		for _, account := range a.contents {
			contents = append(contents, storedContent{account, i + 1})
		}
		common, words := a.searchMarks(), a.searchWords()
		for _, r := range a.records {
			records = append(records, &storedRecord{arrival: a, recipientRecord: r, content: before + r.content + 1,
				words: words, marks: r.searchDocument(common)})
		}
		facts = append(facts, a.facts...)
	}
	published, err := w.bus.PublishArgs(facts...)
	if err != nil {
		return err
	}
	args := storeSQL.Args(append(published, rawRows.Rows(arrivals), contentRows.Rows(contents),
		recordRows.Rows(records), db.Arg("move", w.moves))...)
	var stored int
	err = w.db.RunSized(ctx, args, func(on db.Execer) (err error) {
		stored, err = db.One(ctx, on, db.Value[int], storeSQL.Text, args...)
		return err
	})
	if err == nil && stored != len(contents) {
		err = errors.New("the statement did not store all contents")
	}
	return err
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
