package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	pageSize, deepPage = 10, 1_000
	readsPerRound      = 300
	domainParam        = "&domain="
)

// ListQuery is a list of emails to read a page of: REST with query parameters, or GraphQL with arguments.
type ListQuery struct {
	Name            string
	params, graphql string
	deep            bool // reads page 1,000
}

// ListQueries are the measured lists.
var ListQueries = []ListQuery{
	{Name: "page 1"},
	{Name: fmt.Sprintf("page %d", deepPage), deep: true},
	{Name: "page 1, a word in every email", params: "&q=receipt"},
	{Name: "page 1, a tag of one in 1,000", params: "&tag=rare:yes"},
	{Name: "page 1, an address of ten emails", params: "&to=few@example.net"},
	{Name: "page 1, a status of one in 1,000", params: "&status=bounced"},
	{Name: "page 1, a domain by id", params: domainParam},
	{Name: "page 1, a word in no email", params: "&q=nothing"},
	{Name: "GraphQL: page 1", graphql: "first: 10"},
	{Name: fmt.Sprintf("GraphQL: page %d", deepPage), graphql: "first: 10", deep: true},
	{Name: "GraphQL: page 1, by status", graphql: `first: 10, filter: {status: BOUNCED}`},
	{Name: "GraphQL: page 1, by words", graphql: `first: 10, filter: {query: "receipt"}`},
}

// Lists reads pages of the emails of a server.
type Lists struct {
	server        Server
	domainID      string
	cursor, after string // start of page 1,000: in REST and in GraphQL
}

// OpenLists walks to page 1,000. All emails belong to the domain.
func OpenLists(ctx context.Context, s Server, domainID string) (l Lists, err error) {
	l.server, l.domainID = s, domainID
	for range deepPage - 1 {
		params := fmt.Sprintf("?limit=%d", pageSize)
		if l.cursor != "" {
			params += "&cursor=" + l.cursor
		}
		if l.cursor, err = l.readREST(ctx, params); err != nil {
			return l, err
		}
		if l.cursor == "" {
			return l, fmt.Errorf("the list has no page %d", deepPage)
		}
	}
	for left := (deepPage - 1) * pageSize; left > 0; {
		step := min(left, 100)
		arguments := fmt.Sprintf("first: %d", step)
		if l.after != "" {
			arguments += fmt.Sprintf(", after: %q", l.after)
		}
		if l.after, err = l.readGraphQL(ctx, arguments); err != nil {
			return l, err
		}
		left -= step
	}
	return l, nil
}

// MeasureRound reads a page repeatedly and returns the time of each read.
func (l Lists) MeasureRound(ctx context.Context, q ListQuery) (took []time.Duration, err error) {
	params, arguments := fmt.Sprintf("?limit=%d%s", pageSize, q.params), q.graphql
	if strings.HasSuffix(params, domainParam) {
		params += l.domainID
	}
	if q.deep {
		params += "&cursor=" + l.cursor
		arguments += fmt.Sprintf(", after: %q", l.after)
	}
	for range readsPerRound {
		begin := time.Now()
		if q.graphql != "" {
			_, err = l.readGraphQL(ctx, arguments)
		} else {
			_, err = l.readREST(ctx, params)
		}
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
	}
	return took, nil
}

func (l Lists) readREST(ctx context.Context, params string) (cursor string, err error) {
	answer, err := l.server.do(ctx, http.MethodGet, l.server.APIURL+"/emails"+params, nil)
	if err != nil {
		return "", err
	}
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	err = json.Unmarshal(answer, &page)
	return page.NextCursor, err
}

func (l Lists) readGraphQL(ctx context.Context, arguments string) (cursor string, err error) {
	var data struct {
		Emails struct {
			Nodes    []json.RawMessage `json:"nodes"`
			PageInfo struct {
				EndCursor string `json:"endCursor"`
			} `json:"pageInfo"`
		} `json:"emails"`
	}
	answer, err := l.server.query(ctx, `{ emails(`+arguments+
		`) { nodes { id subject status to tags { name value } createdAt } pageInfo { endCursor } } }`)
	if err != nil {
		return "", err
	}
	err = decodeData(answer, &data)
	if err == nil && len(data.Emails.Nodes) == 0 {
		err = fmt.Errorf("emails(%s) is empty", arguments)
	}
	return data.Emails.PageInfo.EndCursor, err
}
