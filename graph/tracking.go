package graph

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Engagements reads opens and clicks, by email ID.
type Engagements interface {
	Counts(ctx context.Context, accountID string, emailIDs ...string) (map[string]tracking.Counts, error)
	Engagements(ctx context.Context, accountID string, first int,
		emailIDs ...string) (map[string][]*ent.Engagement, error)
}

var _ Engagements = (*tracking.Service)(nil)

// engagementPage adds opens and clicks to the emails of a page. Without the module its fields are not in
// the schema.
func (r *Resolver) engagementPage(ctx context.Context, accountID string, ids []string, p *model.EmailPage) {
	if r.parts.Engagements == nil {
		return
	}
	p.Engagement = loadOnce(ctx, accountID, ids, r.parts.Engagements.Counts)
	p.Engagements = onceEach(func(first int) (map[string][]*ent.Engagement, error) {
		return r.parts.Engagements.Engagements(ctx, accountID, first, ids...)
	})
}

func toEngagements(email *model.Email, first *int) ([]*model.Engagement, error) {
	limit := orDefault(first, page.DefaultLimit)
	if limit < 1 || limit > page.MaxLimit {
		return nil, fault.InvalidField("first", "must be between 1 and %d", page.MaxLimit)
	}
	found, err := email.Page.Engagements(limit)
	if err != nil {
		return nil, err
	}
	out := make([]*model.Engagement, len(found[email.ID]))
	for i, e := range found[email.ID] {
		out[i] = &model.Engagement{Kind: e.Kind, URL: e.URL, IP: nilIfEmpty(e.IP), UserAgent: nilIfEmpty(e.UserAgent),
			Machine: nilIfEmpty(e.Machine), At: e.CreatedAt}
	}
	return out, nil
}
