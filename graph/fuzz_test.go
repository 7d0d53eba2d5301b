package graph

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/graph/refusal"
)

// FuzzQuery sends arbitrary query text and variables: the response must be data or a client error, never a
// defect.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{
		`{ emails(first: 2) { nodes { id content { html } } pageInfo { endCursor } } }`,
		`query Q($id: ID!, $n: Int = 3) { email(id: $id) { ...F } emails(first: $n) { edges { node { ...F } } } } fragment F on Email { id timeline { data at } }`,
		`{ __schema { types { name fields { name type { kind ofType { name } } } } } }`,
		`{ a: domain(id: "dom_001") { records { found } } b: __typename @skip(if: true) ... on Query { account { plan { id } } } }`,
		`mutation { x }`, `subscription S { emails { id } }`, `{ emails(first: 1e9, after: """block""") }`,
		`{ ...A } fragment A on Query { ...A }`, "\ufeff{#\n}", `query ($a: [[Int!]!]! = [[1]]) @x { y }`,
	} {
		f.Add(query, `{"id":"msg_001","n":5}`)
	}
	f.Add(`query($v: Boolean!) { __typename @include(if: $v) }`, `{"v":{"a":[1e999,null]}}`)
	s := newServer(f, setup{emails: 3})
	f.Fuzz(func(t *testing.T, query, variables string) {
		body := `{"query":` + quoted(query) + `,"variables":` + variables + `}`
		start := time.Now()
		a := s.send(t, request(t, s.url, "svc_full", body))
		if a.status >= 500 || strings.Contains(a.body, refusal.CodeInternal) {
			t.Errorf("%d %s\nlog: %s", a.status, a.body, s.log)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func quoted(s string) string {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(encoded)
}
