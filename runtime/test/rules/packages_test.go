package rules_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/packages.md")

const packagesPage = "../../../docs/packages.md"

// TestPackageTableIsCurrent compares docs/packages.md with the package comments. Write it with -update.
func TestPackageTableIsCurrent(t *testing.T) {
	t.Parallel()
	want := packageTable(t)
	if *update {
		if err := os.WriteFile(packagesPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(packagesPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/packages.md is out of date; run go test ./runtime/test/rules -run PackageTable -update")
	}
}

func packageTable(t *testing.T) []byte {
	t.Helper()
	var page bytes.Buffer
	page.WriteString("# Packages\n\nGenerated from the package comments; `go doc ./<package>` prints the whole comment. [ARCHITECTURE.md](../ARCHITECTURE.md) describes what spans packages.\n")
	group := ""
	for _, pkg := range sourcePackages(t) {
		if allGenerated(t, pkg) {
			continue
		}
		if _, folder := levelOf(pkg.dir); folder != group {
			group = folder
			fmt.Fprintf(&page, "\n## %s\n\n| package | subject |\n|---|---|\n", group)
		}
		fmt.Fprintf(&page, "| `%s` | %s |\n", strings.TrimPrefix(pkg.dir, group+"/"), synopsisOf(t, pkg))
	}
	return page.Bytes()
}

var introduction = regexp.MustCompile(`^(Package|Command) \w+ `)

// synopsisOf returns the first sentence of the package comment, as a cell of a table.
func synopsisOf(t *testing.T, pkg *sourcePackage) string {
	t.Helper()
	for _, f := range pkg.files {
		parsed, err := parser.ParseFile(token.NewFileSet(), f.abs, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc == nil || f.isGenerated(t) || !isPackageComment(parsed.Doc.Text(), parsed.Name.Name) {
			continue
		}
		text := introduction.ReplaceAllString(new(doc.Package).Synopsis(parsed.Doc.Text()), "")
		return strings.ReplaceAll(text, "|", `\|`)
	}
	return ""
}
