package reading

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	pageSize, deepPage = 10, 1_000
	pageReads          = 300 // of one kind of page in one round
)

// Kind is a way to ask for a page: as the query adds to limit, or as GraphQL adds to first.
type Kind struct {
	Name            string
	filter, graphql string
	deep            bool
}

// Kinds are the ways that are measured.
var Kinds = []Kind{
	{Name: "page 1"},
	{Name: fmt.Sprintf("page %d", deepPage), deep: true},
	{Name: "page 1, a word that all have", filter: "&q=receipt"},
	{Name: "page 1, a tag that one in 1,000 has", filter: "&tag=rare:yes"},
	{Name: "page 1, an address that ten have", filter: "&to=few@example.net"},
	{Name: "page 1, a status that one in 1,000 has", filter: "&status=bounced"},
	{Name: "page 1, a domain, by its id", filter: "&domain="},
	{Name: "page 1, a word that none has", filter: "&q=nothing"},
	{Name: "GraphQL: page 1", graphql: "first: 10"},
	{Name: fmt.Sprintf("GraphQL: page %d", deepPage), graphql: "first: 10", deep: true},
	{Name: "GraphQL: page 1, by status", graphql: `first: 10, filter: {status: BOUNCED}`},
	{Name: "GraphQL: page 1, by words", graphql: `first: 10, filter: {query: "receipt"}`},
}

// Pages reads pages of a server.
type Pages struct {
	server              Server
	domain, deep, after string // the id of its domain, and where the deep page begins
}

// PagesOf walks to the deep page of a server, whose emails are of a domain.
func PagesOf(ctx context.Context, s Server, domain string) (p Pages, err error) {
	p.server, p.domain = s, domain
	if p.deep, err = CursorOf(ctx, s, pageSize, deepPage); err != nil {
		return p, err
	}
	p.after, err = GraphQLCursorOf(ctx, s, pageSize, deepPage)
	return p, err
}

// Read reads pages of a kind, as often as one round does, and tells how long each took.
func (p Pages) Read(ctx context.Context, kind Kind) ([]time.Duration, error) {
	took, err := InTurns(ctx, kind, p)
	return took[0], err
}

// InTurns is Read of several servers, of one after the other: what else the machine does comes upon all of them.
func InTurns(ctx context.Context, kind Kind, of ...Pages) ([][]time.Duration, error) {
	took := make([][]time.Duration, len(of))
	for range pageReads {
		for i, p := range of {
			begin := time.Now()
			if err := p.once(ctx, kind); err != nil {
				return took, err
			}
			took[i] = append(took[i], time.Since(begin))
		}
	}
	return took, nil
}

// once reads a page.
func (p Pages) once(ctx context.Context, kind Kind) (err error) {
	query, arguments := fmt.Sprintf("?limit=%d%s", pageSize, kind.filter), kind.graphql
	if strings.HasSuffix(query, "domain=") {
		query += p.domain
	}
	if kind.deep {
		query += "&cursor=" + p.deep
		arguments += fmt.Sprintf(", after: %q", p.after)
	}
	if kind.graphql != "" {
		_, err = GraphQLPage(ctx, p.server, arguments)
	} else {
		_, err = ListPage(ctx, p.server, query)
	}
	return err
}
