package rules_test

import (
	"regexp"
	"strings"
	"testing"
)

// A databaseRule forbids a way to use the database, except in some files or folders.
type databaseRule struct {
	forbids *regexp.Regexp
	allowed []string // prefixes of paths
	reason  string
}

var databaseRules = []databaseRule{
	{
		forbids: regexp.MustCompile(`\brows\.Next\(|\.QueryContext\(`),
		allowed: []string{
			"runtime/storage/db/",
			"runtime/work/bus/batch.go",     // passes on a transaction
			"runtime/test/faults/server.go", // reads columns that it does not know
		},
		reason: "read rows with All, One and Each of runtime/storage/db, which close them and return every error",
	},
	{
		forbids: regexp.MustCompile(`interface \{[^}]*\b(Exec|Query|QueryRow)Context\(`),
		allowed: []string{"runtime/storage/db/db.go"},
		reason:  "use db.Execer to run SQL: a second such interface would need a second set of helpers",
	},
	{
		forbids: regexp.MustCompile(`\$(1[1-9]|[2-9]\d)\b`),
		reason:  "use named parameters in a statement with more than ten: db.Compile numbers them, and package batch writes many rows",
	},
	{
		forbids: regexp.MustCompile(`\bpq\.(Array|\w+Array)\b`),
		allowed: []string{"runtime/storage/db/"},
		reason:  "use db.Array and db.ScanArray for arrays",
	},
}

func TestDatabaseIsUsedThroughToolbox(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t, "modules", "runtime", "rest", "graph", "cmd") {
		if file.isGenerated(t) {
			continue
		}
		code := file.readCode(t)
		for _, rule := range databaseRules {
			if found := rule.forbids.FindString(code); found != "" && !rule.allows(file.path) {
				t.Errorf("%s contains %q: %s", file.path, found, rule.reason)
			}
		}
	}
}

func (r databaseRule) allows(path string) bool {
	for _, prefix := range r.allowed {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
