package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/rights/rightstest"
	"github.com/postrider/postrider/runtime/base/expect"
)

// Every operation of the document has a rule in docs/permissions.md, and responds to every role, scope and limited key
// according to the rule. See TestOperationsAreForTheRolesThatTheDocumentNames for the parameter zzz.
func TestEveryOperationFollowsItsRule(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	matrix := rightstest.Read(t, "../../docs/permissions.md")
	for _, op := range operations(t, b) {
		rule, known := matrix.Rule(t, op.id)
		if !known {
			continue
		}
		if op.public != (rule.Right == rightstest.Public) || op.operators != (rule.Right == rightstest.Operate) {
			t.Errorf("%s requires %s by its rule, and the document says public %t, for operators %t", op.id, rule.Right,
				op.public, op.operators)
		}
		if op.public {
			continue
		}
		for _, c := range rightstest.Callers() {
			q, code := request{method: op.method, path: op.path + "?zzz=1", key: c.Name}, "insufficient_scope"
			if c.Account != "" {
				q.header = map[string]string{"Postrider-Account": c.Account}
			}
			if c.Person {
				q, code = as(c.Name, op.method, op.path+"?zzz=1", ""), "insufficient_role"
			}
			judge(t, op, c.Name, matrix.Allows(rule, c), code, b.do(t, q))
		}
		judge(t, op, "an operator", rule.Right == rightstest.Operate || matrix.Allows(rule, rightstest.Callers()[4]),
			"insufficient_role", b.do(t, as("viewer-operator", op.method, op.path+"?zzz=1", "")))
	}
	matrix.CheckUnused(t, func(operation string) bool { return !strings.Contains(operation, ".") })
}

// For every operation of the document: an operator key without an account can only manage the installation, no key of
// an account can name another one, and the account must exist.
func TestEveryOperationChecksTheAccountOfKeys(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	for _, op := range operations(t, b) {
		if op.public {
			continue
		}
		ask := func(key string, header map[string]string) answer {
			return b.do(t, request{method: op.method, path: op.path + "?zzz=1", key: key, header: header})
		}
		of := func(account string) map[string]string { return map[string]string{"Postrider-Account": account} }
		got := ask(rightstest.OperatorKey, nil)
		switch {
		case op.operators && !strings.Contains(got.body, "zzz"):
			t.Errorf("%s by an operator key got %d %s, want it allowed", op.id, got.status, got.body)
		case op.operators:
		case got.status != http.StatusBadRequest && got.status != http.StatusForbidden,
			got.status == http.StatusBadRequest && !strings.Contains(got.body, "Postrider-Account"):
			t.Errorf("%s by an operator key without an account got %d %s", op.id, got.status, got.body)
		}
		for account, want := range map[string]int{otherAccount: http.StatusNotFound, "": http.StatusBadRequest,
			"usr_01kf0m4w7he6x8q2v5b3n9c1ta": http.StatusBadRequest, "ada@example.com": http.StatusBadRequest} {
			if got := ask(rightstest.OperatorKey, of(account)); got.status != want || strings.Contains(got.body, "zzz") {
				t.Errorf("%s by an operator key for %q got %d %s, want %d", op.id, account, got.status, got.body, want)
			}
		}
		for _, key := range []string{"full", "read", "sending", "limited", "former"} {
			for _, account := range []string{otherAccount, accountID, ""} {
				if got := ask(key, of(account)); got.status != http.StatusForbidden ||
					!strings.Contains(got.body, "insufficient_scope") || strings.Contains(got.body, "zzz") {
					t.Errorf("%s by the key %s for %q got %d %s, want 403", op.id, key, account, got.status, got.body)
				}
			}
		}
	}
}

// A key with one permission can use the operations that the file lists for it, and no other one. The file is written
// from the answers, so that a new operation appears in its diff.
func TestPermissionsAllowTheListedOperations(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	list := operations(t, b)
	slices.SortFunc(list, func(a, b operation) int { return strings.Compare(a.id, b.id) })
	lines, used := "", map[rights.Permission]bool{}
	for _, op := range list {
		if op.public {
			continue
		}
		var allowed []string
		for _, p := range rights.Permissions() {
			got := b.do(t, request{method: op.method, path: op.path + "?zzz=1", key: "permission_" + string(p)})
			may := got.status == http.StatusBadRequest && strings.Contains(got.body, "zzz")
			if judge(t, op, "the permission "+string(p), may, "insufficient_scope", got); may {
				allowed, used[p] = append(allowed, string(p)), true
			}
		}
		if len(allowed) > 1 {
			t.Errorf("%s is allowed by %q, want one permission", op.id, allowed)
		}
		lines += strings.TrimSpace(op.id+": "+strings.Join(allowed, ", ")) + "\n"
		if strings.Contains(strings.Join(op.scopes, " "), "full") && len(allowed) == 0 {
			segment, _, _ := strings.Cut(strings.TrimPrefix(op.path, "/api/"), "/")
			if p, decided := rights.PermissionOf("/"+segment, rights.Write); !decided || p != "" {
				t.Errorf("no permission allows %s: add its permission to package rights, or withhold %q", op.id, segment)
			}
		}
	}
	for _, p := range rights.Permissions() {
		if !used[p] {
			t.Errorf("the permission %s allows no operation", p)
		}
	}
	expect.Golden(t, "permissions.txt", lines)
}
