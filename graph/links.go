package graph

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
)

// linkCosts: related objects are loaded once per page, and many entries refer to the same ones.
func linkCosts(c *generated.ComplexityRoot) {
	link := func(child int) int { return child }
	c.Email.Domain, c.Email.APIKey, c.Email.Template, c.Email.WebhookDeliveries, c.WebhookDelivery.Webhook = link, link,
		link, link, link
	c.QueuedRecipient.Email, c.Suppression.CausedBy, c.EmailAutomation.Run, c.CustomEventMatch.Run, c.ReceivedEmail.Domain = link, link, link, link, link
	c.ReceivedEmail.WebhookDeliveries = link
	c.Email.Suppressions = link
}

// linksOf connects emails that were loaded together with their related objects. Each kind is loaded once
// per page, and only if the caller can read it.
func (r *Resolver) linksOf(ctx context.Context, accountID string, rows []*ent.Email, page *model.EmailPage) {
	page.Domains = loadLinked(ctx, rights.Read, "Query.domains", func(e *ent.Email) string { return e.DomainID }, rows,
		func(ids []string) (map[string]*model.Domain, error) {
			found, err := r.parts.Domains.GetMany(ctx, accountID, ids...)
			return byID(r.domainPage(ctx, accountID, found), func(d *model.Domain) string { return d.ID }), err
		})
	page.Keys = loadLinked(ctx, rights.Write, "Query.apiKeys",
		func(e *ent.Email) string { return stringOrEmpty(e.APIKeyID) }, rows,
		func(ids []string) (map[string]*ent.APIKey, error) {
			found, err := r.parts.Accounts.KeysByID(ctx, accountID, ids...)
			return byID(found, func(k *ent.APIKey) string { return k.ID }), err
		})
	page.Templates = loadLinked(ctx, rights.Read, "Query.templates",
		func(e *ent.Email) string { return stringOrEmpty(e.TemplateID) }, rows,
		func(ids []string) (map[string]*model.Template, error) {
			found, err := r.parts.Templates.GetMany(ctx, accountID, ids...)
			if err != nil {
				return nil, err
			}
			shown, err := r.templatePage(ctx, accountID, found)
			return byID(shown, func(t *model.Template) string { return t.ID }), err
		})
	page.Runs = r.runsOf(ctx, accountID,
		connection.ConvertList(rows, func(e *ent.Email) string { return stringOrEmpty(e.RunID) }))
	page.Suppressed = sync.OnceValues(func() (map[string]*model.Suppression, error) {
		return r.suppressedOf(ctx,
			accountID, page)
	})
	page.Deliveries = sync.OnceValues(func() (map[string][]*model.WebhookDelivery, error) {
		return r.deliveriesOf(ctx,
			accountID, page)
	})
}

// deliveriesOf returns the webhook deliveries about the emails of a page, by event ID.
func (r *Resolver) deliveriesOf(ctx context.Context, accountID string,
	page *model.EmailPage) (map[string][]*model.WebhookDelivery, error) {
	if caller, err := inquiry.Caller(ctx); err != nil || !caller.MayFollow(rights.Read, "Query.webhookDeliveries") {
		return nil, err
	}
	timelines, err := page.Timeline()
	if err != nil {
		return nil, err
	}
	var events []string
	for _, facts := range timelines {
		for _, f := range facts {
			events = append(events, f.ID)
		}
	}
	found, err := r.parts.Webhooks.DeliveriesOfEvents(ctx, accountID, events...)
	if err != nil {
		return nil, err
	}
	return r.deliveriesBy(ctx, accountID, found), nil
}

// emailDeliveries returns the deliveries about one email of the page.
func emailDeliveries(e *model.Email) ([]*model.WebhookDelivery, error) {
	out := []*model.WebhookDelivery{}
	timelines, err := e.Page.Timeline()
	if err != nil {
		return nil, err
	}
	found, err := e.Page.Deliveries()
	if err != nil {
		return nil, err
	}
	for _, f := range timelines[e.ID] {
		out = append(out, found[f.ID]...)
	}
	slices.SortFunc(out, func(x, y *model.WebhookDelivery) int { return x.CreatedAt.Compare(y.CreatedAt) })
	return out, nil
}

