package inbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/search"
)

// What one commit of messages holds at most.
const (
	storeBatch = 128
	storeBytes = 16 << 20
	// Large messages have a writer of their own: nobody's mail waits for them.
	heavyFrom = 256 << 10
	// As many as there are shares of the memory for such work: who fills one of them
	// keeps no writer from others.
	heavyWriters = 4
)

// joiner finds the writer for a message.
func (s *Service) joiner(size int) *db.Joiner[*arrival] {
	if size >= heavyFrom {
		return s.heavyStores
	}
	return s.stores
}

// storeSQL stores messages with their facts in one statement, which is one round trip
// and one commit. The foreign key of the records is checked when all of it has run. A
// message for several accounts travels once.
var storeSQL = `
WITH raw AS (
	SELECT data, n FROM unnest($1::bytea[]) WITH ORDINALITY AS r (data, n)
), content AS MATERIALIZED (
	SELECT nextval(pg_get_serial_sequence('received_contents', 'id')) AS id, account_id, raw::bigint AS raw, n
	FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS c (account_id, raw, n)
), kept AS (
	INSERT INTO received_contents (id, account_id, size, data, due_at)
	SELECT c.id, c.account_id, octet_length(r.data), r.data, CASE WHEN $4::text = 'move' THEN now() END FROM content c JOIN raw r ON r.n = c.raw
), received AS (
	INSERT INTO received_emails (id, account_id, domain_id, content_id, rcpt_to, mail_from, "from", from_address, "to", cc, reply_to, subject,
		message_id, in_reply_to, "references", authentication, spam_status, spam_score, auto_submitted, size, attachments, defects,
		remote_ip, helo, tls, received_at, search)
	SELECT v.id, v.account_id, v.domain_id, c.id, v.rcpt_to, v.mail_from, v.from_header, v.from_address, v.to_list::jsonb, v.cc::jsonb, v.reply_to::jsonb, v.subject,
		v.message_id, CASE WHEN v.answers THEN v.in_reply_to END, v.refs::jsonb, v.authentication::jsonb, v.spam_status, NULLIF(v.spam_score, '')::float8, v.auto::bool, v.size::bigint,
		v.attachments::jsonb, v.defects::jsonb, v.remote_ip, v.helo, v.tls, v.received_at::timestamptz, ` + search.DocumentSQL + `
	FROM (SELECT *, answer = 'yes' AS answers FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
		$16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[],
		$27::text[], $28::text[], $29::text[], $30::text[], $31::text[], $32::text[], $33::text[])
		AS u (id, account_id, domain_id, content, rcpt_to, mail_from, from_header, from_address, to_list, cc, reply_to, subject, message_id, answer, in_reply_to,
		refs, authentication, spam_status, spam_score, auto, size, attachments, defects, remote_ip, helo, tls, received_at, words, marks)) v
	JOIN content c ON c.n = v.content::bigint
), ` + bus.InsertSQL(34, "true", "true") + `
SELECT count(*) FROM content`

const recordColumns = 29

// flush stores messages together. An error refuses them all, which the joiner then
// tries one by one.
func (s *Service) flush(ctx context.Context, batch []*arrival) []error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a message may lie in a file, see intake.Guarded
	if err := s.store(ctx, batch); err != nil {
		errs := make([]error, len(batch))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	return nil
}

func (s *Service) store(ctx context.Context, batch []*arrival) error {
	raws, contents, records := make([][]byte, 0, len(batch)), make([][]string, 2), make([][]string, recordColumns)
	var facts []event.Fact
	for i, a := range batch {
		before := len(contents[0])
		raws = append(raws, a.raw)
		for _, account := range a.contents {
			contents[0], contents[1] = append(contents[0], account), append(contents[1], strconv.Itoa(i+1))
		}
		a.addTo(records, before+1)
		facts = append(facts, a.facts...)
	}
	published, err := s.bus.InsertArgs(facts...)
	if err != nil {
		return err
	}
	move := "stay"
	if s.objects != nil {
		move = "move"
	}
	args := []any{db.Blobs(raws), db.Texts(contents[0]), db.Texts(contents[1]), move}
	for _, column := range records {
		args = append(args, db.Texts(column))
	}
	rows, err := s.db.QueryPrepared(ctx, storeSQL, append(args, published...)...)
	if err != nil {
		return err
	}
	stored, err := scanAll(rows, func(n *int) []any { return []any{n} })
	if err == nil && (len(stored) != 1 || stored[0] != len(contents[0])) {
		err = errors.New("the statement did not end")
	}
	return err
}

// addTo adds the records to the columns; content is the place of its first content.
func (a *arrival) addTo(columns [][]string, content int) {
	m, common, words := a.message, a.marks(), a.words()
	answer, inReplyTo, score := "no", "", ""
	if m.InReplyTo != nil {
		answer, inReplyTo = "yes", *m.InReplyTo
	}
	if a.spam.score != nil {
		score = strconv.FormatFloat(*a.spam.score, 'g', -1, 64)
	}
	files := make([]shape.ReceivedFile, 0, len(m.Files))
	for _, f := range m.Files {
		files = append(files, shape.ReceivedFile(f))
	}
	shared := []string{a.from, m.From, clip(m.FromAddress, maxMark), jsonText(orEmpty(m.To)), jsonText(orEmpty(m.CC)), jsonText(orEmpty(m.ReplyTo)), m.Subject, m.MessageID, answer, inReplyTo,
		jsonText(orEmpty(m.References)), jsonText(a.auth), string(a.spam.status), score, strconv.FormatBool(m.AutoSubmitted), strconv.Itoa(len(a.raw)), jsonText(files),
		jsonText(orEmpty(m.Defects)), a.remote.String(), a.hello, a.tls, a.at.UTC().Format(time.RFC3339Nano), words}
	for _, r := range a.records {
		own := append([]string{r.id, r.accountID, r.domainID, strconv.Itoa(content + r.content), r.rcpt}, shared...)
		for i, value := range append(own, r.document(common)) {
			columns[i] = append(columns[i], value)
		}
	}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// jsonText encodes values that always encode: strings and structs of strings.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("inbound: column value cannot be encoded: %v", err))
	}
	return string(b)
}
