package steps

import (
	"context"
	"errors"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// sendEmail has the email of a step accepted. The transaction that stores it settles the step.
func (e *effects) sendEmail(ctx context.Context, t *taken) result {
	caller := accounts.Caller{AccountID: t.AccountID, Scope: rights.ScopeSending, DomainIDs: t.version.DomainIDs}
	_, err := e.sender.Send(ctx, caller, sending.Request{Message: Message(t.outcome.Effect.Email),
		Guard: &sending.Guarded{Guard: e, Subject: t, AutomationID: t.Run.AutomationID, RunID: t.Run.ID}})
	f := refused(err)
	switch {
	case err == nil, errors.Is(err, sending.ErrNotHeld):
		e.nudge()
		return result{}
	case fault.IsDatabaseAway(err):
		return again(t.Claimed, waitAway, false)
	case f == nil || f.Kind == fault.Internal:
		return t.defect()
	case f.Code == fault.CodeAccountSuspended:
		return t.refused(f, waitSuspended)
	case f.Kind == fault.Limit && f.RetryAfter > 0 && f.RetryAfter <= maxCapWait:
		return t.refused(f, f.RetryAfter)
	}
	return t.failed(ctx, Code(f), f.Error())
}

// Code says in one word why an email was refused.
func Code(f *fault.Error) string {
	if f.Code != fault.CodeValidation {
		return f.Code
	}
	for field, reason := range f.Fields {
		switch {
		case strings.HasPrefix(field, "template.variables"):
			return "template_variables"
		case strings.HasPrefix(field, "template") && strings.Contains(reason, "published"):
			return "template_not_published"
		case strings.HasPrefix(field, "template"):
			return "template_missing"
		case strings.HasPrefix(field, "to"), strings.HasPrefix(field, "cc"), strings.HasPrefix(field, "bcc"):
			return "invalid_recipient"
		}
	}
	return f.Code
}

// Hold settles the steps of emails that are about to be stored (sending.Guard). An email whose
// run is cancelled, or held by another claim, is not held.
func (e *effects) Hold(ctx context.Context, tx db.Execer, list []sending.Held) ([]bool, error) {
	settlements := make([]*runs.Settlement, 0, len(list))
	for _, h := range list {
		t := h.Subject.(*taken) //nolint:forcetypeassert // sendEmail is the only one that names this guard
		r := machine.Result{Status: machine.StatusSent, Output: map[string]any{"email_id": h.Receipt.ID}}
		if len(h.Receipt.Suppressed) > 0 {
			r.Status = machine.StatusSuppressed
		}
		settlements = append(settlements, t.after(ctx, r))
	}
	return runs.Settle(ctx, tx, e.bus, settlements)
}

// Message is an email of a step as sending takes it.
func Message(e *machine.Email) sending.Message {
	m := sending.Message{To: mailboxes(e.To), CC: mailboxes(e.CC), BCC: mailboxes(e.BCC), ReplyTo: mailboxes(e.ReplyTo), Subject: e.Subject, HTML: e.HTML, Text: e.Text,
		Tags: e.Tags, Headers: e.Headers, Category: e.Category, Unsubscribe: e.Unsubscribe}
	if e.From != "" {
		m.From = sending.Mailbox{Text: e.From}
	}
	if e.Template != nil {
		m.Template = &sending.TemplateRef{ID: e.Template.ID, Alias: e.Template.Alias, Variables: e.Template.Variables}
	}
	return m
}

func mailboxes(texts []string) (out []sending.Mailbox) {
	for _, text := range texts {
		out = append(out, sending.Mailbox{Text: text})
	}
	return out
}
