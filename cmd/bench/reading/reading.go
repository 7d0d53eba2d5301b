// Package reading asks a server for lists, as clients do.
package reading

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Server is where to ask.
type Server struct{ APIURL, GraphQLURL, APIKey string }

// GraphQLPage gives where a page of the GraphQL list ends.
func GraphQLPage(ctx context.Context, s Server, arguments string) (end string, err error) {
	body, err := json.Marshal(map[string]string{"query": `{ emails(` + arguments + `) { nodes { id subject status to tags { name value } createdAt } pageInfo { endCursor } } }`})
	if err != nil {
		return "", err
	}
	answer, err := Post(ctx, s, body)
	if err != nil {
		return "", err
	}
	var got struct {
		Data struct {
			Emails struct {
				Nodes    []json.RawMessage `json:"nodes"`
				PageInfo struct {
					EndCursor string `json:"endCursor"`
				} `json:"pageInfo"`
			} `json:"emails"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", err
	}
	if len(got.Data.Emails.Nodes) == 0 {
		return "", fmt.Errorf("emails(%s) has no entries", arguments)
	}
	return got.Data.Emails.PageInfo.EndCursor, nil
}

// GraphQLCursorOf walks to the page with the given number, in steps of ten pages.
func GraphQLCursorOf(ctx context.Context, s Server, size, number int) (cursor string, err error) {
	for left := (number - 1) * size; left > 0; {
		step := min(left, 100)
		arguments := fmt.Sprintf("first: %d", step)
		if cursor != "" {
			arguments += fmt.Sprintf(", after: %q", cursor)
		}
		if cursor, err = GraphQLPage(ctx, s, arguments); err != nil {
			return "", err
		}
		left -= step
	}
	return cursor, nil
}

// Answer is a page over REST.
type Answer struct {
	Emails     []json.RawMessage `json:"emails"`
	NextCursor string            `json:"next_cursor"`
}

// CursorOf walks to the page with the given number.
func CursorOf(ctx context.Context, s Server, size, number int) (cursor string, err error) {
	for range number - 1 {
		query := fmt.Sprintf("?limit=%d", size)
		if cursor != "" {
			query += "&cursor=" + cursor
		}
		page, err := ListPage(ctx, s, query)
		if err != nil {
			return "", err
		}
		if cursor = page.NextCursor; cursor == "" {
			return "", fmt.Errorf("the list has no page %d", number)
		}
	}
	return cursor, nil
}

// ListPage gives a page over REST.
func ListPage(ctx context.Context, s Server, query string) (page Answer, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.APIURL+"/emails"+query, nil)
	if err != nil {
		return page, err
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return page, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return page, fmt.Errorf("GET /emails%s answered %d", query, res.StatusCode)
	}
	return page, json.NewDecoder(res.Body).Decode(&page)
}

// Post gives the answer to a request, which must have no errors.
func Post(ctx context.Context, s Server, body []byte) (answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.GraphQLURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"errors":`)) {
		return nil, fmt.Errorf("GraphQL answered %d: %.500s", res.StatusCode, answer)
	}
	return answer, nil
}
