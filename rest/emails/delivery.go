package emails

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

// delivery is the part of sending that the operations on the delivery of an email use.
type delivery interface {
	RecipientsOf(ctx context.Context, accountID, emailID string) ([]*ent.Recipient, error)
	AttemptsOf(ctx context.Context, accountID, emailID string,
		r page.Request) (page.Page[records.RecipientAttempt], error)
}

// recipientRecord is a recipient of an email with its delivery state.
type recipientRecord struct {
	Address       string            `json:"address" doc:"The recipient's address, with an internationalized domain in A-labels (xn--…)." example:"bob@example.net"`
	Kind          string            `json:"kind" enum:"to,cc,bcc" doc:"The field of the request that contains the address."`
	State         string            `json:"state" enum:"queued,deferred,delivered,bounced,failed" doc:"queued: not attempted yet. deferred: temporarily refused, will be retried. delivered: accepted by its server. bounced: permanently refused, or retries ran out. failed: another reason prevents delivery."`
	Held          bool              `json:"held" doc:"Whether the operator holds the recipient. A held recipient is not attempted until it is released."`
	Attempts      int               `json:"attempts" doc:"Number of attempts that were started."`
	NextAttemptAt wire.OptionalTime `json:"next_attempt_at" doc:"When the next attempt is due; null if the recipient is settled or held."`
	Code          *int              `json:"code" doc:"The last SMTP reply code (RFC 5321); null if there was none."`
	EnhancedCode  *string           `json:"enhanced_code" doc:"The last enhanced status code (RFC 3463); null if there was none." example:"4.7.1"`
	Diagnostic    *string           `json:"diagnostic" doc:"The last reply of the receiving server, or why no server was reached."`
	RemoteMTA     *string           `json:"remote_mta" doc:"The server of the last attempt." example:"mx1.example.net"`
	SettledAt     wire.OptionalTime `json:"settled_at" doc:"When the final state was reached; null if it is not final yet."`
}

func newRecipientRecord(r *ent.Recipient) recipientRecord {
	return recipientRecord{Address: r.Address, Kind: string(r.Kind), State: string(r.State), Held: records.IsHeld(r),
		Attempts: r.Attempts, NextAttemptAt: wire.OptionalTime{At: records.NextAttemptAt(r)},
		Code: r.Code, EnhancedCode: r.EnhancedCode, Diagnostic: r.Diagnostic, RemoteMTA: r.RemoteMta,
		SettledAt: wire.OptionalTime{At: r.SettledAt}}
}

// attemptRecord is an attempt to deliver the message to one recipient.
type attemptRecord struct {
	Recipient    string            `json:"recipient" doc:"The recipient's address." example:"bob@example.net"`
	Number       int               `json:"number" doc:"Number of the attempt for this recipient, starting at 1."`
	StartedAt    wire.Time         `json:"started_at" doc:"When the attempt started."`
	FinishedAt   wire.OptionalTime `json:"finished_at" doc:"When the attempt ended. null if it is running or was interrupted."`
	Outcome      *string           `json:"outcome" enum:"delivered,deferred,bounced,failed,unknown,not_started" doc:"null if running. unknown: the whole message was sent but no reply arrived, or the service was interrupted during the attempt. The recipient may have the message, and may get a second copy with the same Message-ID. not_started: the service was interrupted before the whole message was sent."`
	Phase        *string           `json:"phase" doc:"The step where the attempt ended: dns, connect, greeting, ehlo, starttls, auth, mail, rcpt, data, body, or wait if no connection was made because the receiving servers had just failed." example:"rcpt"`
	Code         *int              `json:"code" doc:"The SMTP reply code (RFC 5321); null if there was none."`
	EnhancedCode *string           `json:"enhanced_code" doc:"The enhanced status code (RFC 3463); null if there was none." example:"4.7.1"`
	Reply        *string           `json:"reply" doc:"The reply of the receiving server, or why no server was reached."`
	Class        *string           `json:"class" doc:"The cause of the refusal: bad_address, bad_domain, mailbox_full, system, block, throttle, greylist, size, content, policy, challenge or unknown; null if delivered." example:"greylist"`
	RemoteHost   *string           `json:"remote_host" doc:"Name of the receiving server; null if none was reached." example:"mx1.example.net"`
	RemoteAddr   *string           `json:"remote_addr" doc:"IP address of the receiving server; null if none was reached." example:"192.0.2.25"`
	LocalAddr    *string           `json:"local_addr" doc:"Local IP address of the connection; null if no connection was made." example:"198.51.100.7"`
	Way          *string           `json:"way" doc:"The route: a source address, or smarthost:host:port; null if the default address of the host was used."`
	TLS          *string           `json:"tls" doc:"TLS version of the connection; null if it was not encrypted." example:"TLS 1.3"`
	TLSPolicy    *string           `json:"tls_policy" doc:"The policy that determined whether TLS is required: opportunistic (none), enforced (tls_mode of the sending domain), mta-sts or dane (of the receiver)."`
}

