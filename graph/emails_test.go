package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/page"
)

// everything selects all fields of a type, so that a new field is covered automatically.
func everything(t *testing.T, typeName string) string {
	t.Helper()
	s, err := schema.ParseServed(allModules)
	if err != nil {
		t.Fatal(err)
	}
	var selection func(def *ast.Definition) string
	selection = func(def *ast.Definition) string {
		var out strings.Builder
		out.WriteString("{")
		for _, f := range def.Fields {
			if f.Name == "raw" { // composed separately for each email: TestRawMail
				continue
			}
			out.WriteString(" " + f.Name)
			child := s.Types[f.Type.Name()]
			switch {
			case f.Name == "edges": // the query contains the nodes as well
				out.WriteString("{ cursor }")
			// a link: its type has a separate test
			case child.Kind == ast.Object && isNode(child) && f.Name != "nodes" && f.Name != "node":
				out.WriteString("{ id }")
			case child.Kind == ast.Object:
				out.WriteString(selection(child))
			}
		}
		return out.String() + " }"
	}
	return selection(s.Types[typeName])
}

func isNode(def *ast.Definition) bool { return slices.Contains(def.Interfaces, schema.NodeInterface) }

func TestEmailAnswersEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	a := s.ask(t, `query($id: ID!) { email(id: $id) `+everything(t, "Email")+` }`, map[string]any{"id": "msg_001"})
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of an email got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "email.json", indented(t, a.body))
}

func TestBareEmailHasNullsAndEmptyLists(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 2})
	a := s.ask(t, `{ email(id: "msg_002") `+everything(t, "Email")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of a bare email got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "email_bare.json", indented(t, a.body))
}

