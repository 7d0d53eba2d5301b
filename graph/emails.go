package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
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
		Bodies:      once(ctx, accountID, ids, r.parts.Emails.Bodies),
		Snippets:    once(ctx, accountID, ids, r.parts.Emails.Snippets),
		Recipients:  once(ctx, accountID, ids, r.parts.Emails.Recipients),
		Attempts:    once(ctx, accountID, ids, r.parts.Emails.Attempts),
		Attachments: once(ctx, accountID, ids, r.parts.Emails.Attachments),
		Timeline:    once(ctx, accountID, ids, r.parts.Emails.Timeline),
	}
	r.engagementPage(ctx, accountID, ids, shared)
	r.linksOf(ctx, accountID, rows, shared)
	if service := r.parts.Automations; service != nil {
		shared.Origins = once(ctx, accountID, ids, service.Origins)
	}
	emails := make([]*model.Email, len(rows))
	for i, row := range rows {
		emails[i] = &model.Email{Email: row, Page: shared}
	}
	return emails
}

// once calls a service at most once for a whole page. A panic in it reaches every caller, and each becomes
// an error of its field.
func once[T any](ctx context.Context, accountID string, ids []string,
	ask func(context.Context, string, ...string) (map[string]T, error),
) func() (map[string]T, error) {
	return sync.OnceValues(func() (map[string]T, error) { return ask(ctx, accountID, ids...) })
}

func emailFilter(in *model.EmailFilter, domainIDs []string) records.Filter {
	if in == nil {
		return records.Filter{DomainIDs: domainIDs}
	}
	f := records.Filter{Status: orEmpty(in.Status), LastEvent: given(in.LastEvent), To: given(in.To),
		From: given(in.From), Domain: given(in.DomainID),
		APIKeyID: given(in.APIKeyID), TemplateID: given(in.TemplateID), Version: in.TemplateVersion,
		AutomationID: given(in.AutomationID), BounceClass: given(in.BounceClass),
		Opened: in.Opened, Clicked: in.Clicked, Q: given(in.Query), DomainIDs: domainIDs}
	if in.Tag != nil {
		f.Tag = in.Tag.Name + ":" + in.Tag.Value
	}
	f.Since, f.Until = within(in.CreatedAt)
	return f
}

func (r *Resolver) listEmails(ctx context.Context, accountID string, f records.Filter,
	p page.Request) (page.Page[*ent.Email], error) {
	return r.parts.Emails.List(ctx, accountID, records.ListQuery{Page: p, Filter: f})
}

// within returns the ends of a time range; nil for an open end.
func within(in *model.DateTimeFilter) (since, until *time.Time) {
	if in == nil {
		return nil, nil
	}
	return in.Gte, in.Lt
}

// given returns the string of an optional argument, or "" if it was omitted.
func given(s *string) string {
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
			FinishedAt: a.FinishedAt, Outcome: a.Outcome, Phase: filled(a.Phase), Code: a.Code,
			EnhancedCode: a.EnhancedCode,
			Reply:        filled(a.Reply), RemoteHost: filled(a.RemoteHost), RemoteAddr: filled(a.RemoteAddr),
			TLS: filled(a.TLS), TLSPolicy: filled(a.TLSPolicy),
			LocalAddr: filled(a.LocalAddr), Way: filled(a.Way), Class: filled(a.Class)}
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
			Recipient: filled(data.Recipient), Data: f.Data}
		explain(out[i], data)
	}
	return out, nil
}

// counted returns nil for a number that is not known.
func counted(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// explain adds details of an event beyond its type.
func explain(entry *model.TimelineEntry, data event.Email) {
	switch {
	case data.Bounce != nil:
		entry.Detail = filled(data.Bounce.Diagnostic)
		if data.Bounce.Code != 0 {
			entry.Code = &data.Bounce.Code
		}
		entry.Attempt = counted(data.Bounce.Attempt)
	case data.Delay != nil:
		entry.Detail = filled(data.Delay.Diagnostic)
		entry.NextAttemptAt = &data.Delay.NextAttemptAt.Time
		entry.Attempt = counted(data.Delay.Attempt)
	case data.Failure != nil:
		entry.Detail = filled(data.Failure.Reason)
	}
	if entry.Detail == nil {
		entry.Detail = filled(data.BounceReason)
	}
}