// loadLinked loads the objects that the rows of a page refer to, once, or nothing if the caller cannot read them. field
// is the root field that lists these objects.
func loadLinked[R, T any](ctx context.Context, right rights.Operation, field string, of func(R) string, rows []R,
	ask func(ids []string) (map[string]T, error)) func() (map[string]T, error) {
	return sync.OnceValues(func() (map[string]T, error) {
		caller, err := inquiry.Caller(ctx)
		if err != nil || !caller.MayFollow(right, field) {
			return nil, err
		}
		var ids []string
		for _, row := range rows {
			if id := of(row); id != "" {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		if ids = slices.Compact(ids); len(ids) == 0 {
			return nil, nil
		}
		return ask(ids)
	})
}

func byID[T any](list []T, id func(T) string) map[string]T {
	out := make(map[string]T, len(list))
	for _, item := range list {
		out[id(item)] = item
	}
	return out
}

// emailsOf returns the emails that the entries of a page refer to.
func (r *Resolver) emailsOf(ctx context.Context, accountID string, ids []string) model.Emails {
	return loadLinked(ctx, rights.ReadSent, "Query.emails", itself[string], ids,
		func(ids []string) (map[string]*model.Email, error) {
			found, err := r.parts.Emails.GetMany(ctx, accountID, ids...)
			return byID(r.emailPage(ctx, accountID, found), func(e *model.Email) string { return e.ID }), err
		})
}

// runsOf returns the automation runs that the entries of a page refer to.
func (r *Resolver) runsOf(ctx context.Context, accountID string, ids []string) model.Runs {
	return loadLinked(ctx, rights.Read, "Query.automationRuns", itself[string], ids,
		func(ids []string) (map[string]*model.AutomationRun, error) {
			found, err := r.parts.Automations.Details(ctx, accountID, ids...)
			rows := make([]*ent.AutomationRun, 0, len(found))
			for _, run := range found {
				rows = append(rows, run.AutomationRun)
			}
			details := func() (map[string]automations.RunDetail, error) { return found, nil }
			return byID(r.runPage(ctx, accountID, rows, details),
					func(run *model.AutomationRun) string { return run.ID }),
				err
		})
}

// suppressedOf returns the suppressions of the recipients of a page, by address.
func (r *Resolver) suppressedOf(ctx context.Context, accountID string,
	page *model.EmailPage) (map[string]*model.Suppression, error) {
	if caller, err := inquiry.Caller(ctx); err != nil || !caller.MayFollow(rights.Read, "Query.suppressions") {
		return nil, err
	}
	recipients, err := page.Recipients()
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, list := range recipients {
		for _, recipient := range list {
			addresses = append(addresses, recipient.Address)
		}
	}
	slices.Sort(addresses)
	found, err := r.parts.Suppressions.FindByAddress(ctx, accountID, slices.Compact(addresses)...)
	if err != nil {
		return nil, err
	}
	rows := slices.Collect(maps.Values(found))
	shown := byID(r.suppressionPage(ctx, accountID, rows), func(s *model.Suppression) string { return s.ID })
	out := make(map[string]*model.Suppression, len(found))
	for address, row := range found {
		out[address] = shown[row.ID]
	}
	return out, nil
}

// emailSuppressions returns the suppressions of the recipients of one email.
func emailSuppressions(e *model.Email) ([]*model.Suppression, error) {
	out := []*model.Suppression{}
	recipients, err := e.Page.Recipients()
	if err != nil {
		return nil, err
	}
	found, err := e.Page.Suppressed()
	if err != nil {
		return nil, err
	}
	for _, recipient := range recipients[e.ID] {
		if s := found[recipient.Address]; s != nil && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, nil
}

func itself[T any](v T) T { return v }
