package transport

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Recorder writes operations to the audit log of the caller's account.
type Recorder interface {
	Record(ctx context.Context, c accounts.Caller, operation, target string, changes map[string]any) error
}

// record writes the mutations of a request that succeeded to the audit log, by the names of their fields. New mutations
// are recorded automatically; those that only count (dryRun) are not. The REST API records those that it implements.
func (h *handler) record(ctx context.Context, caller accounts.Caller, operation *graphql.OperationContext,
	answer *graphql.Response) {
	if h.audit == nil || operation.Operation.Operation != ast.Mutation {
		return
	}
	origin := inquiry.OriginOf(ctx)
	for _, field := range graphql.CollectFields(operation, operation.Operation.SelectionSet, nil) {
		if only, _ := field.ArgumentMap(operation.Variables)["dryRun"].(bool); only || field.Name == "__typename" ||
			hasFailed(answer, field.Alias) || origin.IsAudited(field.Alias) {
			continue
		}
		note := origin.NoteOf(field.Alias)
		if err := h.audit.Record(context.WithoutCancel(ctx), caller, field.Name, note.Target, note.Changes); err != nil {
			h.logger.ErrorContext(ctx, "cannot record a mutation in the audit log", "mutation", field.Name,
				telemetry.KeyError, err)
		}
	}
}

// hasFailed reports whether a response has an error of a root field itself, or an error of the whole request. An error
// of a field below a mutation does not undo the mutation.
func hasFailed(answer *graphql.Response, responseKey string) bool {
	return slices.ContainsFunc(answer.Errors, func(e *gqlerror.Error) bool {
		return len(e.Path) == 0 || len(e.Path) == 1 && e.Path[0] == ast.PathName(responseKey)
	})
}
