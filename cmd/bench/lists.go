package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
)

// The sizes that a page is compared over, and where the deep page is.
const (
	fewEmails, manyEmails = 10_001, 1_000_000
	pageSize, deepPage    = 10, 1_000
	pageReads             = 300 // of one kind of page in one round
)

// pages are the ways to ask that are compared: as the query adds to limit, or as GraphQL adds to first.
var pages = []struct {
	name, filter, graphql string
	deep                  bool
}{
	{name: "page 1"},
	{name: fmt.Sprintf("page %d", deepPage), deep: true},
	{name: "page 1, a word that all have", filter: "&q=receipt"},
	{name: "page 1, a tag that one in 1,000 has", filter: "&tag=rare:yes"},
	{name: "page 1, an address that ten have", filter: "&to=few@example.net"},
	{name: "page 1, a status that one in 1,000 has", filter: "&status=bounced"},
	{name: "page 1, a domain, by its id", filter: "&domain="},
	{name: "page 1, a word that none has", filter: "&q=nothing"},
	{name: "GraphQL: page 1", graphql: "first: 10"},
	{name: fmt.Sprintf("GraphQL: page %d", deepPage), graphql: "first: 10", deep: true},
	{name: "GraphQL: page 1, by status", graphql: `first: 10, filter: {status: BOUNCED}`},
	{name: "GraphQL: page 1, by words", graphql: `first: 10, filter: {q: "receipt"}`},
}

// benchLists compares pages of emails over a small and a large table.
func benchLists(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to list emails")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	most := manyEmails
	if p.emails > fewEmails {
		most = p.emails
	}
	few, err := timePages(ctx, p, server.Ready, 0, fewEmails)
	if err != nil {
		return nil, err
	}
	many, err := timePages(ctx, p, server.Ready, fewEmails, most)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-42s %14s %14s\n", "p99 of a list of emails", "10 thousand", fmt.Sprint(most))
	var out []target
	for i, kind := range pages {
		fmt.Printf("%-42s %14s %14s\n", kind.name, percentile(slices.Concat(few[i]...), 99), percentile(slices.Concat(many[i]...), 99))
		t := target{name: fmt.Sprintf("%s: %d / 10 thousand", kind.name, most), most: 1.5}
		for round := range few[i] {
			t.ratios = append(t.ratios, ninetyNinth(many[i][round])/ninetyNinth(few[i][round]))
		}
		out = append(out, t)
	}
	return out, nil
}

// timePages brings the table from one size to another and reads every kind of
// page, in rounds; the answer is by kind and round.
func timePages(ctx context.Context, p plan, r ready, from, to int) ([][][]time.Duration, error) {
	progress("storing %d emails", to-from)
	if err := storeEmails(ctx, r, from, to); err != nil {
		return nil, err
	}
	domain, err := domainOf(ctx, r)
	if err != nil {
		return nil, err
	}
	deep, err := cursorOf(ctx, r, deepPage)
	if err != nil {
		return nil, err
	}
	after, err := graphqlCursorOf(ctx, r, deepPage)
	if err != nil {
		return nil, err
	}
	progress("reading pages over %d emails, %d rounds", to, p.rounds)
	took := make([][][]time.Duration, len(pages))
	for range p.rounds {
		for i, kind := range pages {
			query, arguments := fmt.Sprintf("?limit=%d%s", pageSize, kind.filter), kind.graphql
			if strings.HasSuffix(query, "domain=") {
				query += domain
			}
			if kind.deep {
				query += "&cursor=" + deep
				arguments += fmt.Sprintf(", after: %q", after)
			}
			reads := make([]time.Duration, 0, pageReads)
			for range pageReads {
				begin := time.Now()
				if kind.graphql != "" {
					_, err = graphqlPage(ctx, r, arguments)
				} else {
					_, err = listPage(ctx, r, query)
				}
				if err != nil {
					return nil, err
				}
				reads = append(reads, time.Since(begin))
			}
			took[i] = append(took[i], reads)
		}
	}
	return took, nil
}

// domainOf gives the id of the domain that the stored emails are from.
func domainOf(ctx context.Context, r ready) (id string, err error) {
	conn, err := sql.Open("postgres", r.DatabaseURL)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = conn.QueryRowContext(ctx, `SELECT domain_id FROM emails ORDER BY id LIMIT 1`).Scan(&id)
	return id, err
}

