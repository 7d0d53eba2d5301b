package graph

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// Webhooks reads endpoints and their deliveries.
type Webhooks interface {
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Webhook], error)
	ListFiltered(ctx context.Context, accountID string, f webhooks.EndpointFilter,
		r page.Request) (page.Page[*ent.Webhook], error)
	Count(ctx context.Context, accountID string, f webhooks.EndpointFilter, most int) (int, error)
	Get(ctx context.Context, accountID, webhookID string) (*ent.Webhook, error)
	Events(endpoint *ent.Webhook) []string
	Deliveries(ctx context.Context, accountID, webhookID string,
		f webhooks.Filter) (page.Page[*ent.WebhookDelivery], error)
	CountDeliveries(ctx context.Context, accountID, webhookID string, f webhooks.Filter, most int) (int, error)
	Delivery(ctx context.Context, accountID, deliveryID string) (*ent.WebhookDelivery, error)
	Attempts(ctx context.Context, accountID string, deliveryIDs ...string) (map[string][]*ent.WebhookAttempt, error)
	GetMany(ctx context.Context, accountID string, webhookIDs ...string) (map[string]*ent.Webhook, error)
	// Summaries returns what deliveries are about, by delivery ID.
	Summaries(ctx context.Context, accountID string, deliveryIDs ...string) (map[string]webhooks.Summary, error)
	// DeliveriesOfEvents returns deliveries by the ID of their event.
	DeliveriesOfEvents(ctx context.Context, accountID string,
		eventIDs ...string) (map[string][]*ent.WebhookDelivery, error)
	// DeliveriesOfSubjects returns deliveries by the ID of the subject of their event.
	DeliveriesOfSubjects(ctx context.Context, accountID string,
		subjectIDs ...string) (map[string][]*ent.WebhookDelivery, error)
	// Latest returns the latest deliveries by endpoint.
	Latest(ctx context.Context, accountID, state string, most int,
		webhookIDs ...string) (map[string][]*ent.WebhookDelivery, error)
	QueryStatistics(ctx context.Context, accountID, webhookID string,
		q timeseries.Query) (webhooks.DeliveryStatistics, error)
}

var _ Webhooks = (*webhooks.Service)(nil)

