package graph

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

const (
	maxNodes   = 20
	nodeCost   = 20 // one lookup by a key
	maxSearch  = 200
	searchEach = 5 // default number of results of each kind
)

func nodeCosts(c *generated.ComplexityRoot) {
	c.Query.Node = func(child int, _ string) int { return nodeCost + child }
	c.Query.Nodes = func(child int, ids []string) int { return times(min(len(ids), maxNodes+1), nodeCost+child) }
	c.Query.Search = func(child int, _ string, types []model.SearchType, first *int) int {
		kinds := len(types)
		if kinds == 0 {
			kinds = len(searches)
		}
		return times(min(kinds, len(searches)), nodeCost+times(connection.Size(first, nil), child))
	}
}

// nodeKind defines how to look up an object by its ID. Its field checks the rights.
type nodeKind struct {
	module string
	find   func(ctx context.Context, q generated.QueryResolver, id string) (model.Node, error)
}

var nodeKinds = map[id.Prefix]nodeKind{
	id.Account: {moduleAccounts, func(ctx context.Context, q generated.QueryResolver,
		wanted string) (model.Node, error) {
		account, err := q.Account(ctx)
		if err != nil || account.ID != wanted {
			return nil, err
		}
		return account, nil
	}},
	id.APIKey:          {moduleAccounts, nodeBy(generated.QueryResolver.APIKey)},
	id.Domain:          {"domains", nodeBy(generated.QueryResolver.Domain)},
	id.Email:           {"sending", nodeBy(generated.QueryResolver.Email)},
	id.ReceivedEmail:   {"inbound", nodeBy(generated.QueryResolver.ReceivedEmail)},
	id.Template:        {"templates", nodeBy(generated.QueryResolver.Template)},
	id.Webhook:         {"webhooks", nodeBy(generated.QueryResolver.Webhook)},
	id.WebhookDelivery: {"webhooks", nodeBy(generated.QueryResolver.WebhookDelivery)},
	id.Suppression:     {"suppression", nodeBy(generated.QueryResolver.Suppression)},
	id.OptOut:          {"suppression", nodeBy(generated.QueryResolver.CategoryOptOut)},
	id.Automation:      {"automations", nodeBy(generated.QueryResolver.Automation)},
	id.Run:             {"automations", nodeBy(generated.QueryResolver.AutomationRun)},
	id.CustomEvent:     {"automations", nodeBy(generated.QueryResolver.CustomEvent)},
	id.SMTPCredential:  {"relay", nodeBy(generated.QueryResolver.SMTPCredential)},
}

// nodeBy finds nodes by a field of their type; it returns nil if none has the value.
func nodeBy[T any](field func(generated.QueryResolver, context.Context,
	string) (*T, error)) func(context.Context, generated.QueryResolver, string) (model.Node, error) {
	return func(ctx context.Context, q generated.QueryResolver, id string) (model.Node, error) {
		found, err := field(q, ctx, id)
		if found == nil || err != nil {
			return nil, err
		}
		return found, nil
	}
}

func (r *queryResolver) nodeOf(ctx context.Context, wanted string) (model.Node, error) {
	prefix, _, _ := strings.Cut(wanted, "_")
	kind, known := nodeKinds[id.Prefix(prefix)]
	if !known || !slices.Contains(r.on, kind.module) {
		return nil, nil
	}
	return kind.find(ctx, r, wanted)
}

// searchText is the text that the user searches for.
type searchText struct {
	text  string
	first int
}

func (s searchText) validate() error {
	wrong := fault.Fields{}
	if n := utf8.RuneCountInString(s.text); n < 2 || n > maxSearch {
		wrong.Add("query", "must have 2 to %d characters", maxSearch)
	}
	if s.first < 1 || s.first > maxNodes {
		wrong.Add("first", "must be between 1 and %d", maxNodes)
	}
	return wrong.Err()
}

// in reports whether any of the texts contains s, case-insensitively.
func (s searchText) in(texts ...string) bool {
	return slices.ContainsFunc(texts,
		func(t string) bool { return strings.Contains(strings.ToLower(t), strings.ToLower(s.text)) })
}

// quoteWords returns the text as words of a search query.
func (s searchText) quoteWords() string {
	words := strings.Fields(strings.ReplaceAll(s.text, `"`, " "))
	for i, w := range words {
		words[i] = `"` + w + `"`
	}
	return strings.Join(words[:min(len(words), 10)], " ")
}