func TestPageOfEverythingAsksEachServiceMethodOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 30})
	all := everything(t, "Email")
	a := s.ask(t, `{ emails { edges { cursor node `+all+` } pageInfo { hasNextPage endCursor } } }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of a page of emails got status %d and %.500s, want 200 without errors",
			a.status, a.body)
	}
	same(t, "calls", map[string]int{"List": 1, "Bodies": 1, "Snippets": 1, "Recipients": 1, "Attempts": 1,
		"Attachments": 1, "Timeline": 1,
		"Counts": 1, "Engagements": 1, "DeliveriesOfEvents": 1, "Origins": 1, "Details": 1, "suppressions.Of": 1}, s.calls.counted())

	edges := a.Data["emails"].(map[string]any)["edges"].([]any)
	if len(edges) != 25 {
		t.Fatalf("got %d edges, want the default of 25", len(edges))
	}
	// Each email has its own data: the results of the page were not mixed up.
	bare := edges[0].(map[string]any)["node"].(map[string]any)
	full := edges[24].(map[string]any)["node"].(map[string]any)
	same(t, "recipients of the bare one", 0, len(bare["recipients"].([]any)))
	same(t, "recipients of a full one", 2, len(full["recipients"].([]any)))
	same(t, "body in a list", "<p>Thank you</p>", full["content"].(map[string]any)["html"])
}

func TestFieldsThatNobodyAsksForCostNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 3})
	s.ask(t, `{ emails { nodes { id subject content { headers { name } } } } }`, nil)
	same(t, "calls", map[string]int{"List": 1}, s.calls.counted())
}

func TestPagesWalkTheWholeListOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 7})
	var seen []string
	var after any
	for range 10 {
		a := s.ask(t,
			`query($after: String) { emails(first: 3, after: $after) { nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } } }`,
			map[string]any{"after": after})
		if len(a.Errors) != 0 {
			t.Fatal(a.body)
		}
		emails := a.Data["emails"].(map[string]any)
		for _, n := range emails["nodes"].([]any) {
			seen = append(seen, n.(map[string]any)["id"].(string))
		}
		info := emails["pageInfo"].(map[string]any)
		edges := emails["edges"].([]any)
		same(t, "endCursor is the last edge's", edges[len(edges)-1].(map[string]any)["cursor"], info["endCursor"])
		if info["hasNextPage"] == false {
			break
		}
		after = info["endCursor"]
	}
	var want []string
	for i := 7; i > 0; i-- {
		want = append(want, fmt.Sprintf("msg_%03d", i))
	}
	same(t, "ids", want, seen)
}

func TestEmptyListHasNoCursor(t *testing.T) {
	t.Parallel()
	a := newServer(t, setup{}).ask(t, `{ emails { nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } } }`,
		nil)
	same(t, "emails", map[string]any{"nodes": []any{}, "edges": []any{},
		"pageInfo": map[string]any{"hasNextPage": false, "endCursor": nil}}, a.Data["emails"])
}

func TestArgumentsOfPagesAreChecked(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 3})
	foreign := codec.Encode(page.List{Name: "emails", AccountID: bob}, "msg_002")
	for _, list := range []string{"emails", "domains"} {
		for _, c := range []struct{ args, field string }{
			{`first: 0`, "first"},
			{`first: 101`, "first"},
			{`first: -1`, "first"},
			{`first: 2147483647`, "first"},
			{`after: ""`, "after"},
			{`after: "garbage"`, "after"},
			{`after: "` + foreign + `"`, "after"},
			{`last: 0`, "last"},
			{`last: 101`, "last"},
			{`last: 5, before: "garbage"`, "before"},
			{`last: 5, before: "` + foreign + `"`, "before"},
			{`first: 5, last: 5`, "last"},
			{`before: "garbage"`, "before"},
			{`last: 5, after: "garbage"`, "after"},
		} {
			a := s.ask(t, `{ `+list+`(`+c.args+`) { nodes { id } } }`, nil)
			if a.codes() != "validation_error" || a.Errors[0].Extensions.Details[c.field] == "" || a.status != 200 {
				t.Errorf("%s(%s) got status %d and %s, want 200 with a validation_error of %s", list, c.args, a.status,
					a.body, c.field)
			}
		}
		// Null means omitted, as everywhere in GraphQL.
		if a := s.ask(t, `{ `+list+`(first: null, after: null, last: null, before: null) { nodes { id } } }`,
			nil); len(a.Errors) != 0 {
			t.Errorf("%s with nulls: %s", list, a.body)
		}
	}
}

func TestPagesGoBackAsTheyCame(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 7})
	const query = `query($first: Int, $after: String, $last: Int, $before: String) { emails(first: $first, after: $after, last: $last, before: $before) {
		edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
	type shown struct {
		IDs        string
		Next, Prev bool
	}
	ask := func(variables map[string]any) (shown, map[string]any) {
		found := s.ask(t, query, variables).Data["emails"].(map[string]any)
		info := found["pageInfo"].(map[string]any)
		var ids []string
		for i, e := range found["edges"].([]any) {
			node := e.(map[string]any)["node"].(map[string]any)["id"]
			if node != found["nodes"].([]any)[i].(map[string]any)["id"] {
				t.Errorf("edges and nodes differ: %v", found)
			}
			ids = append(ids, strings.TrimPrefix(node.(string), "msg_00"))
		}
		return shown{strings.Join(ids, " "), info["hasNextPage"].(bool), info["hasPreviousPage"].(bool)}, info
	}
	var there, back []shown
	variables := map[string]any{"first": 3}
	for {
		page, info := ask(variables)
		there = append(there, page)
		if !page.Next {
			break
		}
		variables = map[string]any{"first": 3, "after": info["endCursor"]}
	}
	same(t, "forward", []shown{{"7 6 5", true, false}, {"4 3 2", true, true}, {"1", false, true}}, there)
	variables = map[string]any{"last": 3}
	for {
		page, info := ask(variables)
		back = append(back, page)
		if !page.Prev {
			break
		}
		variables = map[string]any{"last": 3, "before": info["startCursor"]}
	}
	same(t, "backward", []shown{{"3 2 1", false, true}, {"6 5 4", true, true}, {"7", true, false}}, back)
}

func TestListsAreCountedUpToALimit(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 7})
	a := s.ask(t,
		`{ emails(first: 1) { all: count { value isExact } few: count(limit: 3) { value isExact } } domains { count { value isExact } } }`, nil)
	same(t, "emails", map[string]any{"all": map[string]any{"value": 7.0, "isExact": true},
		"few": map[string]any{"value": 3.0, "isExact": false}}, a.Data["emails"])
	for _, limit := range []string{"0", "-1", "10001"} {
		if a := s.ask(t, `{ emails { count(limit: `+limit+`) { value } } }`, nil); a.codes() != "validation_error" ||
			a.Errors[0].Extensions.Details["limit"] == "" {
			t.Errorf("counting to %s: %s", limit, a.body)
		}
	}
}

func indented(t *testing.T, body string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}
