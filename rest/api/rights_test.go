package api_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/rights/rightstest"
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
