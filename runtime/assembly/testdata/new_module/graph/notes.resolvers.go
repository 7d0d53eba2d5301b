package graph

import (
	"context"

	"github.com/postrider/postrider/modules/accounts/rights"
)

func (r *queryResolver) Notes(ctx context.Context) ([]string, error) {
	caller, err := authorized(ctx, rights.Read)
	if err != nil {
		return nil, err
	}
	return part[Notes](r.parts).List(ctx, caller.AccountID)
}
