package graph

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Suppressions reads the suppressed addresses.
type Suppressions interface {
	List(ctx context.Context, accountID string, f suppression.Filter) (page.Page[*ent.Suppression], error)
	Count(ctx context.Context, accountID string, f suppression.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, idOrAddress string) (*ent.Suppression, error)
	// FindByAddress returns suppressions by address.
	FindByAddress(ctx context.Context, accountID string, addresses ...string) (map[string]*ent.Suppression, error)
	OptOuts(ctx context.Context, accountID string, f suppression.OptOutFilter) (page.Page[*ent.CategoryOptOut], error)
	CountOptOuts(ctx context.Context, accountID string, f suppression.OptOutFilter, most int) (int, error)
	OptOut(ctx context.Context, accountID, optOutID string) (*ent.CategoryOptOut, error)
}

var _ Suppressions = (*suppression.Service)(nil)

// suppressionCosts counts the two lists by their length.
func suppressionCosts(c *generated.ComplexityRoot) {
	c.Query.Suppressions = func(child int, first *int, _ *string, last *int, _ *string,
		_ *model.SuppressionFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Query.CategoryOptOuts = func(child int, first *int, _ *string, last *int, _ *string,
		_ *model.CategoryOptOutFilter) int {
		return times(connection.Size(first, last), child)
	}
}

func (r *Resolver) listSuppressions(ctx context.Context, accountID string, f suppression.Filter,
	p page.Request) (page.Page[*ent.Suppression], error) {
	f.Request = p
	return r.parts.Suppressions.List(ctx, accountID, f)
}

// suppressionPage connects suppressions that were loaded together with the emails that caused them.
func (r *Resolver) suppressionPage(ctx context.Context, accountID string,
	rows []*ent.Suppression) []*model.Suppression {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = stringOrEmpty(row.EmailID)
	}
	emails := r.emailsOf(ctx, accountID, ids)
	return connection.ConvertList(rows, func(row *ent.Suppression) *model.Suppression {
		return &model.Suppression{Suppression: row, Emails: emails}
	})
}

func suppressionFilter(in *model.SuppressionFilter) (f suppression.Filter) {
	if in != nil {
		f.Email, f.Reason, f.Q = stringOrEmpty(in.Email), orEmpty(in.Reason), stringOrEmpty(in.Query)
		f.Since, f.Until = timeRange(in.CreatedAt)
	}
	return f
}

func optOutFilter(request page.Request, in *model.CategoryOptOutFilter) suppression.OptOutFilter {
	f := suppression.OptOutFilter{Request: request}
	if in != nil {
		f.Email, f.Category = stringOrEmpty(in.Email), stringOrEmpty(in.Category)
	}
	return f
}

// orEmpty returns an optional argument; null is the same as omitted.
func orEmpty[T ~string](argument *T) string {
	if argument == nil {
		return ""
	}
	return string(*argument)
}
