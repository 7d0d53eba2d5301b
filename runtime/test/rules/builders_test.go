package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGeneratedBuildersHaveCallers compares the Builders annotation of each entity with the code that calls Ent. A
// builder that nothing calls costs about 500 generated lines; the compiler finds one that is missing.
func TestGeneratedBuildersHaveCallers(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, f := range sourceFiles(t, "modules", "runtime", "cmd") {
		if !f.isGenerated(t) {
			code.WriteString(f.readCode(t))
		}
	}
	callers := code.String()
	files, err := filepath.Glob("../../../ent/schema/*.go")
	if err != nil {
		t.Fatal(err)
	}
	annotation := regexp.MustCompile(`(?s)type (\w+) struct\{ ent\.Schema \}.*?\bBuilders\{(.*?)\}`)
	found := 0
	for _, name := range files {
		schema, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		match := annotation.FindSubmatch(schema)
		if match == nil {
			continue
		}
		found++
		entity, builders := string(match[1]), string(match[2])
		called := func(pattern string) bool {
			return regexp.MustCompile(strings.ReplaceAll(pattern, "ENTITY", entity)).MatchString(callers)
		}
		if builders == "" && !called(`\.ENTITY\.(Query|Get)\(`) {
			t.Errorf("%s: nothing queries %s through Ent: remove the Builders annotation", name, entity)
		}
		for builder, pattern := range map[string]string{
			"Create": `\.ENTITY\.(Create|CreateBulk|MapCreateBulk)\(|\bent\.ENTITYCreate\b`,
			"Update": `\.ENTITY\.(Update|UpdateOne|UpdateOneID)\(|\bent\.ENTITYUpdate(One)?\b`,
			"Delete": `\.ENTITY\.(Delete|DeleteOne|DeleteOneID)\(`,
		} {
			if strings.Contains(builders, builder+": true") && !called(pattern) {
				t.Errorf("%s: nothing calls %s of %s: remove it from the Builders annotation", name, builder, entity)
			}
		}
	}
	if found == 0 {
		t.Error("no entity has the Builders annotation: this test checks nothing")
	}
}
