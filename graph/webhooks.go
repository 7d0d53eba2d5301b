package graph

import (
	"context"

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
	Get(ctx context.Context, accountID, webhookID string) (*ent.Webhook, error)
	Events(endpoint *ent.Webhook) []string
	Deliveries(ctx context.Context, accountID, webhookID string, f webhooks.Filter) (page.Page[*ent.WebhookDelivery], error)
	Delivery(ctx context.Context, accountID, deliveryID string) (*ent.WebhookDelivery, error)
	Attempts(ctx context.Context, accountID string, deliveryIDs ...string) (map[string][]*ent.WebhookAttempt, error)
}

var _ Webhooks = (*webhooks.Service)(nil)

// webhookCosts counts the lists by their length; attempts are looked for once for all of them.
func webhookCosts(c *generated.ComplexityRoot) {
	c.Query.Webhooks = func(child int, first *int, _ *string) int { return times(pageSize(first), child) }
	c.Query.WebhookDeliveries = func(child int, _ string, first *int, _ *string, _ *webhookdelivery.State) int {
		return times(pageSize(first), child)
	}
	c.WebhookDelivery.Attempts = func(child int) int { return times(fewPerEmail, child) }
}

func toWebhooks(found page.Page[*ent.Webhook]) *model.WebhookConnection {
	return &model.WebhookConnection{Nodes: append([]*ent.Webhook{}, found.Items...),
		PageInfo: pageInfo(found)}
}

// deliveryPage ties deliveries that were read together to their attempts.
func (r *Resolver) deliveryPage(ctx context.Context, accountID string, rows []*ent.WebhookDelivery) []*model.WebhookDelivery {
	ids, out := make([]string, len(rows)), make([]*model.WebhookDelivery, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	attempts := once(ctx, accountID, ids, part[Webhooks](r.parts).Attempts)
	for i, row := range rows {
		out[i] = &model.WebhookDelivery{WebhookDelivery: row, Page: attempts}
	}
	return out
}
