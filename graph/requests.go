package graph

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/runtime/storage/page"
)

// APIRequests reads the log of requests to the REST API.
type APIRequests interface {
	List(ctx context.Context, accountID string, f apilog.Filter,
		r page.Request) (page.Page[apilog.LoggedRequest], error)
	Count(ctx context.Context, accountID string, f apilog.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, id string) (apilog.LoggedRequest, error)
}

var _ APIRequests = (*apilog.Service)(nil)

func requestCosts(c *generated.ComplexityRoot) {
	c.Query.APIRequests = func(child int, first *int, _ *string, last *int, _ *string, _ *model.APIRequestFilter) int {
		return times(connection.Size(first, last), child)
	}
}

func requestFilter(in *model.APIRequestFilter) (out apilog.Filter) {
	if in == nil {
		return out
	}
	out = apilog.Filter{PathPrefix: stringOrEmpty(in.Path), APIKeyID: stringOrEmpty(in.APIKeyID), UserID: stringOrEmpty(in.UserID),
		RequestID: stringOrEmpty(in.RequestID), EmailID: stringOrEmpty(in.EmailID)}
	if in.Method != nil {
		out.Methods = []string{*in.Method}
	}
	if in.Status != nil {
		out.StatusFrom, out.StatusBelow = orDefault(in.Status.Gte, 0), orDefault(in.Status.Lt, 0)
	}
	since, until := timeRange(in.CreatedAt)
	if since != nil {
		out.Since = *since
	}
	if until != nil {
		out.Until = *until
	}
	return out
}

// requestPage connects requests that were loaded together with the objects they refer to.
func (r *Resolver) requestPage(ctx context.Context, accountID string, rows []apilog.LoggedRequest) []*model.APIRequest {
	shared := &model.APIRequestPage{
		Keys: loadLinked(ctx, rights.Write, "Query.apiKeys", func(q apilog.LoggedRequest) string { return q.APIKeyID },
			rows, func(ids []string) (map[string]*ent.APIKey, error) {
				found, err := r.parts.Accounts.KeysByID(ctx, accountID, ids...)
				return byID(found, func(k *ent.APIKey) string { return k.ID }), err
			}),
		Emails: loadLinked(ctx, rights.ReadSent, "Query.emails", func(q apilog.LoggedRequest) string { return q.EmailID },
			rows, func(ids []string) (map[string]*model.Email, error) {
				found, err := r.parts.Emails.GetMany(ctx, accountID, ids...)
				return byID(r.emailPage(ctx, accountID, found), func(e *model.Email) string { return e.ID }), err
			}),
	}
	out := make([]*model.APIRequest, len(rows))
	for i, row := range rows {
		out[i] = &model.APIRequest{LoggedRequest: row, Page: shared}
	}
	return out
}
