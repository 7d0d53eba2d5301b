package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// emailPage connects emails that were loaded together with their related data. Each relation is loaded once
// per page, when the first field needs it. A page is fixed, so keys need not be collected over a time
// window as data loaders do.
func (r *Resolver) emailPage(ctx context.Context, accountID string, rows []*ent.Email) []*model.Email {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	shared := &model.EmailPage{
		Bodies:      loadOnce(ctx, accountID, ids, r.parts.Emails.Bodies),
		Snippets:    loadOnce(ctx, accountID, ids, r.parts.Emails.Snippets),
		Recipients:  loadOnce(ctx, accountID, ids, r.parts.Emails.Recipients),
		Attempts:    loadOnce(ctx, accountID, ids, r.parts.Emails.Attempts),
		Attachments: loadOnce(ctx, accountID, ids, r.parts.Emails.Attachments),
		Timeline:    loadOnce(ctx, accountID, ids, r.parts.Emails.Timeline),
	}
	r.engagementPage(ctx, accountID, ids, shared)
	r.linksOf(ctx, accountID, rows, shared)
	if service := r.parts.Automations; service != nil {
		shared.Origins = loadOnce(ctx, accountID, ids, service.Origins)
	}
	emails := make([]*model.Email, len(rows))
	for i, row := range rows {
		emails[i] = &model.Email{Email: row, Page: shared}
	}
	return emails
}

// loadOnce calls a service at most once for a whole page. A panic in it reaches every caller, and each becomes
// an error of its field.
func loadOnce[T any](ctx context.Context, accountID string, ids []string,
	ask func(context.Context, string, ...string) (map[string]T, error),
) func() (map[string]T, error) {
	return sync.OnceValues(func() (map[string]T, error) { return ask(ctx, accountID, ids...) })
}

func emailFilter(in *model.EmailFilter, domainIDs []string) records.Filter {
	if in == nil {
		return records.Filter{DomainIDs: domainIDs}
	}
	f := records.Filter{Status: orEmpty(in.Status), LastEvent: stringOrEmpty(in.LastEvent), To: stringOrEmpty(in.To),
		From: stringOrEmpty(in.From), Domain: stringOrEmpty(in.DomainID),
		APIKeyID: stringOrEmpty(in.APIKeyID), TemplateID: stringOrEmpty(in.TemplateID), Version: in.TemplateVersion,
		AutomationID: stringOrEmpty(in.AutomationID), BounceClass: stringOrEmpty(in.BounceClass),
		Opened: in.Opened, Clicked: in.Clicked, Q: stringOrEmpty(in.Query), DomainIDs: domainIDs}
	if in.Tag != nil {
		f.Tag = in.Tag.Name + ":" + in.Tag.Value
	}
	f.Since, f.Until = timeRange(in.CreatedAt)
	return f
}

func (r *Resolver) listEmails(ctx context.Context, accountID string, f records.Filter,
	p page.Request) (page.Page[*ent.Email], error) {
	return r.parts.Emails.List(ctx, accountID, records.ListQuery{Page: p, Filter: f})
}

func (r *Resolver) listScheduledEmails(ctx context.Context, accountID string, f records.Filter,
	p page.Request) (page.Page[*ent.Email], error) {
	return r.parts.Emails.ListScheduled(ctx, accountID, f.DomainIDs, p)
}

// timeRange returns the ends of a time range; nil for an open end.
func timeRange(in *model.DateTimeFilter) (since, until *time.Time) {
	if in == nil {
		return nil, nil
	}
	return in.Gte, in.Lt
}

// stringOrEmpty returns the string of an optional argument, or "" if it was omitted.
func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func toDeliveryAttempts(attempts []*ent.Attempt, recipients []*ent.Recipient) []*model.DeliveryAttempt {
	addresses := make(map[int64]string, len(recipients))
	for _, r := range recipients {
		addresses[r.ID] = r.Address
	}
	out := make([]*model.DeliveryAttempt, len(attempts))
	for i, a := range attempts {
		out[i] = &model.DeliveryAttempt{Number: a.Number, Recipient: addresses[a.RecipientID], StartedAt: a.StartedAt,
			FinishedAt: a.FinishedAt, Outcome: a.Outcome, Phase: nilIfEmpty(a.Phase), Code: a.Code,
			EnhancedCode: a.EnhancedCode,
			Reply:        nilIfEmpty(a.Reply), RemoteHost: nilIfEmpty(a.RemoteHost), RemoteAddr: nilIfEmpty(a.RemoteAddr),
			TLS: nilIfEmpty(a.TLS), TLSPolicy: nilIfEmpty(a.TLSPolicy),
			LocalAddr: nilIfEmpty(a.LocalAddr), Way: nilIfEmpty(a.Way), Class: nilIfEmpty(a.Class)}
	}
	return out
}

func toTimeline(facts []event.Fact) ([]*model.TimelineEntry, error) {
	out := make([]*model.TimelineEntry, len(facts))
	for i, f := range facts {
		var data event.Email
		if err := json.Unmarshal(f.Data, &data); err != nil {
			return nil, fmt.Errorf("data of fact %s: %w", f.ID, err)
		}
		out[i] = &model.TimelineEntry{ID: f.ID, Type: string(f.Type), At: f.CreatedAt,
			Recipient: nilIfEmpty(data.Recipient), Data: f.Data}
		explain(out[i], data)
	}
	return out, nil
}

// knownCount returns nil for an unknown number.
func knownCount(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// explain adds details of an event beyond its type.
func explain(entry *model.TimelineEntry, data event.Email) {
	switch {
	case data.Bounce != nil:
		entry.Detail = nilIfEmpty(data.Bounce.Diagnostic)
		if data.Bounce.Code != 0 {
			entry.Code = &data.Bounce.Code
		}
		entry.Attempt = knownCount(data.Bounce.Attempt)
	case data.Delay != nil:
		entry.Detail = nilIfEmpty(data.Delay.Diagnostic)
		entry.NextAttemptAt = &data.Delay.NextAttemptAt.Time
		entry.Attempt = knownCount(data.Delay.Attempt)
	case data.Failure != nil:
		entry.Detail = nilIfEmpty(data.Failure.Reason)
	}
	if entry.Detail == nil {
		entry.Detail = nilIfEmpty(data.BounceReason)
	}
}

// findEmail returns an email of the caller's account, or nil.
func (r *Resolver) findEmail(ctx context.Context, caller accounts.Caller, emailID string) (*model.Email, error) {
	found, err := noneIfMissing(r.parts.Emails.Get(ctx, caller.AccountID, emailID))
	if found == nil || err != nil {
		return nil, err
	}
	if !caller.MayUseDomain(found.DomainID) {
		return nil, accounts.ErrOtherDomain()
	}
	email := r.emailPage(ctx, caller.AccountID, []*ent.Email{found})[0]
	if found.HTML == nil && found.Text == nil { // they may be part of a message submitted over SMTP
		return email, nil
	}
	email.Page.Bodies = func() (map[string]*ent.Email, error) { return map[string]*ent.Email{found.ID: found}, nil }
	return email, nil
}
