package api_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownBy contains a golden body for each error code, and its fields other than the message.
var shownBy = map[string]struct{ file, beside string }{
	"validation_error":              {"wrong_everywhere", "details"},
	"insufficient_scope":            {file: "scope_read"},
	"insufficient_role":             {file: "person_role"},
	"confirmation_required":         {file: "person_unconfirmed"},
	"second_factor_required":        {file: "person_factor"},
	"cross_origin":                  {file: "person_cross_origin"},
	"address_not_allowed":           {file: "keys_address"},
	"domain_not_verified":           {file: "forbidden"},
	"sandbox_recipient_not_allowed": {file: "sandbox_recipient"},
	"production_not_unlocked":       {file: "production_locked"},
	"account_suspended":             {file: "send_suspended"},
	"account_moving":                {file: "send_moving"},
	"account_moved":                 {"send_moved", "details"},
	"not_found":                     {file: "email_unknown"},
	"method_not_allowed":            {file: "method"},
	"request_timeout":               {file: "request_timeout"},
	"domain_claimed":                {"domain_claimed", "details"},
	"idempotency_conflict":          {file: "idempotency_conflict"},
	"idempotency_in_progress":       {file: "idempotency_in_progress"},
	"email_not_scheduled":           {"email_change_not_scheduled", "details"},
	"conflict":                      {file: "template_taken"},
	"billing_disabled":              {file: "billing_disabled"},
	"payment_due":                   {file: "billing_payment_due"},
	"payload_too_large":             {file: "too_large"},
	"unsupported_media_type":        {file: "media_type"},
	"plan_limit":                    {"plan_limit", "upgrade_url"},
	"rate_limit_exceeded":           {file: "rate_limit"},
	"export_in_progress":            {file: "export_in_progress"},
	"internal_error":                {file: "internal"},
	"delivery_upstream_error":       {file: "upstream"},
	"delivery_unavailable":          {file: "away"},
	"body_unavailable":              {file: "body_away"},
}

// Programs depend on the error codes, so a golden body covers each of them.
func TestEveryErrorCodeIsShown(t *testing.T) {
	t.Parallel()
	declared := append(codesIn(t, "../../runtime/base/fault/fault.go", "Code"),
		codesIn(t, "problem/problem.go", "Code")...)
	slices.Sort(declared)
	if diff := cmp.Diff(declared, slices.Sorted(maps.Keys(shownBy))); diff != "" {
		t.Errorf("the codes that are declared (-) and those that are shown (+) differ:\n%s", diff)
	}
	for code, c := range shownBy {
		golden, err := os.ReadFile("testdata/answers/" + c.file + ".json")
		if err != nil {
			t.Error(err)
			continue
		}
		var shown struct{ Error map[string]any }
		if err := json.Unmarshal(golden, &shown); err != nil {
			t.Errorf("%s: the golden answer is not JSON: %v", c.file, err)
		}
		if shown.Error["code"] != code || shown.Error["message"] == "" || c.beside != "" &&
			shown.Error[c.beside] == nil {
			t.Errorf("%s does not show %s with %q: %s", c.file, code, c.beside, golden)
		}
	}
}

// codesIn returns the string constants of a file whose names start with Code.
func codesIn(t *testing.T, file, prefix string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, isValue := n.(*ast.ValueSpec)
		if !isValue || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if literal, isLiteral := spec.Values[0].(*ast.BasicLit); isLiteral {
			code, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code)
		}
		return true
	})
	if len(codes) == 0 {
		t.Fatalf("%s declares no constant %s…", file, prefix)
	}
	return codes
}
