package sending

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
)

// The hot path in hand-written SQL over the tables of ent/schema: one statement
// for any number of rows, its text constant. Arrays travel as text and JSON as
// strings, because the hot handle sends []byte in binary form.

// columns collects the values of rows by column, for unnest.
type columns [][]string

func (c columns) add(values ...string) {
	for i, v := range values {
		c[i] = append(c[i], v)
	}
}

func (c columns) args() []any {
	args := make([]any, len(c))
	for i := range c {
		args[i] = pq.Array(c[i])
	}
	return args
}

// insertSQL stores emails and their recipients in one round trip; the foreign key
// is checked when the whole statement has run.
const insertSQL = `
WITH stored AS (
INSERT INTO emails (id, account_id, domain_id, api_key_id, "from", from_address, "to", cc, bcc, reply_to,
	subject, html, text, headers, tags, message_id, attachment_count, status, last_event, created_at, sent_at, search)
SELECT v.id, v.account_id, v.domain_id, NULLIF(v.key_id, ''), v.from_header, v.from_address, v.to_list::jsonb, v.cc::jsonb, v.bcc::jsonb, v.reply_to::jsonb,
	v.subject, NULLIF(v.html, ''), NULLIF(v.body, ''), v.headers::jsonb, v.tags::jsonb, v.message_id, v.attachments::int, v.status, v.last_event,
	v.created_at::timestamptz, v.created_at::timestamptz, ` + searchSQL + `
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[])
	AS v (id, account_id, domain_id, key_id, from_header, from_address, to_list, cc, bcc, reply_to,
	subject, html, body, headers, tags, message_id, attachments, status, last_event, created_at, words, marks)
)
INSERT INTO recipients (email_id, account_id, kind, address, destination, state, due_at)
SELECT r.email_id, r.account_id, r.kind, r.address, r.destination, 'queued', now()
FROM unnest($23::text[], $24::text[], $25::text[], $26::text[], $27::text[]) AS r (email_id, account_id, kind, address, destination)`

func insertEmails(ctx context.Context, tx db.Execer, batch []*acceptance) error {
	rows, recipients := make(columns, 22), make(columns, 5)
	for _, a := range batch {
		e := a.email
		find := a.searchText()
		rows.add(e.id, e.accountID, e.domainID, e.keyID, e.from, e.fromAddress,
			jsonText(e.to), jsonText(e.cc), jsonText(e.bcc), jsonText(e.replyTo),
			e.subject, e.html, e.text, jsonText(e.headers), jsonText(e.tags), e.messageID,
			intText(e.attachments), string(e.status), string(e.lastEvent), timeText(e.createdAt), find.words, find.marks)
		for _, r := range a.recipients {
			recipients.add(r.emailID, r.accountID, string(r.kind), r.address, r.destination)
		}
	}
	_, err := tx.ExecContext(ctx, insertSQL, append(rows.args(), recipients.args()...)...)
	return err
}

const insertAttachmentSQL = `
INSERT INTO attachments (email_id, account_id, position, name, content_type, content_id, size, data)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

func insertAttachments(ctx context.Context, tx db.Execer, a *acceptance) error {
	for i, f := range a.files {
		if _, err := tx.ExecContext(ctx, insertAttachmentSQL,
			a.email.id, a.email.accountID, i, f.Name, f.ContentType, f.ContentID, len(f.Data), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// jsonText encodes values that always encode: strings and structs of strings.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("sending: column value cannot be encoded: " + err.Error())
	}
	return string(b)
}

func intText(n int) string { return strconv.Itoa(n) }

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
