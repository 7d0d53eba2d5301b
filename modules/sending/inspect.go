package sending

import (
	"bytes"
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/rspamd"
)

// inspector finds problems in the content of messages.
type inspector struct {
	suppression Suppression
	links       LinkChecker // nil: links are not requested
	spam        SpamFilter  // nil: none
}

// inspect returns the problems of a message that would be accepted.
func (i *inspector) inspect(ctx context.Context, a *acceptance, o CheckOptions) ([]lint.Finding, error) {
	msg, err := i.composeForCheck(a)
	if err != nil {
		return nil, fmt.Errorf("compose email for check: %w", err)
	}
	html, text := msg.HTML, msg.Text
	msg.HTML, msg.Text = "", "-" // the header does not depend on the bodies
	header, err := mime.Compose(msg)
	if err != nil {
		return nil, fmt.Errorf("compose header for check: %w", err)
	}
	e := a.email
	found, links := lint.Inspect(lint.Mail{Subject: e.subject, HTML: html, Text: e.text, Domain: msg.From.Domain,
		Header: header, Category: e.category, Recipients: len(a.recipients), AutoText: !e.noText, Managed: e.unsubscribe})
	found = append(found, a.findings...)
	if o.ResolveLinks && i.links != nil {
		found = append(found, i.links.Check(ctx, e.accountID, links)...)
	}
	if i.spam != nil {
		msg.HTML, msg.Text = html, text
		found = append(found, i.scoreSpam(ctx, a, msg))
	}
	lint.Sort(found)
	return found, nil
}

// composeForCheck returns the message of an email as it would be sent, without attachments and tracking.
func (i *inspector) composeForCheck(a *acceptance) (mime.Message, error) {
	msg, err := a.email.mimeMessage()
	if err != nil || !a.email.unsubscribe {
		return msg, err
	}
	link, err := i.unsubscribeLink(a)
	msg.Headers = append(msg.Headers, mime.Header{Name: unsubscribe.Field, Value: "<" + link + ">"},
		mime.Header{Name: unsubscribe.FieldPost, Value: unsubscribe.OneClick})
	return msg, err
}

// unsubscribeLink returns the link of an email, as package compose creates it.
func (i *inspector) unsubscribeLink(a *acceptance) (string, error) {
	first, err := address.Parse(a.recipients[0].address)
	return unsubscribe.Link(i.suppression, a.email.accountID, a.email.id, first, a.email.category), err
}

// maxScored is the size in bytes of bodies that are checked for spam. Larger ones would need too much memory.
const maxScored = HeavyFrom

// scoreSpam asks the spam filter about a message. It never fails: the score is advice.
func (i *inspector) scoreSpam(ctx context.Context, a *acceptance, msg mime.Message) lint.Finding {
	unknown := lint.Finding{Code: "spam_score_unknown", Severity: lint.Info, Part: lint.Message, Count: 1,
		Reason: "rspamd is unavailable, so the spam score is unknown.", Fix: "Check the email again later."}
	if len(msg.HTML)+len(msg.Text) > maxScored {
		unknown.Reason, unknown.Fix = "Bodies of more than 1 MB are not checked for spam.", "Shorten the email."
		return unknown
	}
	if a.email.unsubscribe {
		link, err := i.unsubscribeLink(a)
		if err != nil {
			return unknown
		}
		msg.HTML, msg.Text = unsubscribe.InHTML(msg.HTML, link), unsubscribe.InText(msg.Text, link)
	}
	raw, err := mime.Compose(msg)
	if err != nil {
		return unknown
	}
	var recipients []string
	for _, r := range a.recipients {
		recipients = append(recipients, r.address)
	}
	verdict, err := i.spam.Check(ctx, rspamd.Envelope{From: a.email.fromAddress, Rcpt: recipients, QueueID: a.email.id,
		User: a.email.accountID}, bytes.NewReader(raw), int64(len(raw)))
	if err != nil || !verdict.HasScore {
		return unknown
	}
	return spamFinding(verdict)
}

func spamFinding(v rspamd.Verdict) lint.Finding {
	f := lint.Finding{Code: "spam_score", Severity: lint.Info, Part: lint.Message, Count: max(len(v.Reasons), 1),
		Reason: fmt.Sprintf("rspamd scores the email %.1f and does not consider it spam.", v.Score),
		Fix:    "No change is required. The places list what raises the score."}
	if v.Status == rspamd.Spam {
		f.Severity = lint.Error
		f.Reason = fmt.Sprintf("rspamd scores the email %.1f and considers it spam.", v.Score)
		f.Fix = "Change what the places list, starting with the highest score."
	}
	for _, r := range v.Reasons {
		element := fmt.Sprintf("%s (%.1f)", r.Name, r.Score)
		if r.Description != "" {
			element += ": " + r.Description
		}
		f.Places = append(f.Places, lint.Place{Element: lint.Shorten(element)})
	}
	return f
}
