package graph

import (
	"cmp"
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// searchKind defines how a kind of object is searched, and by which callers.
type searchKind struct {
	kind   model.SearchType
	module string
	right  rights.Operation
	find   func(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error)
}

var searches = []searchKind{
	{model.SearchTypeEmail, "sending", rights.ReadSent, searchEmails},
	{model.SearchTypeReceivedEmail, "inbound", rights.Read, searchReceived},
	{model.SearchTypeDomain, "domains", rights.Read, searchDomains},
	{model.SearchTypeTemplate, "templates", rights.Read, searchTemplates},
	{model.SearchTypeAutomation, "automations", rights.Read, searchAutomations},
	{model.SearchTypeWebhook, "webhooks", rights.Read, searchWebhooks},
	{model.SearchTypeSuppression, "suppression", rights.Read, searchSuppressions},
	{model.SearchTypeAPIKey, moduleAccounts, rights.Write, searchKeys},
	{model.SearchTypeAutomationRun, "automations", rights.Read, searchRuns},
	{model.SearchTypeCustomEvent, "automations", rights.Read, searchCustomEvents},
	{model.SearchTypeWebhookDelivery, "webhooks", rights.Read, searchDeliveries},
	{model.SearchTypeEvent, "eventlog", rights.Read, searchEvents},
}

func searchEmails(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	service := r.parts.Emails
	result := func(e *ent.Email) *model.SearchResult {
		to := ""
		if len(e.To) > 0 {
			to = e.To[0]
		}
		return &model.SearchResult{Type: model.SearchTypeEmail, ID: e.ID, Title: e.Subject, Detail: to,
			CreatedAt: e.CreatedAt}
	}
	found, err := service.List(ctx, accountID,
		records.ListQuery{Page: page.Request{Limit: s.first}, Filter: records.Filter{Q: s.quoteWords()}})
	return results(found.Items, result), nothingIfInvalid(err)
}

func searchReceived(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	service := r.parts.Received
	result := func(e *ent.ReceivedEmail) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeReceivedEmail, ID: e.ID, Title: e.Subject, Detail: e.From,
			CreatedAt: e.ReceivedAt}
	}
	found, err := service.List(ctx, accountID,
		inbound.ListQuery{Page: page.Request{Limit: s.first}, Filter: inbound.Filter{Q: s.quoteWords()}})
	return results(found.Items, result), nothingIfInvalid(err)
}

func searchDomains(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	return among(s, func(p page.Request) (page.Page[*ent.Domain], error) {
		return r.parts.Domains.List(ctx, accountID, p)
	},
		func(d *ent.Domain) *model.SearchResult {
			return &model.SearchResult{Type: model.SearchTypeDomain, ID: d.ID, Title: d.Name, Detail: string(d.Status),
				CreatedAt: d.CreatedAt}
		})
}

func searchWebhooks(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	return among(s, func(p page.Request) (page.Page[*ent.Webhook], error) {
		return r.parts.Webhooks.List(ctx, accountID, p)
	},
		func(w *ent.Webhook) *model.SearchResult {
			return &model.SearchResult{Type: model.SearchTypeWebhook, ID: w.ID, Title: w.URL, CreatedAt: w.CreatedAt}
		})
}

func searchKeys(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	return among(s, func(p page.Request) (page.Page[*ent.APIKey], error) {
		return r.parts.Accounts.Keys(ctx, accountID, p)
	},
		func(k *ent.APIKey) *model.SearchResult {
			return &model.SearchResult{Type: model.SearchTypeAPIKey, ID: k.ID, Title: k.Name, Detail: k.Prefix,
				CreatedAt: k.CreatedAt}
		})
}

func searchTemplates(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	service := r.parts.Templates
	result := func(t templates.Template) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeTemplate, ID: t.ID, Title: t.Name, Detail: stringOrEmpty(t.Alias),
			CreatedAt: t.CreatedAt}
	}
	found, err := service.Get(ctx, accountID, s.text)
	switch {
	case err == nil:
		return results([]templates.Template{found}, result), nil
	case fault.KindOf(err) != fault.NotFound && fault.KindOf(err) != fault.Invalid:
		return nil, err
	}
	named, err := service.List(ctx, accountID, templates.ListQuery{Page: page.Request{Limit: s.first}, Name: s.text})
	return results(named.Items, result), nothingIfInvalid(err)
}

