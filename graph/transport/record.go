package transport

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Recorder writes operations to the audit log of the caller's account.
type Recorder interface {
	Record(ctx context.Context, c accounts.Caller, operation, target string) error
}

// record writes every mutation of a request that was answered without an error to the audit log, by the
// name of its field. New mutations are recorded automatically; those that only count (dryRun) are not.
func (h *handler) record(ctx context.Context, caller accounts.Caller, operation *graphql.OperationContext,
	answer *graphql.Response) {
	if h.audit == nil || operation.Operation.Operation != ast.Mutation || len(answer.Errors) > 0 {
		return
	}
	for _, field := range graphql.CollectFields(operation, operation.Operation.SelectionSet, nil) {
		if only, _ := field.ArgumentMap(operation.Variables)["dryRun"].(bool); only || field.Name == "__typename" {
			continue
		}
		if err := h.audit.Record(context.WithoutCancel(ctx), caller, field.Name, ""); err != nil {
			h.logger.ErrorContext(ctx, "a mutation is missing in the audit log", "mutation", field.Name,
				telemetry.KeyError, err)
		}
	}
}
