package rules_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/migrate/migrations"
)

// markedFrom is the version from which migrations must declare their effect on programs that lack them.
const markedFrom = "20261126000000"

// A migration that only adds lets programs of the previous version keep working.
func TestMigrationsDeclareEffectOnOlderPrograms(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d migrations: %v", len(names), err)
	}
	var before []string
	for _, name := range names {
		content, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if version := name[:len(markedFrom)]; version >= markedFrom {
			for _, wrong := range wrongWith(string(content), before) {
				t.Errorf("the migration %s %s", name, wrong)
			}
		}
		before = append(before, name[:len(markedFrom)])
	}
}

var (
	expandMark   = regexp.MustCompile(`(?m)\A(?:--.*\n)*--[ \t]*expand[ \t]*$`)
	contractMark = regexp.MustCompile(`(?m)\A(?:--.*\n)*--[ \t]*contract[ \t]+(\S+)[ \t]*$`)
	aloneMark    = regexp.MustCompile(`(?m)\A(?:--.*\n)*--[ \t]*no[ \t]+transaction[ \t]*$`)
	sqlComment   = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)
	sqlText      = regexp.MustCompile(`'(?:[^']|'')*'`)
	quotedName   = regexp.MustCompile(`"[^"]*"`)
	madeTable    = regexp.MustCompile(`(?i)CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?("[^"]+"|\w+)`)
	madeIndex    = regexp.MustCompile(`(?i)CREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?(?:IF NOT EXISTS )?(?:"[^"]+"|\w+) ON (?:ONLY )?("[^"]+"|\w+)`)
	addedColumn  = regexp.MustCompile(`(?i)\bADD (?:COLUMN )?(?:IF NOT EXISTS )?("[^"]+"|\w+) `)
	constant     = regexp.MustCompile(`(?i)\bDEFAULT (?:''|-?[\d.]+|TRUE|FALSE|ARRAY\[\])(?:::[\w" \[\]]+)?(?:\s|$)`)
	takesAway    = map[string]*regexp.Regexp{
		"takes something away (DROP)":        regexp.MustCompile(`(?i)\bDROP\b`),
		"renames something":                  regexp.MustCompile(`(?i)\bRENAME\b`),
		"makes a column NOT NULL":            regexp.MustCompile(`(?i)\bSET NOT NULL\b`),
		"changes the type of a column":       regexp.MustCompile(`(?i)\bALTER (?:COLUMN )?\S+ (?:SET DATA )?TYPE\b`),
		"empties a table (TRUNCATE)":         regexp.MustCompile(`(?i)\bTRUNCATE\b`),
		"makes an index within a table lock": regexp.MustCompile(`(?i)\bADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY)\b`),
	}
)

// wrongWith returns the problems of a migration; before are the versions of earlier migrations.
func wrongWith(content string, before []string) (wrong []string) {
	statements := strings.Join(strings.Fields(sqlText.ReplaceAllString(sqlComment.ReplaceAllString(content, ""), "''")),
		" ")
	expand, contract := expandMark.MatchString(content), contractMark.FindStringSubmatch(content)
	switch {
	case expand == (contract != nil):
		return []string{"must contain `-- expand` or `-- contract VERSION` before its first statement"}
	case contract != nil && !strings.Contains(" "+strings.Join(before, " ")+" ", " "+contract[1]+" "):
		wrong = append(wrong, "names "+contract[1]+
			" as the oldest migration that a program must have, but no earlier migration has that version")
	}
	alone := aloneMark.MatchString(content)
	if concurrent := strings.Contains(strings.ToUpper(statements), "CONCURRENTLY"); concurrent != alone {
		wrong = append(wrong, "must be marked `-- no transaction` if, and only if, it uses CONCURRENTLY")
	}
	if alone && strings.Contains(strings.TrimSuffix(statements, ";"), ";") {
		wrong = append(wrong,
			"is marked `-- no transaction` but has more than one statement: the server would run them in one transaction")
	}
	if !expand {
		return wrong
	}
	for what, found := range takesAway {
		if found.MatchString(quotedName.ReplaceAllString(statements, "x")) {
			wrong = append(wrong, what+": that requires a `-- contract` file of a later version")
		}
	}
	for _, at := range addedColumn.FindAllStringSubmatchIndex(statements, -1) {
		if c := upToComma(statements[at[0]:]); strings.Contains(strings.ToUpper(c), "NOT NULL") &&
			!constant.MatchString(c) {
			wrong = append(wrong, "adds the column "+statements[at[2]:at[3]]+
				" NOT NULL without a constant default: older programs do not fill it in")
		}
	}
	made := map[string]bool{}
	for _, table := range madeTable.FindAllStringSubmatch(statements, -1) {
		made[table[1]] = true
	}
	for _, index := range madeIndex.FindAllStringSubmatch(statements, -1) {
		if !alone && !made[index[1]] {
			wrong = append(wrong, "makes an index of "+index[1]+
				", which blocks writers: use CONCURRENTLY in a separate file")
		}
	}
	return wrong
}

