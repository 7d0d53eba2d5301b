package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

var errNoSubscriptions = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "subscriptions are not supported"}

// effect is what a tool does to its environment.
type effect int

const (
	reads    effect = iota
	checks          // inspects an outside system and stores the result
	adds            // adds something, at most once for the same arguments
	repeats         // starts something again with each call
	changes         // replaces something
	releases        // replaces a version in use with each call
	sends           // sends mail to people
)

// annotations are the hints of the protocol for an effect.
var annotations = map[effect]sdk.ToolAnnotations{
	reads:    {ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
	checks:   {IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(true)},
	adds:     {IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
	repeats:  {DestructiveHint: new(false), OpenWorldHint: new(true)},
	changes:  {IdempotentHint: true, DestructiveHint: new(true), OpenWorldHint: new(false)},
	releases: {DestructiveHint: new(true), OpenWorldHint: new(false)},
	sends:    {IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(true)},
}

// spec describes a tool and what a caller needs to use it.
type spec struct {
	name, title, about string
	effect             effect
	operations         []string // REST operations that it always calls
	fields             []string // root fields of Query that it always reads; they require the right to read
	modules            []string // that provide these fields
	operators          bool     // only operators of the installation may use it
}

// tool is an entry of the catalog.
type tool struct {
	spec
	add func(*sdk.Server)
}

// define returns a tool. run returns the typed result and a summary, which must not contain text from outside
// parties.
func define[In, Out any](s spec, run func(context.Context, *session, In) (Out, string, error)) tool {
	hints := annotations[s.effect]
	described := &sdk.Tool{Name: s.name, Title: s.title, Description: s.about, Annotations: &hints}
	return tool{spec: s, add: func(server *sdk.Server) {
		sdk.AddTool(server, described, func(ctx context.Context, _ *sdk.CallToolRequest,
			in In) (result *sdk.CallToolResult, out Out, err error) {
			s := sessionOf(ctx)
			if s == nil {
				return nil, out, errors.New("the request has no caller")
			}
			defer recoverTool(ctx, s, described.Name, &err)
			out, summary, err := run(ctx, s, in)
			if err != nil {
				return nil, out, s.adviseOn(ctx, described.Name, err)
			}
			result, err = present(summary, out)
			return result, out, err
		})
	}}
}

// recoverTool turns a panic into an error: the protocol runs tools outside the goroutine of the request, where a
// panic would end the process.
func recoverTool(ctx context.Context, s *session, name string, err *error) {
	value := recover()
	if value == nil {
		return
	}
	s.handler.options.Logger.LogAttrs(ctx, slog.LevelError, "MCP tool panicked", slog.String("tool", name),
		slog.String(telemetry.KeyError, fmt.Sprint(value)), slog.String("stack", string(debug.Stack())))
	*err = errInternal
}

// catalog returns all tools.
func catalog() []tool {
	return slices.Concat(sendTools(), emailTools(), diagnosisTools(), statisticsTools(), domainTools(),
		suppressionTools(), templateTools(), receivedTools(), webhookTools(), automationTools(), testTools(), operatorTools())
}

// isServed reports whether this process serves a tool: its modules are on, and the mode allows it.
func (h *Handler) isServed(s spec) bool {
	if h.options.Mode == ModeRead && s.effect != reads {
		return false
	}
	for _, m := range s.modules {
		if !slices.Contains(h.options.Modules, m) {
			return false
		}
	}
	for _, operation := range s.operations {
		if _, served := h.options.API.LookupOperation(operation); !served {
			return false
		}
	}
	return true
}

// mayUse reports whether the caller has the rights that a tool always needs.
func (h *Handler) mayUse(c accounts.Caller, s spec) bool {
	if s.operators && c.Authorize(rights.Operate) != nil {
		return false
	}
	for _, operation := range s.operations {
		if !h.mayCall(c, operation) {
			return false
		}
	}
	for _, field := range s.fields {
		if !mayQuery(c, field, rights.Read) {
			return false
		}
	}
	return true
}

// mayQuery reports whether the caller may read a root field of GraphQL, in its mode.
func mayQuery(c accounts.Caller, field string, right rights.Operation) bool {
	access, _ := rights.TestAccessOfField("Query." + field)
	c, err := c.AllowTest(access)
	return err == nil && c.Authorize(right) == nil && c.RequireReach("Query."+field) == nil
}

// mayCall reports whether the caller may use a REST operation that is served, in its mode.
func (h *Handler) mayCall(c accounts.Caller, operation string) bool {
	op, served := h.options.API.LookupOperation(operation)
	c, err := c.AllowTest(op.TestAccess())
	return served && err == nil && c.AuthorizeOperation(op.Needs, op.Permission()) == nil && c.RequireReach(op.ID) == nil
}
