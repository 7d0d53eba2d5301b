package transport

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

// A body has up to 5 MB, and a query may ask for those of many emails; definitions and data of automations
// have up to 256 KB, and a query may ask for those of many. Such a query runs within memory that is bounded
// over all requests, and its bodies have the bound of an answer together.

const (
	bodiesMemory = 2 * records.MaxBodies // the texts, and the answer that is made of them
	bodiesWait   = 4 * time.Second       // within the time of a request
)

// bodyFields are those whose values may be that large.
var bodyFields = map[string]bool{"EmailContent.html": true, "EmailContent.text": true, "EmailContent.raw": true,
	"ReceivedEmail.content":        true,
	"AutomationVersion.definition": true, "AutomationRun.event": true, "AutomationRunStep.output": true, "AutomationRun.timeline": true,
	"CustomEvent.data": true, "CustomEvent.explanation": true}

// selectsBodies reports whether an operation selects bodies. The operation was validated, so no fragment
// spreads itself.
func selectsBodies(operation *graphql.OperationContext) bool {
	return inquiry.SelectsField(operation.Operation.SelectionSet,
		func(typeName, field string) bool { return bodyFields[typeName+"."+field] })
}

// runBodies runs an operation that selects bodies, and returns its response as bytes that no longer occupy
// memory if they are many.
func (h *handler) runBodies(ctx context.Context, owner intake.Tenant,
	operation *graphql.OperationContext) (status int, answer *graphql.Response, release func()) {
	release, err := h.budget.AcquireWork(ctx, owner, bodiesMemory, bodiesWait)
	if err != nil {
		away := fault.DatabaseUnavailable(err)
		return http.StatusServiceUnavailable, &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, away)}},
			func() {}
	}
	status, answer = h.run(inquiry.WithAllowance(ctx), operation)
	return status, answer, release
}
