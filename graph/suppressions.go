package graph

import (
	"context"

	"github.com/postrider/postrider/ent"
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/page"
)

// Suppressions reads the addresses that must not be written to.
type Suppressions interface {
	List(ctx context.Context, accountID string, f suppression.Filter) (page.Page[*ent.Suppression], error)
	Count(ctx context.Context, accountID string, f suppression.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, idOrAddress string) (*ent.Suppression, error)
	OptOuts(ctx context.Context, accountID string, f suppression.OptOutFilter) (page.Page[*ent.CategoryOptOut], error)
	CountOptOuts(ctx context.Context, accountID string, f suppression.OptOutFilter, most int) (int, error)
	OptOut(ctx context.Context, accountID, optOutID string) (*ent.CategoryOptOut, error)
}

var _ Suppressions = (*suppression.Service)(nil)

// suppressionCosts counts the two lists by their length.
func suppressionCosts(c *generated.ComplexityRoot) {
	c.Query.Suppressions = func(child int, first *int, _ *string, last *int, _, _ *string, _ *entsuppression.Reason) int {
		return times(pageSize(first, last), child)
	}
	c.Query.CategoryOptOuts = func(child int, first *int, _ *string, last *int, _, _, _ *string) int {
		return times(pageSize(first, last), child)
	}
}

// orEmpty is an optional argument; null is the same as not given.
func orEmpty[T ~string](argument *T) string {
	if argument == nil {
		return ""
	}
	return string(*argument)
}
