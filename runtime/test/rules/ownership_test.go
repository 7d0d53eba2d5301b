package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/migrate"
)

// entityOwners reads the first comment line of each schema file:
// `// Owner: sending. …`.
func entityOwners(t *testing.T) map[string]string {
	t.Helper()
	owners := map[string]string{}
	files, err := filepath.Glob("../../../ent/schema/*.go")
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`(?m)^type (\w+) struct\{ ent\.Schema \}`)
	for _, name := range files {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entity := declaration.FindSubmatch(code)
		if entity == nil {
			continue
		}
		owner := regexp.MustCompile(`^// Owner: (\w+)\. `).FindSubmatch(code)
		if owner == nil {
			t.Errorf("%s: the first line must name the owner, as `// Owner: sending. What it is.`", name)
			continue
		}
		owners[string(entity[1])] = string(owner[1])
	}
	return owners
}

// tableOf returns the table that ent derives from an entity's name.
func tableOf(t *testing.T, entity string) string {
	t.Helper()
	for _, table := range migrate.Tables {
		if strings.EqualFold(strings.ReplaceAll(table.Name, "_", ""), pluralOf(entity)) {
			return table.Name
		}
	}
	t.Fatalf("no table for entity %s", entity)
	return ""
}

func pluralOf(entity string) string {
	switch entity {
	case "WebhookDelivery":
		return "webhookdeliveries"
	case "AutomationEntry":
		return "automationentries"
	case "AuditEntry":
		return "auditentries"
	case "Identity":
		return "identities"
	case "CapturedMail":
		return "capturedmails"
	case "CapturedSMS", "SMSSettings":
		return entity
	default:
		return entity + "s"
	}
}

func TestEachTableHasOneWriter(t *testing.T) {
	t.Parallel()
	owners := entityOwners(t)
	if len(owners) == 0 {
		t.Fatal("found no entity: the rule checks nothing")
	}
	for _, f := range sourceFiles(t, "modules", "runtime", "rest", "graph", "cmd") {
		switch {
		case f.isGenerated(t),
			strings.HasPrefix(f.path, "cmd/bench/"),            // it fills scratch databases
			strings.HasPrefix(f.path, "runtime/ops/transfer/"): // it copies rows of every module
			continue
		}
		entities, tables := writtenNames(f.readCode(t))
		for entity, owner := range owners {
			if (entities[entity] || tables[tableOf(t, entity)]) && !ownedBy(f.path, owner) {
				t.Errorf("%s writes %s, which %s owns: ask its service instead", f.path, entity, owner)
			}
		}
	}
}

func ownedBy(file, owner string) bool {
	return strings.HasPrefix(file, "modules/"+owner+"/") || regexp.MustCompile(`^runtime/[a-z]+/`+owner+`/`).
		MatchString(file)
}

var (
	builders   = regexp.MustCompile(`\.(\w+)\.(?:Create|CreateBulk|MapCreateBulk|Update|UpdateOne|UpdateOneID|Delete|DeleteOne|DeleteOneID)\(`)
	statements = regexp.MustCompile(`(?i)\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE|COPY)\s+(?:ONLY\s+)?"?(\w+)\b`)
	repaired   = regexp.MustCompile(`\{Table: "(\w+)", Name: `) // clockstep.Column
)

// writtenNames returns the entities that ent builders change, and the tables that SQL changes.
func writtenNames(code string) (entities, tables map[string]bool) {
	entities, tables = map[string]bool{}, map[string]bool{}
	for _, found := range builders.FindAllStringSubmatch(code, -1) {
		entities[found[1]] = true
	}
	for _, found := range statements.FindAllStringSubmatch(code, -1) {
		tables[strings.ToLower(found[1])] = true
	}
	for _, found := range repaired.FindAllStringSubmatch(code, -1) {
		tables[found[1]] = true
	}
	return entities, tables
}

func TestOwnershipRuleSeesWrites(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		`tx.Email.Create().SetID(id)`:               true,
		"`UPDATE emails e SET status = $1`":         true,
		"`insert into emails (id) values ($1)`":     true,
		`{Table: "emails", Name: "release_at"}`:     true,
		`db.Ent.Email.Query().Where(email.ID("x"))`: false,
		"`SELECT id FROM emails WHERE id = $1`":     false,
		"`UPDATE emails_archive SET x = 1`":         false,
	} {
		entities, tables := writtenNames(code)
		if got := entities["Email"] || tables["emails"]; got != want {
			t.Errorf("%s writes emails: %v, want %v", code, got, want)
		}
	}
}
