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

// A body can have 5 MB, and the definitions and data of automations 256 KB. A query can select those of many objects.
// Such a query runs within a memory limit for all requests, and its bodies together have the size limit of a response.

const (
	bodiesMemory = 2 * records.MaxBodies // the texts, and the response that contains them
	bodiesWait   = 4 * time.Second       // within the time of a request
)

// bodyFields are the fields with such large values.
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

// runBodies runs an operation that selects bodies. It returns the encoded response, which is not kept in memory if it
// is large.
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
