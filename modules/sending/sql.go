package sending

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/search"
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

// args are the columns as parameters.
func (c columns) args() []any {
	args := make([]any, len(c))
	for i := range c {
		args[i] = db.Array(c[i])
	}
	return args
}

// insertEmailsSQL and insertRecipientsSQL take their rows from the parameters 1 to
// 31 with 40, and 32 to 39. A recipient is due from now on if its email is sent, and settled
// if the email is not to be sent.
const (
	insertEmailsSQL = `
INSERT INTO emails (id, account_id, domain_id, api_key_id, template_id, template_version, "from", from_address, "to", cc, bcc, reply_to,
	subject, html, text, headers, tags, message_id, attachment_count, unsubscribe, category, status, uncommon, last_event,
	created_at, sent_at, scheduled_at, expires_at, release_at, mime, search)
SELECT v.id, v.account_id, v.domain_id, NULLIF(v.key_id, ''), NULLIF(v.template_id, ''), NULLIF(v.template_version, '')::int,
	v.from_header, v.from_address, v.to_list::jsonb, v.cc::jsonb, v.bcc::jsonb, v.reply_to::jsonb,
	v.subject, NULLIF(v.html, ''), NULLIF(v.body, ''), v.headers::jsonb, v.tags::jsonb, v.message_id, v.attachments::int,
	v.unsubscribe::bool, NULLIF(v.category, ''), v.status, NULLIF(v.uncommon, ''), v.last_event,
	v.created_at::timestamptz, NULLIF(v.sent_at, '')::timestamptz, NULLIF(v.scheduled_at, '')::timestamptz, NULLIF(v.expires_at, '')::timestamptz, NULLIF(v.release_at, '')::timestamptz, NULLIF(v.mime, ''::bytea), ` + search.DocumentSQL + `
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
	$21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::text[], $40::bytea[])
	AS v (id, account_id, domain_id, key_id, template_id, template_version, from_header, from_address, to_list, cc, bcc, reply_to,
	subject, html, body, headers, tags, message_id, attachments, unsubscribe, category, status, uncommon, last_event,
	created_at, sent_at, scheduled_at, expires_at, release_at, words, marks, mime)`
	insertRecipientsSQL = `
INSERT INTO recipients (email_id, account_id, kind, address, destination, state, diagnostic, due_at, settled_at)
SELECT r.email_id, r.account_id, r.kind, r.address, r.destination, r.state, NULLIF(r.diagnostic, ''),
	CASE WHEN r.email_status = 'sent' THEN now() END, CASE WHEN r.email_status = 'failed' THEN now() END
FROM unnest($32::text[], $33::text[], $34::text[], $35::text[], $36::text[], $37::text[], $38::text[], $39::text[])
	AS r (email_id, account_id, kind, address, destination, state, diagnostic, email_status)`
	insertParameters = 40
)

// insertSQL stores emails and their recipients in one round trip; the foreign key
// is checked when the whole statement has run.
const insertSQL = `WITH stored AS (` + insertEmailsSQL + `)` + insertRecipientsSQL

func insertEmails(ctx context.Context, tx db.Execer, batch []*acceptance) error {
	_, err := tx.ExecContext(ctx, insertSQL, insertArgs(batch)...)
	return err
}

// insertArgs are the parameters of insertEmailsSQL and insertRecipientsSQL.
func insertArgs(batch []*acceptance) []any {
	rows, recipients := make(columns, 31), make(columns, 8)
	mimes := make([][]byte, 0, len(batch))
	for _, a := range batch {
		e := a.email
		find := a.searchText()
		templateVersion, sentAt, scheduledAt, expiresAt, releaseAt := "", "", "", "", ""
		if e.templateID != "" {
			templateVersion = intText(e.templateVersion)
		}
		if e.scheduledAt != nil {
			scheduledAt = timeText(*e.scheduledAt)
		}
		if e.expiresAt != nil {
			expiresAt = timeText(*e.expiresAt)
		}
		switch e.status {
		case email.StatusSent:
			sentAt = timeText(e.createdAt)
		case email.StatusScheduled:
			releaseAt = scheduledAt
		default: // recorded and not sent
		}
		rows.add(e.id, e.accountID, e.domainID, e.keyID, e.templateID, templateVersion, e.from, e.fromAddress,
			jsonText(e.to), jsonText(e.cc), jsonText(e.bcc), jsonText(e.replyTo),
			e.subject, e.html, e.text, jsonText(e.headers), jsonText(e.tags), e.messageID,
			intText(e.attachments), strconv.FormatBool(e.unsubscribe), e.category, string(e.status), lifecycle.Uncommon(e.status), string(e.lastEvent),
			timeText(e.createdAt), sentAt, scheduledAt, expiresAt, releaseAt, find.Words, find.Marks)
		mimes = append(mimes, e.mime)
		for _, r := range a.recipients {
			recipients.add(r.emailID, r.accountID, string(r.kind), r.address, r.destination, string(r.state), r.diagnostic, string(e.status))
		}
	}
	return append(append(rows.args(), recipients.args()...), db.Array(mimes))
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
