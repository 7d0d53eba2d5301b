package received

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Service is the part of inbound that these operations use.
type Service interface {
	List(ctx context.Context, accountID string, q inbound.ListQuery) (page.Page[*ent.ReceivedEmail], error)
	Get(ctx context.Context, accountID, emailID string) (*ent.ReceivedEmail, error)
	Open(ctx context.Context, e *ent.ReceivedEmail) (*inbound.Content, error)
	Delete(ctx context.Context, accountID, emailID string) error
	Reply(ctx context.Context, caller accounts.Caller, a inbound.ReplyRequest) (sending.Receipt, error)
	Forward(ctx context.Context, caller accounts.Caller, a inbound.ReplyRequest) (sending.Receipt, error)
	Rules(ctx context.Context, accountID, domainID string) (addressrules.Rules, error)
	PutRules(ctx context.Context, accountID, domainID string, r addressrules.Rules) (addressrules.Rules, error)
}

var _ Service = (*inbound.Service)(nil)

const tagReceived = "Received emails"

// ReceivedHead is the record in lists: the payload of the event email.received, and the sender. It is exported
// because the document only includes the fields of embedded structs with exported types.
type ReceivedHead struct { //nolint:revive // the document has the name of the type
	ID              string       `json:"id" doc:"The ID of the received email." example:"inb_01kf0m4w7he6x8q2v5b3n9c1ta"`
	EmailID         string       `json:"email_id" doc:"The same as id, as in the event email.received."`
	DomainID        string       `json:"domain_id" doc:"ID of the domain that received it."`
	Status          string       `json:"status" enum:"received" doc:"The status of the email, which is always received."`
	RcptTo          string       `json:"rcpt_to" doc:"The envelope recipient: the address that received it." example:"support@example.com"`
	MailFrom        string       `json:"mail_from" doc:"The envelope sender; empty for bounces."`
	From            string       `json:"from" doc:"The From header field, which can be forged; see auth." example:"Bob <bob@example.net>"`
	To              []string     `json:"to" nullable:"false" doc:"The addresses in the To header field."`
	CC              []string     `json:"cc" nullable:"false" doc:"The addresses in the Cc header field."`
	ReplyTo         []string     `json:"reply_to" nullable:"false" doc:"The addresses that replies are sent to."`
	Subject         string       `json:"subject" doc:"The subject."`
	MessageID       string       `json:"message_id" doc:"The message ID without angle brackets; empty if there is none."`
	InReplyTo       *string      `json:"in_reply_to" doc:"The Message-ID that the email replies to. null if it replies to none."`
	References      []string     `json:"references" nullable:"false" doc:"The Message-IDs of the thread, oldest first."`
	Auth            receivedAuth `json:"auth" doc:"The results of sender authentication."`
	SpamStatus      string       `json:"spam_status" enum:"ham,spam,unknown" doc:"unknown: there is no spam filter, or it did not respond."`
	SpamScore       *float64     `json:"spam_score" doc:"Score from the spam filter; null if there is none."`
	AutoSubmitted   bool         `json:"auto_submitted" doc:"Whether it is an automatic reply or a report (RFC 3834). Do not reply to such mail automatically."`
	Size            int64        `json:"size" doc:"Size of the raw message in bytes."`
	AttachmentCount int          `json:"attachment_count" doc:"The number of attachments."`
	Defects         []string     `json:"defects" nullable:"false" doc:"Descriptions of the parts of the message that could not be read."`
	ReceivedAt      wire.Time    `json:"received_at" doc:"When the email was received."`
}

type receivedAuth struct {
	SPF         string   `json:"spf" doc:"A result as defined in RFC 8601 section 2.7: pass, fail, softfail, neutral, none, policy, temperror or permerror. It never causes a refusal."`
	DKIM        string   `json:"dkim" doc:"The result of DKIM."`
	DMARC       string   `json:"dmarc" doc:"The result of DMARC."`
	IPRev       string   `json:"iprev" doc:"The result of the reverse DNS check."`
	DMARCPolicy string   `json:"dmarc_policy" doc:"The policy of the From domain: none, quarantine or reject; empty if there is none."`
	SPFDomain   string   `json:"spf_domain" doc:"The domain that spf was checked for."`
	DKIMDomains []string `json:"dkim_domains" nullable:"false" doc:"Domains with a valid signature."`
	RemoteIP    string   `json:"remote_ip" doc:"IP address of the sending server."`
	Helo        string   `json:"helo" doc:"The name that the sending server gave in HELO or EHLO."`
	ReverseName string   `json:"reverse_name" doc:"The verified reverse DNS name of the address; empty if there is none."`
	TLS         string   `json:"tls" doc:"TLS version of the connection; empty if it was not encrypted."`
}

