package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

var _ = registerEffect(definition.SendEmail, func(s *services) effect { return emailEffect{s} })

type emailEffect struct{ *services }

func (e emailEffect) check(ctx context.Context, c StepCheck) error {
	content := emailContent{from: c.Step.From, subject: c.Step.Subject, html: c.Step.HTML, text: c.Step.Text,
		unsubscribes: c.Step.Unsubscribe != nil && *c.Step.Unsubscribe}
	if c.Step.Template != nil {
		known, err := e.checkTemplate(ctx, c, &content)
		if err != nil || !known {
			return err
		}
	}
	if !content.unsubscribes && content.hasToken() {
		c.Report("unsubscribe", "must be true for an email that contains {{unsubscribe_url}}")
	}
	if content.from == "" {
		return nil
	}
	return e.checkSender(ctx, c, content.from)
}

// emailContent is the unrendered content of a step, completed by its template.
type emailContent struct {
	from, subject, html, text string
	translated                []shape.Translation
	unsubscribes              bool
}

func (e emailContent) hasToken() bool {
	for _, t := range e.translated {
		if (emailContent{subject: t.Subject, html: t.HTML, text: t.Text}).hasToken() {
			return true
		}
	}
	return unsubscribe.InSubjectOrText(e.subject) || unsubscribe.InMarkup(e.html) || unsubscribe.InSubjectOrText(e.text)
}

// checkTemplate completes the content of a step from its published template. known is false if there is no such
// template, which is reported.
func (e emailEffect) checkTemplate(ctx context.Context, c StepCheck, content *emailContent) (known bool, err error) {
	t := c.Step.Template
	found, err := e.Templates.Get(ctx, c.Caller.AccountID, t.ID+t.Alias)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		c.Report("template", "is not a template of this account")
		return false, nil
	case err != nil:
		return false, err
	case found.Kind != language.KindTemplate:
		c.Report("template", fmt.Sprintf("is a %s; only templates can be sent", found.Kind))
		return false, nil
	case found.Version == nil:
		c.Report("template", "must be a published template; publish it first")
		return false, nil
	}
	if found.HasUnpublishedChanges {
		c.Warn("template", "has unpublished changes; the step sends the published version")
	}
	version, err := e.Templates.Version(ctx, c.Caller.AccountID, found.ID, *found.Version)
	if err != nil {
		return false, err
	}
	for _, v := range version.Variables {
		if _, given := language.LookUp(t.Variables, v.Key); v.Required && !given && !isEventVariable(v.Key) {
			c.Report("template.variables."+v.Key, "is required by the template")
		}
	}
	content.subject = cmp.Or(content.subject, version.Subject)
	if version.HTML != nil {
		content.html = *version.HTML
	}
	if version.Text != nil {
		content.text = *version.Text
	}
	content.translated = version.Translations
	content.unsubscribes = content.unsubscribes || c.Step.Unsubscribe == nil && version.UnsubscribeEnabled
	if content.from = cmp.Or(content.from, version.From); content.from == "" {
		c.Report("from", "is required: the template names no sender")
	}
	return true, nil
}

// isEventVariable reports whether a template variable takes its value from the event.
func isEventVariable(key string) bool { return key == "event" || len(key) > 6 && key[:6] == "event." }

// checkSender reports why the caller cannot send from an address, or may soon be unable to.
func (e emailEffect) checkSender(ctx context.Context, c StepCheck, from string) error {
	parsed, err := address.Parse(from)
	if err != nil {
		c.Report("from", err.Error())
		return nil
	}
	identity, err := e.Domains.Identity(ctx, c.Caller.AccountID, parsed)
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind != fault.Unavailable && refused.Kind != fault.Internal:
		c.Report("from", refused.Message)
	case err != nil:
		return err
	case !c.Caller.MayUseDomain(identity.DomainID):
		c.Report("from", "is on a domain that this API key may not send from")
	case identity.Failing:
		c.Warn("from", "is on a domain whose DNS records no longer match; it stops sending unless they are repaired")
	}
	return nil
}

func (e emailEffect) preview(
	ctx context.Context, caller accounts.Caller, key string, m machine.Effect, outcome string,
) (simulation.EffectResult, error) {
	preview, err := e.Sender.Preview(ctx, caller, messageOf(m.(*machine.RenderedEmail))) //nolint:forcetypeassert // rendered by this type
	if err != nil {
		return refusedPreview(err)
	}
	return simulation.EffectResult{Preview: &preview,
		Result: simulateSend(outcome, definition.MediumEmail, map[string]any{"email_id": "msg_simulated_" + key})}, nil
}

