package graph

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/page"
)

// Webhooks reads endpoints and what was delivered to them.
type Webhooks interface {
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Webhook], error)
	Count(ctx context.Context, accountID string, most int) (int, error)
	Get(ctx context.Context, accountID, webhookID string) (*ent.Webhook, error)
	Events(endpoint *ent.Webhook) []string
	Deliveries(ctx context.Context, accountID, webhookID string, f webhooks.Filter) (page.Page[*ent.WebhookDelivery], error)
	CountDeliveries(ctx context.Context, accountID, webhookID string, f webhooks.Filter, most int) (int, error)
	Delivery(ctx context.Context, accountID, deliveryID string) (*ent.WebhookDelivery, error)
	Attempts(ctx context.Context, accountID string, deliveryIDs ...string) (map[string][]*ent.WebhookAttempt, error)
	Several(ctx context.Context, accountID string, webhookIDs ...string) (map[string]*ent.Webhook, error)
	// OfEvents gives deliveries by the id of their event.
	OfEvents(ctx context.Context, accountID string, eventIDs ...string) (map[string][]*ent.WebhookDelivery, error)
	Figures(ctx context.Context, accountID, webhookID string, since, until time.Time) (webhooks.Figures, []webhooks.EndpointFigures, error)
}

var _ Webhooks = (*webhooks.Service)(nil)

// webhookCosts counts the lists by their length; attempts are looked for once for all of them.
func webhookCosts(c *generated.ComplexityRoot) {
	c.Query.Webhooks = func(child int, first *int, _ *string, last *int, _ *string) int {
		return times(pageSize(first, last), child)
	}
	c.Query.WebhookDeliveries = func(child int, _ string, first *int, _ *string, last *int, _ *string, _ *webhookdelivery.State) int {
		return times(pageSize(first, last), child)
	}
	c.WebhookDelivery.Attempts = func(child int) int { return times(fewPerEmail, child) }
}

// deliveryPage ties deliveries that were read together to their attempts.
func (r *Resolver) deliveryPage(ctx context.Context, accountID string, rows []*ent.WebhookDelivery) []*model.WebhookDelivery {
	ids, out := make([]string, len(rows)), make([]*model.WebhookDelivery, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	attempts := once(ctx, accountID, ids, part[Webhooks](r.parts).Attempts)
	endpoints := sync.OnceValues(func() (map[string]*ent.Webhook, error) {
		var wanted []string
		for _, row := range rows {
			wanted = append(wanted, row.WebhookID)
		}
		slices.Sort(wanted)
		return part[Webhooks](r.parts).Several(ctx, accountID, slices.Compact(wanted)...)
	})
	for i, row := range rows {
		out[i] = &model.WebhookDelivery{WebhookDelivery: row, Page: attempts, Endpoints: endpoints}
	}
	return out
}

func toWebhookFigures(f webhooks.Figures) *model.WebhookFigures {
	out := &model.WebhookFigures{Deliveries: int(f.Deliveries), Succeeded: int(f.Succeeded), Failed: int(f.Failed), Attempts: int(f.Attempts),
		SuccessRate: &model.Rate{Numerator: int(f.Succeeded), Denominator: int(f.Succeeded + f.Failed)}}
	if f.Succeeded > 0 {
		out.Latency = &model.Latency{P50: f.Half.Seconds(), P95: f.Most.Seconds()}
	}
	return out
}