// ReceivedFile is a file of a list, without its bytes. It is exported because it is embedded.
type ReceivedFile struct { //nolint:revive // the document has the name of the type
	Filename    string  `json:"filename" doc:"The file name of the attachment."`
	ContentType string  `json:"content_type" doc:"The media type of the attachment."`
	ContentID   *string `json:"content_id" doc:"The ID that cid: links in html refer to; null if the file has none."`
	Inline      bool    `json:"inline" doc:"Whether the file is shown within html."`
	Size        int64   `json:"size" doc:"Decoded size in bytes."`
}

type receivedItem struct {
	ReceivedHead
	Attachments []ReceivedFile `json:"attachments" nullable:"false" doc:"The attachments, without their data."`
}

type query struct {
	api.Page

	To     string `query:"to" doc:"Return only emails received at this address, or with it in To or Cc." example:"support@example.com"`
	From   string `query:"from" doc:"Return only emails with this From address." example:"bob@example.net"`
	Domain string `query:"domain" doc:"Return only emails to this domain, given by name or ID." example:"example.com"`
	Since  string `query:"since" doc:"Return only emails received at or after this time. RFC 3339 with Z or an offset." example:"2026-01-15T09:30:00Z"`
	Until  string `query:"until" doc:"Return only emails received before this time. RFC 3339 with Z or an offset." example:"2026-01-16T00:00:00Z"`
	Q      string `query:"q" doc:"Words to find in subject, names, addresses and the beginning of the text, or an ID. Every word must match the beginning of a word or a part of an address, such as its domain; in the newest 10,000 emails, any part of a word. At most 200 characters and 10 words. Quoted text is matched literally. Also accepts to: and from: with an address or a part of one, subject:, domain:, after:2026-01-31 and before:." example:"receipt bob"`
}

