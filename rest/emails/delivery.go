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

// delivery is what the operations on the delivery of an email need of sending.
type delivery interface {
	RecipientsOf(ctx context.Context, accountID, emailID string) ([]*ent.Recipient, error)
	AttemptsOf(ctx context.Context, accountID, emailID string, r page.Request) (page.Page[records.RecipientAttempt], error)
}

// recipientRecord is one address of an email, and where delivery to it stands.
type recipientRecord struct {
	Address       string            `json:"address" doc:"An internationalised domain is in A-labels (xn--…)." example:"bob@example.net"`
	Kind          string            `json:"kind" enum:"to,cc,bcc" doc:"The list of the request that named it."`
	State         string            `json:"state" enum:"queued,deferred,delivered,bounced,failed" doc:"queued: not tried yet. deferred: refused for now, and tried again. delivered: its server took the message. bounced: its server refused for good, or retries ran out. failed: no attempt could succeed for another reason."`
	Held          bool              `json:"held" doc:"Whether the operator of the service holds it back: nothing is attempted until that ends."`
	Attempts      int               `json:"attempts" doc:"How many attempts were begun."`
	NextAttemptAt wire.OptionalTime `json:"next_attempt_at" doc:"When the next attempt is due; null once settled, and while it is held."`
	Code          *int              `json:"code" doc:"The last SMTP reply code (RFC 5321); null when there was none."`
	EnhancedCode  *string           `json:"enhanced_code" doc:"The last enhanced status code (RFC 3463); null when there was none." example:"4.7.1"`
	Diagnostic    *string           `json:"diagnostic" doc:"The last words of the receiving server, or why none was reached."`
	RemoteMTA     *string           `json:"remote_mta" doc:"The server that the last attempt spoke to." example:"mx1.example.net"`
	SettledAt     wire.OptionalTime `json:"settled_at" doc:"When its final state was reached; null before that."`
}

func newRecipientRecord(r *ent.Recipient) recipientRecord {
	return recipientRecord{Address: r.Address, Kind: string(r.Kind), State: string(r.State), Held: records.Held(r), Attempts: r.Attempts, NextAttemptAt: wire.OptionalTime{At: records.NextAttempt(r)},
		Code: r.Code, EnhancedCode: r.EnhancedCode, Diagnostic: r.Diagnostic, RemoteMTA: r.RemoteMta, SettledAt: wire.OptionalTime{At: r.SettledAt}}
}

// attemptRecord is one try to hand the message to a server for one recipient.
type attemptRecord struct {
	Recipient    string            `json:"recipient" doc:"The address that it was for." example:"bob@example.net"`
	Number       int               `json:"number" doc:"Which attempt for this recipient, from 1."`
	StartedAt    wire.Time         `json:"started_at"`
	FinishedAt   wire.OptionalTime `json:"finished_at" doc:"null while it runs, and when it was cut off."`
	Outcome      *string           `json:"outcome" enum:"delivered,deferred,bounced,failed,unknown,not_started" doc:"null while it runs. unknown: the whole message had gone out and the answer never came, or the service was cut off in the middle: the recipient may have it, and may get a second copy with the same Message-ID. not_started: the service was cut off before the message had gone out."`
	Phase        *string           `json:"phase" doc:"The step where it ended: dns, connect, greeting, ehlo, starttls, auth, mail, rcpt, data, body, or wait when no connection was made because the receiving servers had just failed." example:"rcpt"`
	Code         *int              `json:"code" doc:"The SMTP reply code (RFC 5321); null when there was none."`
	EnhancedCode *string           `json:"enhanced_code" doc:"The enhanced status code (RFC 3463); null when there was none." example:"4.7.1"`
	Reply        *string           `json:"reply" doc:"The words of the receiving server, or why none was reached."`
	Class        *string           `json:"class" doc:"What the answer is about: bad_address, bad_domain, mailbox_full, system, block, throttle, greylist, size, content, policy, challenge or unknown; null when it was delivered." example:"greylist"`
	RemoteHost   *string           `json:"remote_host" doc:"Name of the receiving server; null when none was reached." example:"mx1.example.net"`
	RemoteAddr   *string           `json:"remote_addr" doc:"Its IP address; null when none was reached." example:"192.0.2.25"`
	LocalAddr    *string           `json:"local_addr" doc:"The IP address that the connection came from; null when none was made." example:"198.51.100.7"`
	Way          *string           `json:"way" doc:"By which way out: a source address, or smarthost:host:port; null for the machine's own address."`
	TLS          *string           `json:"tls" doc:"TLS version of the connection; null when it was clear text." example:"TLS 1.3"`
	TLSPolicy    *string           `json:"tls_policy" doc:"Whose demand decided about TLS: opportunistic (nobody's), enforced (the sending domain's tls_mode), mta-sts or dane (the receiver's)."`
}