// graphqlPage gives where a page of the GraphQL list ends.
func graphqlPage(ctx context.Context, r ready, arguments string) (end string, err error) {
	body, err := json.Marshal(map[string]string{"query": `{ emails(` + arguments + `) { nodes { id subject status to tags { name value } createdAt } pageInfo { endCursor } } }`})
	if err != nil {
		return "", err
	}
	answer, err := postGraphQL(ctx, r, body)
	if err != nil {
		return "", err
	}
	var got struct {
		Data struct {
			Emails struct {
				Nodes    []json.RawMessage
				PageInfo struct{ EndCursor string }
			}
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", err
	}
	if len(got.Data.Emails.Nodes) == 0 {
		return "", fmt.Errorf("emails(%s) has no entries", arguments)
	}
	return got.Data.Emails.PageInfo.EndCursor, nil
}

// graphqlCursorOf walks to the page with the given number, in steps of ten pages.
func graphqlCursorOf(ctx context.Context, r ready, number int) (cursor string, err error) {
	for left := (number - 1) * pageSize; left > 0; {
		step := min(left, 100)
		arguments := fmt.Sprintf("first: %d", step)
		if cursor != "" {
			arguments += fmt.Sprintf(", after: %q", cursor)
		}
		if cursor, err = graphqlPage(ctx, r, arguments); err != nil {
			return "", err
		}
		left -= step
	}
	return cursor, nil
}

func ninetyNinth(took []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*99/100].Seconds()
}

type listAnswer struct {
	Emails     []json.RawMessage `json:"emails"`
	NextCursor string            `json:"next_cursor"`
}

// cursorOf walks to the page with the given number.
func cursorOf(ctx context.Context, r ready, number int) (cursor string, err error) {
	for range number - 1 {
		query := fmt.Sprintf("?limit=%d", pageSize)
		if cursor != "" {
			query += "&cursor=" + cursor
		}
		page, err := listPage(ctx, r, query)
		if err != nil {
			return "", err
		}
		if cursor = page.NextCursor; cursor == "" {
			return "", fmt.Errorf("the list has no page %d", number)
		}
	}
	return cursor, nil
}

func listPage(ctx context.Context, r ready, query string) (page listAnswer, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.APIURL+"/emails"+query, nil)
	if err != nil {
		return page, err
	}
	req.Header.Set("Authorization", "Bearer "+r.APIKey)
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

// storeEmails inserts delivered emails as accepting writes them, older ones first.
func storeEmails(ctx context.Context, r ready, from, to int) error {
	const chunk = 50_000
	for at := from; at < to; at += chunk {
		if err := postgres.Exec(ctx, r.DatabaseURL, fmt.Sprintf(storeEmailsSQL, at+1, min(at+chunk, to))); err != nil {
			return err
		}
	}
	// As autovacuum does it some time after.
	return postgres.Exec(ctx, r.DatabaseURL, `VACUUM ANALYZE emails`)
}

// The ids are in the order of their numbers, and before all that are made now.
const storeEmailsSQL = `
INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id,
	status, last_event, created_at, sent_at, delivered_at, uncommon, search)
SELECT 'msg_00000000' || lpad(i::text, 18, '0'), a.id, d.id, 'Bench <bench@' || d.name || '>', 'bench@' || d.name, jsonb_build_array(v.recipient),
	'[]', '[]', '[]', '[]', v.tags, 'Your receipt ' || i, repeat('One line of what was bought. ', 10), i || '@' || d.name,
	v.status, 'email.' || v.status, v.created, v.sent, v.delivered, NULLIF(v.status, 'delivered'),
	to_tsvector('simple', 'Your receipt ' || i || ' bench dev test ' || v.recipient)
		|| array_to_tsvector(ARRAY['a=' || a.id, 'f=bench@' || d.name, 'd=' || d.name, 'r=' || v.recipient, v.mark])
FROM generate_series(%d, %d) i
CROSS JOIN (SELECT id FROM accounts ORDER BY id LIMIT 1) a
CROSS JOIN (SELECT id, name FROM domains WHERE account_id IS NOT NULL ORDER BY id LIMIT 1) d
CROSS JOIN LATERAL (SELECT now() AS created, now() AS sent, now() AS delivered, CASE WHEN i <= 10 THEN 'few@example.net' ELSE 'user' || i || '@example.net' END AS recipient,
	CASE WHEN i %% 1000 = 500 THEN '[{"name": "rare", "value": "yes"}]'::jsonb ELSE '[]' END AS tags,
	CASE WHEN i %% 1000 = 500 THEN 'g=rare:yes' ELSE 'g=kind:receipt' END AS mark,
	CASE WHEN i %% 1000 = 700 THEN 'bounced' ELSE 'delivered' END AS status) v`