var received = api.Noun{Name: "received email", About: "ID of the received email.",
	Example: "inb_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is:      func(word string) bool { return id.Is(id.ReceivedEmail, word) }}

type edge struct{ mail Service }

// Routes returns the routes of received mail. answers reports whether it can be replied to and forwarded, which
// requires module sending.
func Routes(service Service, answers bool) api.Routes {
	return api.NewRoutes("received-emails", func(a *api.API) {
		e := &edge{mail: service}
		g := a.Tag(tagReceived, "Mail received for your domains with `inbound_enabled`. Each email is announced by "+
			"the event `email.received`.")
		g.Bind(received, service)
		e.addReading(g)
		e.addContents(g)
		if answers {
			e.addAnswers(g)
		}
		e.addRules(g)
	})
}

func (e *edge) addReading(g *api.TagGroup) {
	api.ListBy(g, api.Operation{
		Path: "/received-emails", ID: "listReceivedEmails", Needs: rights.Read,
		Summary: "List received emails",
		Description: "Lists received emails, newest first, without bodies and file data. A list contains up to 8 " +
			"KiB of each of `to`, `cc`, `reply_to`, `references` (the last ones), `defects` and `attachments`. " +
			"`attachment_count` is the number of files. Retrieve the email to get all values. New emails do " +
			"not shift the pages. Filters can be combined; send the same filters with each cursor.",
		Example: receivedExample(false),
	}, api.Plural{Member: "received_emails", Schema: "ReceivedList"}, e.listReceived, newReceivedItem)
	api.Delete(g, api.Operation{
		Path: "/received-emails/{id}", ID: "deleteReceivedEmail", Needs: rights.Write,
		Summary: "Delete a received email", Description: "Deletes a received email and its content immediately and " +
			"permanently.", Of: received,
	}, e.mail.Delete)
}

func (e *edge) listReceived(ctx context.Context, c *api.Call,
	in *query) (found page.Page[*ent.ReceivedEmail], err error) {
	wrong := fault.Fields{}
	filter := inbound.Filter{To: api.QueryAddress(in.To), From: api.QueryAddress(in.From), Domain: in.Domain, Q: in.Q,
		Since: api.QueryTime(wrong, "since", in.Since), Until: api.QueryTime(wrong, "until", in.Until),
		DomainIDs: c.DomainIDs}
	for field, reason := range filter.Validate() {
		wrong.Add(field, "%s", reason)
	}
	if err := wrong.Err(); err != nil {
		return found, err
	}
	return e.mail.List(ctx, c.AccountID, inbound.ListQuery{Page: in.Request(), Filter: filter})
}

func newReceivedHead(e *ent.ReceivedEmail) ReceivedHead {
	auth := e.Authentication
	return ReceivedHead{
		ID: e.ID, EmailID: e.ID, DomainID: e.DomainID, Status: "received", RcptTo: e.RcptTo, MailFrom: e.MailFrom,
		From: e.From, To: wire.List(e.To), CC: wire.List(e.Cc),
		ReplyTo: wire.List(e.ReplyTo), Subject: e.Subject, MessageID: e.MessageID, InReplyTo: e.InReplyTo,
		References: wire.List(e.References),
		Auth: receivedAuth{SPF: auth.SPF, DKIM: auth.DKIM, DMARC: auth.DMARC, IPRev: auth.IPRev,
			DMARCPolicy: auth.DMARCPolicy, SPFDomain: auth.SPFDomain,
			DKIMDomains: wire.List(auth.DKIMDomains), RemoteIP: e.RemoteIP, Helo: e.Helo, ReverseName: auth.ReverseName,
			TLS: e.TLS},
		SpamStatus: string(e.SpamStatus), SpamScore: e.SpamScore, AutoSubmitted: e.AutoSubmitted, Size: e.Size,
		AttachmentCount: len(e.Attachments),
		Defects:         wire.List(e.Defects), ReceivedAt: wire.Time(e.ReceivedAt),
	}
}

func receivedFiles(files []shape.ReceivedFile) []ReceivedFile {
	out := make([]ReceivedFile, 0, len(files))
	for _, f := range files {
		out = append(out, newReceivedFile(f))
	}
	return out
}

func newReceivedFile(f shape.ReceivedFile) ReceivedFile {
	r := ReceivedFile{Filename: f.Filename, ContentType: f.ContentType, Inline: f.Inline, Size: f.Size}
	if f.ContentID != "" {
		r.ContentID = &f.ContentID
	}
	return r
}

func receivedExample(whole bool) map[string]any {
	file := map[string]any{"filename": "invoice.pdf", "content_type": "application/pdf", "content_id": nil,
		"inline": false, "size": 12}
	example := map[string]any{"id": "inb_01kf0m4w7he6x8q2v5b3n9c1ta", "email_id": "inb_01kf0m4w7he6x8q2v5b3n9c1ta",
		"domain_id": "dom_01kf0m4w7he6x8q2v5b3n9c1ta",
		"status":    "received", "rcpt_to": "support@example.com", "mail_from": "bob@example.net",
		"from": "Bob <bob@example.net>", "to": []any{"support@example.com"}, "cc": []any{},
		"reply_to": []any{}, "subject": "Re: Your receipt", "message_id": "20260115093000.1042@example.net",
		"in_reply_to": "msg_01kf0m4w7he6x8q2v5b3n9c1ta@example.com",
		"references":  []any{"msg_01kf0m4w7he6x8q2v5b3n9c1ta@example.com"},
		"auth": map[string]any{"spf": "pass", "dkim": "pass", "dmarc": "pass", "iprev": "pass", "dmarc_policy": "reject", "spf_domain": "example.net",
			"dkim_domains": []any{"example.net"}, "remote_ip": "203.0.113.7", "helo": "mx1.example.net", "reverse_name": "mx1.example.net", "tls": "TLS 1.3"},
		"spam_status": "ham", "spam_score": 0.4, "auto_submitted": false, "size": 2841, "attachment_count": 1, "attachments": []any{file}, "defects": []any{},
		"received_at": "2026-01-15T09:30:00.000Z"}
	if whole {
		file["data"] = "JVBERi0xLjcKJSVFT0Y="
		example["text"], example["html"] = "Thank you.\n", nil
		example["headers"] = []any{map[string]any{"name": "From", "value": "Bob <bob@example.net>"},
			map[string]any{"name": "Subject", "value": "Re: Your receipt"}}
	}
	return example
}