func newAttemptRecord(a records.RecipientAttempt) attemptRecord {
	out := attemptRecord{Recipient: a.Address, Number: a.Number, StartedAt: wire.Time(a.StartedAt), FinishedAt: wire.OptionalTime{At: a.FinishedAt},
		Phase: wire.OrNull(a.Phase), Code: a.Code, EnhancedCode: a.EnhancedCode, Reply: wire.OrNull(a.Reply), Class: wire.OrNull(a.Class),
		RemoteHost: wire.OrNull(a.RemoteHost), RemoteAddr: wire.OrNull(a.RemoteAddr), LocalAddr: wire.OrNull(a.LocalAddr), Way: wire.OrNull(a.Way),
		TLS: wire.OrNull(a.TLS), TLSPolicy: wire.OrNull(a.TLSPolicy)}
	if a.Outcome != nil {
		out.Outcome = wire.OrNull(string(*a.Outcome))
	}
	return out
}

type recipientList struct {
	Recipients []recipientRecord `json:"recipients" nullable:"false"`
	HasMore    bool              `json:"has_more" doc:"Always false: an email has at most 50 recipients, and all are here."`
	NextCursor *string           `json:"next_cursor" doc:"Always null."`
}

// attemptsQuery is a page of an email's attempts.
type attemptsQuery struct {
	api.Page
	api.Item
}

// delivery adds the operations that tell how the delivery of an email goes.
func (e *edge) delivery(g *api.Group) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/emails/{id}/recipients", ID: "listEmailRecipients", Needs: rights.ReadSent,
		Summary:     "List the recipients of an email",
		Description: "Every address that the email goes to, each with its own state, in the order of the request.",
		Problems:    []int{http.StatusNotFound},
		Example:     map[string]any{"recipients": []any{recipientExample()}, "has_more": false, "next_cursor": nil}, Of: email,
	}, e.recipients)
	api.ListBy(g, api.Operation{
		Path: "/emails/{id}/attempts", ID: "listEmailAttempts", Needs: rights.ReadSent,
		Summary:     "List the delivery attempts of an email",
		Description: "Newest first, those of all recipients together. Each is recorded before it begins, so one that was cut off is here too, as `unknown` or `not_started`.",
		Problems:    []int{http.StatusNotFound},
		Example:     attemptExample(), Of: email,
	}, api.Plural{Member: "attempts", Schema: "AttemptList"}, e.attempts, newAttemptRecord)
}

func recipientExample() map[string]any {
	return map[string]any{"address": "bob@example.net", "kind": "to", "state": "deferred", "held": false, "attempts": 1, "next_attempt_at": "2026-01-15T09:31:00.000Z",
		"code": 451, "enhanced_code": "4.7.1", "diagnostic": "451 4.7.1 Greylisted, try again later", "remote_mta": "mx1.example.net", "settled_at": nil}
}

func attemptExample() map[string]any {
	return map[string]any{"recipient": "bob@example.net", "number": 1, "started_at": "2026-01-15T09:30:00.120Z", "finished_at": "2026-01-15T09:30:00.480Z", "outcome": "deferred",
		"phase": "rcpt", "code": 451, "enhanced_code": "4.7.1", "reply": "451 4.7.1 Greylisted, try again later", "class": "greylist",
		"remote_host": "mx1.example.net", "remote_addr": "192.0.2.25", "local_addr": "198.51.100.7", "way": nil, "tls": "TLS 1.3", "tls_policy": "opportunistic"}
}

func (e *edge) recipients(ctx context.Context, c *api.Call, in *api.Item) (recipientList, error) {
	found, err := e.records.RecipientsOf(ctx, c.AccountID, in.ID)
	return recipientList{Recipients: wire.ListOf(found, newRecipientRecord)}, err
}

func (e *edge) attempts(ctx context.Context, c *api.Call, in *attemptsQuery) (page.Page[records.RecipientAttempt], error) {
	return e.records.AttemptsOf(ctx, c.AccountID, in.ID, in.Request())
}