func searchAutomations(ctx context.Context, r *Resolver, accountID string,
	s searchText) ([]*model.SearchResult, error) {
	service := r.parts.Automations
	result := func(a *ent.Automation) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeAutomation, ID: a.ID, Title: a.Name, Detail: string(a.Status),
			CreatedAt: a.CreatedAt}
	}
	if id.Is(id.Automation, s.text) {
		return oneResult(result)(service.Get(ctx, accountID, s.text))
	}
	found, err := service.List(ctx, accountID, automations.Filter{Request: page.Request{Limit: s.first}, Name: s.text})
	return results(found.Items, result), nothingIfInvalid(err)
}

func searchSuppressions(ctx context.Context, r *Resolver, accountID string,
	s searchText) ([]*model.SearchResult, error) {
	found, err := r.parts.Suppressions.List(ctx, accountID,
		suppression.Filter{Request: page.Request{Limit: s.first}, Q: s.quoteWords()})
	return results(found.Items, func(e *ent.Suppression) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeSuppression, ID: e.ID, Title: stringOrEmpty(e.Email),
			Detail: string(e.Reason), CreatedAt: e.CreatedAt}
	}), nothingIfInvalid(err)
}

func searchRuns(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	if !id.Is(id.Run, s.text) {
		return nil, nil
	}
	return oneResult(func(d automations.RunDetail) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeAutomationRun, ID: d.ID, Title: d.ID,
			Detail: string(d.Status), CreatedAt: d.StartedAt}
	})(r.parts.Automations.Run(ctx, accountID, s.text))
}

func searchCustomEvents(ctx context.Context, r *Resolver, accountID string,
	s searchText) ([]*model.SearchResult, error) {
	if !id.Is(id.CustomEvent, s.text) {
		return nil, nil
	}
	return oneResult(func(e *ent.CustomEvent) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeCustomEvent, ID: e.ID, Title: e.Name,
			Detail: cmp.Or(stringOrEmpty(e.Email), stringOrEmpty(e.UserID)), CreatedAt: e.CreatedAt}
	})(r.parts.Automations.Event(ctx, accountID, s.text))
}

func searchDeliveries(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	if !id.Is(id.WebhookDelivery, s.text) {
		return nil, nil
	}
	return oneResult(func(d *ent.WebhookDelivery) *model.SearchResult {
		return &model.SearchResult{Type: model.SearchTypeWebhookDelivery, ID: d.ID, Title: d.EventType,
			Detail: d.WebhookID, CreatedAt: d.CreatedAt}
	})(r.parts.Webhooks.Delivery(ctx, accountID, s.text))
}

func searchEvents(ctx context.Context, r *Resolver, accountID string, s searchText) ([]*model.SearchResult, error) {
	if !id.Is(id.Fact, s.text) {
		return nil, nil
	}
	created := id.Time(s.text)
	found, err := r.parts.EventLog.List(ctx, accountID,
		eventlog.EventQuery{After: id.Since(id.Fact, created), Limit: eventlog.MaxLimit})
	for _, f := range found.Items { // of the same millisecond, and later
		if f.ID == s.text {
			return []*model.SearchResult{{Type: model.SearchTypeEvent, ID: f.ID, Title: string(f.Type),
				Detail: f.SubjectID, CreatedAt: f.CreatedAt}}, nil
		}
	}
	return nil, nothingIfInvalid(err)
}

// mostPages is the maximum number of pages that are searched in a short list without a name index.
const mostPages = 10

// among searches a list, newest first, for titles, details or IDs that contain the text.
func among[T any](s searchText, list func(page.Request) (page.Page[T], error),
	result func(T) *model.SearchResult) ([]*model.SearchResult, error) {
	var out []*model.SearchResult
	request := page.Request{Limit: page.MaxLimit}
	for range mostPages {
		found, err := list(request)
		if err != nil {
			return nil, err
		}
		for _, item := range found.Items {
			if one := result(item); len(out) < s.first &&
				(s.in(one.Title) || one.ID == s.text || one.Detail == s.text) {
				out = append(out, one)
			}
		}
		if request.Cursor = found.NextCursor; !found.HasMore || len(out) == s.first {
			break
		}
	}
	return out, nil
}

func results[T any](list []T, result func(T) *model.SearchResult) []*model.SearchResult {
	out := make([]*model.SearchResult, len(list))
	for i, item := range list {
		out[i] = result(item)
	}
	return out
}

// oneResult returns the object found by an ID, or nothing.
func oneResult[T any](result func(T) *model.SearchResult) func(T, error) ([]*model.SearchResult, error) {
	return func(found T, err error) ([]*model.SearchResult, error) {
		if fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.Invalid {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []*model.SearchResult{result(found)}, nil
	}
}

// nothingIfInvalid returns no results for a text that a list cannot search for, such as one without a
// letter.
func nothingIfInvalid(err error) error {
	if fault.KindOf(err) == fault.Invalid {
		return nil
	}
	return err
}