// webhookCosts counts the lists by their length; attempts are loaded once for all of them.
func webhookCosts(c *generated.ComplexityRoot) {
	c.Query.Webhooks = func(child int, first *int, _ *string, last *int, _ *string, _ *model.WebhookFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Query.WebhookDeliveries = func(child int, _ string, first *int, _ *string, last *int, _ *string,
		_ *model.WebhookDeliveryFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Webhook.Deliveries = func(child int, first int, _ *webhookdelivery.State) int {
		return lookCost + times(connection.Size(&first, nil), child)
	}
	c.WebhookDelivery.Attempts = func(child int) int { return times(fewPerEmail, child) }
}

// deliveryPage connects deliveries that were loaded together with their attempts.
func (r *Resolver) deliveryPage(ctx context.Context, accountID string,
	rows []*ent.WebhookDelivery) []*model.WebhookDelivery {
	ids, out := make([]string, len(rows)), make([]*model.WebhookDelivery, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	attempts := loadOnce(ctx, accountID, ids, r.parts.Webhooks.Attempts)
	summaries := loadOnce(ctx, accountID, ids, r.parts.Webhooks.Summaries)
	endpoints := sync.OnceValues(func() (map[string]*model.Webhook, error) {
		var wanted []string
		for _, row := range rows {
			wanted = append(wanted, row.WebhookID)
		}
		slices.Sort(wanted)
		found, err := r.parts.Webhooks.GetMany(ctx, accountID, slices.Compact(wanted)...)
		return byID(r.webhookPage(ctx, accountID, slices.Collect(maps.Values(found))),
			func(w *model.Webhook) string { return w.ID }), err
	})
	for i, row := range rows {
		out[i] = &model.WebhookDelivery{WebhookDelivery: row, Page: attempts,
			Summaries: summaries, Endpoints: endpoints}
	}
	return out
}

// deliveriesBy contains deliveries that were read together, by the ID that they were read for.
func (r *Resolver) deliveriesBy(ctx context.Context, accountID string,
	found map[string][]*ent.WebhookDelivery) map[string][]*model.WebhookDelivery {
	var rows []*ent.WebhookDelivery
	for _, list := range found {
		rows = append(rows, list...)
	}
	shown := byID(r.deliveryPage(ctx, accountID, rows), func(d *model.WebhookDelivery) string { return d.ID })
	out := make(map[string][]*model.WebhookDelivery, len(found))
	for of, list := range found {
		out[of] = connection.ConvertList(list,
			func(d *ent.WebhookDelivery) *model.WebhookDelivery { return shown[d.ID] })
	}
	return out
}

// webhookPage connects endpoints that were loaded together with their latest deliveries.
func (r *Resolver) webhookPage(ctx context.Context, accountID string, rows []*ent.Webhook) []*model.Webhook {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	type asked struct {
		first int
		state string
	}
	latest := onceEach(func(a asked) (map[string][]*model.WebhookDelivery, error) {
		found, err := r.parts.Webhooks.Latest(ctx, accountID, a.state, a.first, ids...)
		return r.deliveriesBy(ctx, accountID, found), err
	})
	return connection.ConvertList(rows, func(row *ent.Webhook) *model.Webhook {
		return &model.Webhook{Webhook: row,
			Latest: func(first int, state string) (map[string][]*model.WebhookDelivery, error) {
				return latest(asked{first, state})
			}}
	})
}

func endpointFilter(in *model.WebhookFilter) webhooks.EndpointFilter {
	if in == nil {
		return webhooks.EndpointFilter{}
	}
	return webhooks.EndpointFilter{Enabled: in.Enabled, Event: stringOrEmpty(in.Event)}
}

func toEventFilter(f *shape.WebhookFilter) *model.WebhookEventFilter {
	if f == nil {
		return nil
	}
	return &model.WebhookEventFilter{DomainIds: append([]string{}, f.DomainIDs...),
		TemplateIds: append([]string{}, f.TemplateIDs...), AutomationIds: append([]string{}, f.AutomationIDs...),
		Tags: connection.ConvertList(f.Tags, func(t shape.TagFilter) *model.WebhookTagFilter {
			return &model.WebhookTagFilter{Name: t.Name, Value: nilIfEmpty(t.Value)}
		})}
}

func deliveryFilter(request page.Request, in *model.WebhookDeliveryFilter) webhooks.Filter {
	f := webhooks.Filter{Request: request}
	if in != nil {
		f.State, f.Event = orEmpty(in.State), stringOrEmpty(in.Event)
		f.Since, f.Until = timeRange(in.CreatedAt)
	}
	return f
}

func (r *Resolver) toWebhookStatistics(ctx context.Context, accountID string,
	a webhooks.DeliveryStatistics) *model.WebhookStatistics {
	rows := connection.ConvertList(a.Endpoints, func(e webhooks.EndpointFigures) *ent.Webhook { return e.Webhook })
	endpoints := r.webhookPage(ctx, accountID, rows)
	out := &model.WebhookStatistics{Totals: toWebhookFigures(a.Totals),
		Endpoints: make([]*model.WebhookEndpointFigures, len(endpoints)),
		Buckets: connection.ConvertList(a.Buckets,
			func(b timeseries.Bucket[webhooks.DeliveryCounts]) *model.WebhookBucket {
				return &model.WebhookBucket{Start: b.Start, Figures: toWebhookFigures(b.Figures)}
			})}
	for i, e := range a.Endpoints {
		out.Endpoints[i] = &model.WebhookEndpointFigures{Webhook: endpoints[i], Figures: toWebhookFigures(e.Figures)}
	}
	return out
}

func toWebhookFigures(f webhooks.DeliveryCounts) *model.WebhookFigures {
	out := &model.WebhookFigures{Deliveries: int(f.Deliveries), Succeeded: int(f.Succeeded), Failed: int(f.Failed),
		Attempts:    int(f.Attempts),
		SuccessRate: &model.Rate{Numerator: int(f.Succeeded), Denominator: int(f.Succeeded + f.Failed)}}
	if f.Succeeded > 0 {
		out.Latency = &model.Latency{P50: f.Half.Seconds(), P95: f.Most.Seconds()}
	}
	return out
}
