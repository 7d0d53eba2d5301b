package graph

import (
	"context"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/modules/accounts/rights"
)

func (r *queryResolver) Notes(ctx context.Context) ([]string, error) {
	caller, err := inquiry.Authorized(ctx, rights.Read)
	if err != nil {
		return nil, err
	}
	return r.parts.Notes.List(ctx, caller.AccountID)
}
