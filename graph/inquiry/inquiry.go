package inquiry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

type callerKey struct{}

// WithCaller returns a context with the caller for the resolvers. CheckReach decides which root fields work in test
// mode; fields below them find nothing of the other mode.
func WithCaller(ctx context.Context, c accounts.Caller) context.Context {
	c.TestAllowed = true
	return context.WithValue(ctx, callerKey{}, c)
}

// Authorize returns the caller of the request if its key's scope allows the operation. Without a caller, no operation
// is allowed.
func Authorize(ctx context.Context, op rights.Operation) (accounts.Caller, error) {
	caller, err := Caller(ctx)
	if err != nil {
		return accounts.Caller{}, err
	}
	return caller, caller.Authorize(op)
}

// Caller returns the caller. An error means that the context does not belong to a request, which is a bug.
func Caller(ctx context.Context) (accounts.Caller, error) {
	caller, known := ctx.Value(callerKey{}).(accounts.Caller)
	if !known {
		return accounts.Caller{}, errors.New("no caller in the context of a resolver")
	}
	if graphql.HasOperationContext(ctx) {
		if o := graphql.GetOperationContext(ctx).Operation; o != nil && o.Operation != ast.Mutation {
			return caller.Reading(), nil
		}
	}
	return caller, nil
}

// DomainIDs returns the IDs of the domains that the caller is limited to; none if it is not limited.
func DomainIDs(ctx context.Context) []string {
	caller, _ := ctx.Value(callerKey{}).(accounts.Caller)
	return caller.DomainIDs
}

// CheckReach refuses root fields that a key limited to some domains cannot query, or that do not work in the mode of
// the caller.
func CheckReach(ctx context.Context, next graphql.Resolver) (any, error) {
	field := graphql.GetFieldContext(ctx)
	switch field.Object {
	case "Query", "Mutation", "Subscription":
		caller, err := Caller(ctx)
		if err == nil && !strings.HasPrefix(field.Field.Name, "__") {
			name := field.Object + "." + field.Field.Name
			access, _ := rights.TestAccessOfField(name)
			if _, err = caller.AllowTest(access); err == nil {
				err = caller.RequireReach(name)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return next(ctx)
}

// SelectsField reports whether a selection contains the field at any depth.
func SelectsField(set ast.SelectionSet, is func(typeName, field string) bool) bool {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if s.ObjectDefinition != nil && is(s.ObjectDefinition.Name, s.Name) || SelectsField(s.SelectionSet, is) {
				return true
			}
		case *ast.InlineFragment:
			if SelectsField(s.SelectionSet, is) {
				return true
			}
		case *ast.FragmentSpread:
			if s.Definition != nil && SelectsField(s.Definition.SelectionSet, is) {
				return true
			}
		}
	}
	return false
}

type allowanceKey struct{}

// WithAllowance allows a request to read bodies up to the limit.
func WithAllowance(ctx context.Context) context.Context {
	var left atomic.Int64
	left.Store(limits.Result)
	return context.WithValue(ctx, allowanceKey{}, &left)
}

// Spend deducts the bytes of bodies that a resolver is about to return.
func Spend(ctx context.Context, octets int) error {
	left, ok := ctx.Value(allowanceKey{}).(*atomic.Int64)
	if ok && left.Add(-int64(octets)) < 0 {
		return &fault.Error{Kind: fault.TooLarge, Code: refusal.CodeResultTooLarge, Message: limits.ResultTooLarge}
	}
	return nil
}

// ChargeJSON returns JSON that counts as a body.
func ChargeJSON(ctx context.Context, data json.RawMessage) (json.RawMessage, error) {
	if err := Spend(ctx, len(data)); err != nil {
		return nil, err
	}
	return data, nil
}

type begunKey struct{}

// MarkStarted is called by a resolver when its subscription starts.
func MarkStarted(ctx context.Context) {
	if flag, ok := ctx.Value(begunKey{}).(*bool); ok {
		*flag = true
	}
}

// WithBegun returns a context in which MarkStarted sets the flag.
func WithBegun(ctx context.Context, flag *bool) context.Context {
	return context.WithValue(ctx, begunKey{}, flag)
}

// Origin is the HTTP request that an operation arrived with.
type Origin struct {
	Request   *http.Request // without its body
	RequestID string

	called atomic.Bool
	fields sync.Map // root fields whose REST operation wrote the audit log, by response key
	notes  sync.Map // what other root fields did, by response key: AuditNote
}

// AuditNote is what the audit log says about a mutation that no REST operation carries out.
type AuditNote struct {
	Target  string         // id of the object; empty if there are several
	Changes map[string]any // never a secret
}

type originKey struct{}

// WithOrigin returns a context with the origin for the resolvers.
func WithOrigin(ctx context.Context, o *Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the origin of an operation, or nil.
func OriginOf(ctx context.Context) *Origin {
	o, _ := ctx.Value(originKey{}).(*Origin)
	return o
}

// IsFirstCall reports whether the operation has not called the REST API before.
func (o *Origin) IsFirstCall() bool { return o.called.CompareAndSwap(false, true) }

// MarkAudited records that the REST API is responsible for the audit log entry of a root field.
func (o *Origin) MarkAudited(responseKey string) { o.fields.Store(responseKey, true) }

// IsAudited reports whether MarkAudited was called for the root field.
func (o *Origin) IsAudited(responseKey string) bool {
	_, marked := o.fields.Load(responseKey)
	return marked
}

// Note sets what the audit log says about a root field.
func (o *Origin) Note(responseKey string, n AuditNote) { o.notes.Store(responseKey, n) }

// NoteOf returns the AuditNote of a root field, or the zero AuditNote.
func (o *Origin) NoteOf(responseKey string) AuditNote {
	found, _ := o.notes.Load(responseKey)
	n, _ := found.(AuditNote)
	return n
}