// perform submits the email of a step. The transaction that stores the email settles the step.
func (e emailEffect) perform(ctx context.Context, t *claimedRun) result {
	m := messageOf(t.outcome.Effect.(*machine.RenderedEmail)) //nolint:forcetypeassert // rendered by this type
	if m.Template != nil {
		m.Template.At = t.TemplatesAt
	}
	caller := accounts.Caller{AccountID: t.AccountID, Scope: rights.ScopeSending, DomainIDs: t.version.DomainIDs}
	err := e.send(ctx, caller, m, t)
	f := faultOf(err)
	if m.Subject == "" && f != nil && f.Fields["subject"] != "" {
		m.Subject = noSubject
		err = e.send(ctx, caller, m, t)
		f = faultOf(err)
	}
	switch {
	case err == nil, errors.Is(err, sending.ErrNotHeld):
		e.nudge()
		return result{}
	case fault.IsDatabaseUnavailable(err):
		return retryLater(t.ClaimedRun, waitAway, false)
	case f == nil || f.Kind == fault.Internal:
		return t.recordDefect()
	case f.Code == fault.CodeAccountSuspended:
		return t.recordRefusal(f, waitSuspended)
	case f.Kind == fault.Limit && f.RetryAfter > 0 && f.RetryAfter <= maxCapWait:
		return t.recordRefusal(f, f.RetryAfter)
	}
	return t.recordFailure(ctx, codeOf(f), f.Error())
}

// noSubject replaces a subject that rendered blank, including one from a template. A retry of the run would
// render it blank again.
const noSubject = "(no subject)"

func (e emailEffect) send(ctx context.Context, caller accounts.Caller, m sending.Message, t *claimedRun) error {
	_, err := e.Sender.Send(ctx, caller, sending.Request{Message: m,
		Guard: &sending.MessageGuard{Guard: e, Subject: t, AutomationID: t.Run.AutomationID, RunID: t.Run.ID}})
	return err
}

// codeOf returns the code of the reason why an email was rejected.
func codeOf(f *fault.Error) string {
	if f.Code != fault.CodeValidation {
		return f.Code
	}
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		reason := f.Fields[field]
		switch {
		case strings.HasPrefix(field, "template.variables"):
			return "template_variables"
		case field == "template.locale", field == "template.time_zone":
			return "template_locale"
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

// Hold settles the steps of emails that are about to be stored (sending.Guard). It rejects an email if its run
// was cancelled or is held by another claim.
func (e emailEffect) Hold(ctx context.Context, tx db.Execer, list []sending.GuardedMessage) ([]bool, error) {
	settlements := make([]*runs.Settlement, 0, len(list))
	for _, h := range list {
		t := h.Subject.(*claimedRun) //nolint:forcetypeassert // only perform passes this guard
		r := machine.Result{Status: machine.StatusSent, Output: map[string]any{"email_id": h.Receipt.ID}}
		if len(h.Receipt.Suppressed) > 0 {
			r.Status = machine.StatusSuppressed
		}
		settlements = append(settlements, t.settleAfter(ctx, r))
	}
	return runs.Settle(ctx, tx, e.bus, settlements)
}

// messageOf converts the email of a step to the form that module sending accepts.
func messageOf(e *machine.RenderedEmail) sending.Message {
	m := sending.Message{To: parseMailboxes(e.To), CC: parseMailboxes(e.CC), BCC: parseMailboxes(e.BCC),
		ReplyTo: parseMailboxes(e.ReplyTo),
		Subject: e.Subject, HTML: e.HTML, Text: e.Text,
		Tags: e.Tags, Headers: e.Headers, Category: e.Category, Unsubscribe: e.Unsubscribe}
	if e.From != "" {
		m.From = sending.Mailbox{Text: e.From}
	}
	if e.Template != nil {
		m.Template = &sending.TemplateRef{ID: e.Template.ID, Alias: e.Template.Alias, Locale: e.Template.Locale,
			TimeZone: e.Template.TimeZone, Variables: e.Template.Variables}
	}
	return m
}

func parseMailboxes(texts []string) (out []sending.Mailbox) {
	for _, text := range texts {
		out = append(out, sending.Mailbox{Text: text})
	}
	return out
}