func newAttemptRecord(a records.RecipientAttempt) attemptRecord {
	out := attemptRecord{Recipient: a.Address, Number: a.Number, StartedAt: wire.Time(a.StartedAt),
		FinishedAt: wire.OptionalTime{At: a.FinishedAt},
		Phase:      wire.OrNull(a.Phase), Code: a.Code, EnhancedCode: a.EnhancedCode, Reply: wire.OrNull(a.Reply),
		Class:      wire.OrNull(a.Class),
		RemoteHost: wire.OrNull(a.RemoteHost), RemoteAddr: wire.OrNull(a.RemoteAddr),
		LocalAddr: wire.OrNull(a.LocalAddr), Way: wire.OrNull(a.Way),
		TLS: wire.OrNull(a.TLS), TLSPolicy: wire.OrNull(a.TLSPolicy)}
	if a.Outcome != nil {
		out.Outcome = wire.OrNull(string(*a.Outcome))
	}
	return out
}

type recipientList struct {
	Recipients []recipientRecord `json:"recipients" nullable:"false" doc:"All recipients, in the order of the request."`
	HasMore    bool              `json:"has_more" doc:"Always false: an email has at most 50 recipients, and all are returned."`
	NextCursor *string           `json:"next_cursor" doc:"Always null."`
}

// attemptsQuery is a page of an email's attempts.
type attemptsQuery struct {
	api.Page
	api.Item
}

// delivery adds the operations that report the delivery of an email.
func (e *edge) delivery(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/emails/{id}/recipients", ID: "listEmailRecipients", Needs: rights.ReadSent,
		Summary:     "List the recipients of an email",
		Description: "Lists the recipients of an email, each with its own state, in the order of the request.",
		Problems:    []int{http.StatusNotFound},
		Example:     map[string]any{"recipients": []any{recipientExample()}, "has_more": false, "next_cursor": nil},
		Of:          email,
	}, e.recipients)
	api.ListBy(g, api.Operation{
		Path: "/emails/{id}/attempts", ID: "listEmailAttempts", Needs: rights.ReadSent,
		Summary: "List the delivery attempts of an email",
		Description: "Lists the attempts for all recipients of an email, newest first. Each attempt is recorded " +
			"before it starts, so an interrupted attempt is listed as `unknown` or `not_started`.",
		Problems: []int{http.StatusNotFound},
		Example:  attemptExample(), Of: email,
	}, api.Plural{Member: "attempts", Schema: "AttemptList"}, e.attempts, newAttemptRecord)
}

func recipientExample() map[string]any {
	return map[string]any{"address": "bob@example.net", "kind": "to", "state": "deferred", "held": false, "attempts": 1,
		"next_attempt_at": "2026-01-15T09:31:00.000Z",
		"code":            451, "enhanced_code": "4.7.1", "diagnostic": "451 4.7.1 Greylisted, try again later",
		"remote_mta": "mx1.example.net", "settled_at": nil}
}

func attemptExample() map[string]any {
	return map[string]any{"recipient": "bob@example.net", "number": 1, "started_at": "2026-01-15T09:30:00.120Z",
		"finished_at": "2026-01-15T09:30:00.480Z", "outcome": "deferred",
		"phase": "rcpt", "code": 451, "enhanced_code": "4.7.1", "reply": "451 4.7.1 Greylisted, try again later", "class": "greylist",
		"remote_host": "mx1.example.net", "remote_addr": "192.0.2.25", "local_addr": "198.51.100.7", "way": nil,
		"tls": "TLS 1.3", "tls_policy": "opportunistic"}
}

func (e *edge) recipients(ctx context.Context, c *api.Call, in *api.Item) (recipientList, error) {
	found, err := e.records.RecipientsOf(ctx, c.AccountID, in.ID)
	return recipientList{Recipients: wire.ListOf(found, newRecipientRecord)}, err
}

func (e *edge) attempts(ctx context.Context, c *api.Call,
	in *attemptsQuery) (page.Page[records.RecipientAttempt], error) {
	return e.records.AttemptsOf(ctx, c.AccountID, in.ID, in.Request())
}