// upToComma returns the beginning of a statement, up to the comma or semicolon that ends its first part.
func upToComma(statement string) string {
	depth := 0
	for i, c := range statement {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && (c == ',' || c == ';'):
			return statement[:i]
		}
	}
	return statement
}

func TestHarmfulMigrationsAreDetected(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"ALTER TABLE a ADD COLUMN b int;":                                                                        "must contain",
		"SELECT 1;\n-- expand":                                                                                   "must contain",
		"-- expand\n-- contract 20260101000000\nSELECT 1;":                                                       "must contain",
		"-- contract 20250101000000\nALTER TABLE a DROP COLUMN b;":                                               "names 20250101000000",
		"-- expand\nALTER TABLE a DROP COLUMN b;":                                                                "takes something away",
		"-- expand\nALTER TABLE a\n ALTER COLUMN b DROP NOT NULL;":                                               "takes something away",
		"-- expand\nALTER TABLE a RENAME COLUMN b TO c;":                                                         "renames",
		"-- expand\nALTER TABLE a ALTER COLUMN b SET NOT NULL;":                                                  "makes a column NOT NULL",
		"-- expand\nALTER TABLE \"a\" ALTER COLUMN \"b\" TYPE bigint;":                                           "changes the type",
		"-- expand\nALTER TABLE a ADD COLUMN b numeric(10, 2) NOT NULL, ADD COLUMN c int DEFAULT 1;":             "adds the column b",
		"-- expand\nALTER TABLE a ADD COLUMN \"b\" timestamptz NOT NULL DEFAULT now();":                          "adds the column \"b\"",
		"-- expand\nALTER TABLE a ADD CONSTRAINT u UNIQUE (b);":                                                  "within a table lock",
		"-- expand\nCREATE INDEX i ON \"a\" (b);":                                                                "makes an index of \"a\"",
		"-- expand\nCREATE INDEX CONCURRENTLY i ON a (b);":                                                       "no transaction",
		"-- expand\n-- no transaction\nALTER TABLE a ADD COLUMN b int;":                                          "no transaction",
		"-- expand\n-- no transaction\nCREATE INDEX CONCURRENTLY i ON a (b); SELECT 1;":                          "more than one statement",
		"-- expand\nALTER TABLE a ADD COLUMN b int NOT NULL DEFAULT 0, ADD COLUMN c text NOT NULL DEFAULT 'x,y'": "",
		"-- expand\nALTER TABLE a ADD COLUMN \"drop\" boolean NOT NULL DEFAULT false; -- no DROP":                "",
		"-- expand\nCREATE TABLE a (b int NOT NULL, UNIQUE (b)); CREATE INDEX i ON a (b);":                       "",
		"-- What it is for.\n-- expand\n-- no transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a (b);":  "",
		"-- contract 20260101000000\nALTER TABLE a DROP COLUMN b;":                                               "",
	} {
		got := strings.Join(wrongWith(content, []string{"20260101000000"}), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}
