// Package rightstest parses docs/permissions.md, the table of rights against which REST and GraphQL are
// tested: the right that each operation requires, and the roles and scopes that include it.
package rightstest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/rights"
)

// Rights that no role and no scope includes.
const (
	Public  = "public"  // requires no credential
	Any     = "any"     // requires a valid credential
	Operate = "operate" // requires an operator of the installation
)

// What a key limited to some domains may do with an operation.
const (
	Refused = "no"
	NoKeys  = "–" // not available to any key
)

// Rule is the row of one operation.
type Rule struct {
	Right   string
	Limited string // what a key limited to some domains may do
}

// Matrix is the parsed page.
type Matrix struct {
	columns []string
	rights  map[string][]string // the roles and scopes that have a right
	rules   map[string]Rule
	used    map[string]bool
}

// Read parses the page at a path.
func Read(t testing.TB, path string) *Matrix {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &Matrix{rights: map[string][]string{}, rules: map[string]Rule{}, used: map[string]bool{}}
	for line := range strings.Lines(string(page)) {
		cells := cellsOf(line)
		switch {
		case len(cells) > 5 && cells[0] == "Right":
			m.columns = cells[1 : len(cells)-1]
		case len(cells) == len(m.columns)+2 && len(m.columns) > 0:
			m.addRight(cells)
		case len(cells) == 3 || len(cells) == 4:
			m.addRule(t, cells)
		}
	}
	if len(m.columns) != len(rights.Roles())+len(rights.Scopes())+1 || len(m.rules) < 200 {
		t.Fatalf("docs/permissions.md has %d columns and %d rules, want all roles, scopes and operations",
			len(m.columns), len(m.rules))
	}
	return m
}

// cellsOf returns the cells of a table row without their quotes, or nil for any other line.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(c), "`")
	}
	return cells
}

func (m *Matrix) addRight(cells []string) {
	have := []string{}
	for i, column := range m.columns {
		if cells[i+1] != "" {
			have = append(have, column)
		}
	}
	m.rights[cells[0]] = have
}

func (m *Matrix) addRule(t testing.TB, cells []string) {
	t.Helper()
	rule := Rule{Right: cells[len(cells)-2], Limited: cells[len(cells)-1]}
	if rule.Right == "Right" { // the table header
		return
	}
	if _, twice := m.rules[cells[0]]; twice {
		t.Errorf("docs/permissions.md has two rows for %s", cells[0])
	}
	if _, known := m.rights[rule.Right]; !known && rule.Right != Public && rule.Right != Any && rule.Right != Operate {
		t.Errorf("docs/permissions.md requires the right %[2]q for %[1]s, but this right does not exist", cells[0],
			rule.Right)
	}
	m.rules[cells[0]] = rule
}

// Rule returns the rule of an operation, and fails the test if there is none.
func (m *Matrix) Rule(t testing.TB, operation string) (Rule, bool) {
	t.Helper()
	rule, known := m.rules[operation]
	if !known {
		t.Errorf("%s has no rule: add a row to docs/permissions.md with the right that it requires "+
			"and what keys with domain_ids may do", operation)
	}
	m.used[operation] = true
	return rule, known
}

// CheckUnused fails the test for rules of operations that do not exist. is selects the kind of operations
// that the test covers.
func (m *Matrix) CheckUnused(t testing.TB, is func(operation string) bool) {
	t.Helper()
	for operation := range m.rules {
		if is(operation) && !m.used[operation] {
			t.Errorf("docs/permissions.md has a row for %s, but this operation does not exist", operation)
		}
	}
}

// accountID is the account of the test doubles.
const accountID = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"

// Caller is a kind of caller that every operation is tested with.
type Caller struct {
	Name    string // the name by which test doubles identify it
	Person  bool   // a signed-in user; otherwise a key
	Account string // the account in the header, for an operator key
	columns []string
	limited bool
}

// OperatorKey is the name of the operator key, without svc_.
const OperatorKey = "op_0123456789abcdefghij"

// Callers returns a caller for every role and scope, and keys with other limits: one of a developer, one of a
// developer who has left, one limited to a domain, and an operator key.
func Callers() (all []Caller) {
	for _, role := range rights.Roles() {
		all = append(all, Caller{Name: string(role), Person: true, columns: []string{string(role)}})
	}
	for _, scope := range rights.Scopes() {
		all = append(all, Caller{Name: string(scope), columns: []string{string(scope)}})
	}
	return append(all, Caller{Name: "developers", columns: []string{"full", "developer"}},
		Caller{Name: "former", columns: []string{"full", "developer", "sending"}},
		Caller{Name: "limited", columns: []string{"full"}, limited: true},
		Caller{Name: OperatorKey, columns: []string{string(rights.ScopeOperator)}, Account: accountID})
}

// Allows reports whether the page allows a caller to perform an operation with the rule.
func (m *Matrix) Allows(rule Rule, c Caller) bool {
	if c.limited && (rule.Limited == Refused || rule.Limited == NoKeys) {
		return false
	}
	switch rule.Right {
	case Public, Any:
		return true
	}
	return !slices.ContainsFunc(c.columns,
		func(column string) bool { return !slices.Contains(m.rights[rule.Right], column) })
}
