package graph

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/rights/rightstest"
)

// Every root field of the schema has a rule in docs/permissions.md, and responds to every role, scope and
// bounded key as the rule says.
func TestEveryRootFieldFollowsItsRule(t *testing.T) {
	t.Parallel()
	whole, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	s, matrix := newServer(t, setup{emails: 1}), rightstest.Read(t, "../docs/permissions.md")
	for _, root := range []*ast.Definition{whole.Query, whole.Mutation, whole.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			name := root.Name + "." + field.Name
			rule, known := matrix.Rule(t, name)
			if !known {
				continue
			}
			for _, c := range rightstest.Callers() {
				got := s.askRoot(t, c, documentOf(whole, root, field))
				refused := strings.Contains(got, `"insufficient_scope"`) || strings.Contains(got, `"insufficient_role"`)
				if rule.Right == rightstest.Operate { // null, so that the dashboard can ask in every session
					refused = refused || strings.Contains(got, `"`+field.Name+`":null`)
				}
				if may := matrix.Allows(rule, c); may == refused {
					t.Errorf("%s by %s got %s, want it allowed: %t", name, c.Name, got, may)
				}
			}
		}
	}
	matrix.CheckUnused(t, func(operation string) bool { return strings.Contains(operation, ".") })
}

// documentOf returns a document that selects one root field with its required arguments.
func documentOf(whole *ast.Schema, root *ast.Definition, field *ast.FieldDefinition) string {
	var given []string
	for _, a := range field.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil {
			given = append(given, a.Name+": "+valueOf(whole, a.Type))
		}
	}
	text := field.Name
	if len(given) > 0 {
		text += "(" + strings.Join(given, ", ") + ")"
	}
	if !whole.Types[field.Type.Name()].IsLeafType() {
		text += " { __typename }"
	}
	return strings.ToLower(root.Name) + " { " + text + " }"
}

// valueOf returns some value of an input type.
func valueOf(whole *ast.Schema, of *ast.Type) string {
	if of.Elem != nil {
		return "[" + valueOf(whole, of.Elem) + "]"
	}
	def := whole.Types[of.Name()]
	switch {
	case def.Kind == ast.Enum:
		return def.EnumValues[0].Name
	case def.Kind == ast.InputObject:
		var fields []string
		for _, f := range def.Fields {
			if f.Type.NonNull && f.DefaultValue == nil {
				fields = append(fields, f.Name+": "+valueOf(whole, f.Type))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case def.Name == "Int", def.Name == "Float":
		return "1"
	case def.Name == "Boolean":
		return "false"
	case def.Name == "DateTime":
		return `"2026-01-15T09:30:00Z"`
	}
	return `"xyz"`
}

// askRoot returns the response to a document, or nothing for a stream that started.
func (s *testServer) askRoot(t *testing.T, c rightstest.Caller, document string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, s.url, "svc_"+c.Name, string(body))
	if c.Account != "" {
		r.Header.Set("Postrider-Account", c.Account)
	}
	if c.Person {
		r.Header.Del("Authorization")
		r.Header.Set("Cookie", "postrider="+c.Name)
		r.Header.Set("Origin", ownOrigin)
	}
	if strings.HasPrefix(document, "subscription") {
		r.Header.Set("Accept", "text/event-stream")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return ""
	}
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// Without an account, an operator key reads the installation and nothing of any account.
func TestOperatorKeysNeedAnAccount(t *testing.T) {
	t.Parallel()
	whole, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	s, matrix := newServer(t, setup{emails: 1}), rightstest.Read(t, "../docs/permissions.md")
	for _, root := range []*ast.Definition{whole.Query, whole.Mutation, whole.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			rule, known := matrix.Rule(t, root.Name+"."+field.Name)
			if !known || rule.Right == rightstest.Any || rule.Right == rightstest.Operate {
				continue
			}
			got := s.askRoot(t, rightstest.Caller{Name: rightstest.OperatorKey}, documentOf(whole, root, field))
			if !strings.Contains(got, "Postrider-Account") && !strings.Contains(got, "insufficient_scope") {
				t.Errorf("%s.%s without an account got %s", root.Name, field.Name, got)
			}
		}
	}
	for name, header := range map[string]string{"svc_full": "Postrider-Account", "svc_read": "postrider-account"} {
		r := request(t, s.url, name, `{"query": "{ viewer { can } }"}`)
		r.Header.Set(header, "acc_01kf0m4w7he6x8q2v5b3n9c1ta")
		if got := s.send(t, r); got.status != http.StatusForbidden {
			t.Errorf("%s with an account got %d %s, want 403", name, got.status, got.body)
		}
	}
}

// A key with permissions reads and changes nothing over GraphQL, where links lead from one resource to others.
func TestKeysWithPermissionsCannotUseGraphQL(t *testing.T) {
	t.Parallel()
	whole, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	s, matrix := newServer(t, setup{emails: 1}), rightstest.Read(t, "../docs/permissions.md")
	for _, root := range []*ast.Definition{whole.Query, whole.Mutation, whole.Subscription} {
		for _, field := range root.Fields {
			rule, known := rightstest.Rule{}, false
			if !strings.HasPrefix(field.Name, "__") {
				rule, known = matrix.Rule(t, root.Name+"."+field.Name)
			}
			if !known || rule.Right == rightstest.Any || rule.Right == rightstest.Operate {
				continue
			}
			for _, name := range []string{"permission_emails:send", "permission_emails:read", "permission_domains:write"} {
				if got := s.askRoot(t, rightstest.Caller{Name: name}, documentOf(whole, root, field)); !strings.Contains(got, "insufficient_scope") {
					t.Errorf("%s.%s by %s got %s", root.Name, field.Name, name, got)
				}
			}
		}
	}
}

// Each root field works in test mode as the table says, and a new field needs a decision. A key of test mode is the
// same key with another tenant.
func TestEveryRootFieldHasADecisionForTestMode(t *testing.T) {
	t.Parallel()
	whole, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	s, matrix := newServer(t, setup{emails: 1}), rightstest.Read(t, "../docs/permissions.md")
	for _, root := range []*ast.Definition{whole.Query, whole.Mutation, whole.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			name := root.Name + "." + field.Name
			access, decided := rights.TestAccessOfField(name)
			rule, known := matrix.Rule(t, name)
			if !decided || !known {
				t.Errorf("it is not decided how %s works in test mode: add it to package rights", name)
				continue
			}
			full := rightstest.Caller{Name: "full"}
			for _, c := range rightstest.Callers() {
				if c.Name == full.Name {
					full = c
				}
			}
			want := access != rights.LiveOnly && matrix.Allows(rule, full)
			got := s.askRoot(t, rightstest.Caller{Name: "test_full"}, documentOf(whole, root, field))
			if refused := strings.Contains(got, `"insufficient_scope"`); refused == want {
				t.Errorf("%s in test mode got %s, want it allowed: %t", name, got, want)
			}
		}
	}
}
