package transport

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
)

// socketOperation is an operation in progress.
type socketOperation struct {
	id     string
	ctx    context.Context //nolint:containedctx // of the operation
	cancel context.CancelFunc
}

var (
	errDuplicateID = errors.New("an operation with this ID is in progress")
	errBusySocket  = errors.New("too many operations are in progress on this connection")
)

// startOperation runs an operation in the background, and reports whether the connection stays open.
func (s *socket) startOperation(message socketMessage) bool {
	if message.ID == "" {
		s.end(closeInvalid, "subscribe requires an id")
		return false
	}
	ctx, cancel := context.WithCancel(s.operations)
	o := &socketOperation{message.ID, ctx, cancel}
	switch err := s.register(o); {
	case errors.Is(err, errDuplicateID):
		cancel()
		s.end(closeDuplicate, "Subscriber for this id already exists")
		return false
	case err != nil:
		cancel()
		return s.sendPayload(o.id, "error", gqlerror.List{refusal.NewError(fault.CodeRateLimit, err.Error())}) == nil
	}
	s.done.Go(func() {
		defer s.finish(o)
		s.operate(o, message.Payload)
	})
	return true
}

// register adds an operation that is in progress.
func (s *socket) register(o *socketOperation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.active[o.id] != nil:
		return errDuplicateID
	case len(s.active) >= maxOperations:
		return errBusySocket
	}
	s.active[o.id] = o
	return nil
}

// finish ends an operation and frees its ID. It can be called again, even if another operation has the ID by then.
func (s *socket) finish(o *socketOperation) {
	o.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[o.id] == o {
		delete(s.active, o.id)
	}
}

// complete ends the operation with the ID that the client sent.
func (s *socket) complete(operationID string) {
	s.mu.Lock()
	o := s.active[operationID]
	s.mu.Unlock()
	if o != nil {
		s.finish(o)
	}
}

// operate authenticates and runs an operation, and sends its results.
func (s *socket) operate(o *socketOperation, payload []byte) {
	began := time.Now()
	caller, err := s.admit(o.ctx)
	if kind := fault.KindOf(err); err != nil && (kind == fault.Unauthorized || kind == fault.Forbidden) {
		s.endRefused(err)
		return
	}
	owner := intake.Tenant{Account: caller.AccountID}
	var release func()
	if err == nil {
		release, err = s.h.budget.AcquireMemory(o.ctx, owner, int64(len(payload)))
	}
	if err != nil {
		s.fail(o, gqlerror.List{s.h.errors.Present(o.ctx, err)})
		return
	}
	defer release()
	opened := s.h.openOperation(o.ctx, s.asked, caller, id.New("req"))
	timed, cancel := context.WithTimeout(opened, fault.AnswerWithin-time.Since(began))
	defer cancel()
	operation, _, answer := s.h.prepare(timed, caller, func() (*rawRequest, *gqlerror.Error) {
		return decodeJSON(bytes.NewReader(payload))
	})
	switch {
	case answer != nil:
		s.fail(o, answer.Errors)
	case operation.Operation.Operation == ast.Subscription:
		s.follow(opened, o, operation)
	default:
		_, answer, release := s.h.execute(timed, owner, caller, operation)
		defer release()
		s.deliver(o, owner, answer)
	}
}

// fail ends an operation that was not executed. No message follows an error, so the ID is free.
func (s *socket) fail(o *socketOperation, errs gqlerror.List) {
	if o.ctx.Err() == nil {
		s.finish(o)
		s.sendPayload(o.id, "error", errs) //nolint:errcheck // the read loop detects a lost connection
	}
}

// deliver sends the result of a query or mutation.
func (s *socket) deliver(o *socketOperation, owner intake.Tenant, answer *graphql.Response) {
	release, err := s.h.budget.AcquireMemory(o.ctx, owner, int64(len(answer.Data)))
	if err != nil {
		s.fail(o, gqlerror.List{s.h.errors.Present(o.ctx, fault.DatabaseUnavailable(err))})
		return
	}
	defer release()
	if o.ctx.Err() == nil && s.sendPayload(o.id, "next", answer) == nil {
		s.finish(o)
		s.send(socketMessage{ID: o.id, Type: "complete"}) //nolint:errcheck // as in fail
	}
}

// follow sends the results of a subscription. If the stream itself ends, the client must connect again.
func (s *socket) follow(ctx context.Context, o *socketOperation, operation *graphql.OperationContext) {
	if len(graphql.CollectFields(operation, operation.Operation.SelectionSet, []string{"Subscription"})) != 1 {
		s.fail(o, gqlerror.List{refusal.NewError(fault.CodeValidation, "A subscription must have exactly one field")})
		return
	}
	goesOn := false
	responses, ctx := s.h.exec.DispatchOperation(inquiry.WithBegun(ctx, &goesOn), operation)
	if !goesOn {
		s.fail(o, responses(ctx).Errors)
		return
	}
	for answer := responses(ctx); answer != nil && ctx.Err() == nil; answer = responses(ctx) {
		if s.sendPayload(o.id, "next", answer) != nil {
			s.cancel()
			return
		}
	}
	if ctx.Err() == nil {
		s.end(closeRestart, "The stream was interrupted. Subscribe again.")
	}
}
