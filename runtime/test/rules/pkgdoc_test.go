package rules_test

import (
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

func TestEveryPackageHasComment(t *testing.T) {
	t.Parallel()
	for _, pkg := range sourcePackages(t) {
		if allGenerated(t, pkg) {
			continue
		}
		var documented []string
		for _, f := range pkg.files {
			parsed, err := parser.ParseFile(token.NewFileSet(), f.abs, nil,
				parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if parsed.Doc != nil && !f.isGenerated(t) && isPackageComment(parsed.Doc.Text(), parsed.Name.Name) {
				documented = append(documented, path.Base(f.path))
			}
		}
		if len(documented) != 1 {
			t.Errorf("%s: want one package comment (`Package x …` or `Command x …`), found %d %v: a reader starts there", pkg.dir, len(documented), documented)
		}
	}
}

func isPackageComment(text, name string) bool {
	return strings.HasPrefix(text, "Package "+name+" ") || name == "main" && !strings.HasPrefix(text, "Package ") &&
		text != ""
}

func allGenerated(t *testing.T, pkg *sourcePackage) bool {
	t.Helper()
	for _, f := range pkg.files {
		if !f.isGenerated(t) {
			return false
		}
	}
	return true
}

func TestFileLength(t *testing.T) {
	t.Parallel()
	const most = 400
	for _, f := range sourceFiles(t, ".") {
		if f.isGenerated(t) {
			continue
		}
		if n := strings.Count(f.readCode(t), "\n"); n > most {
			t.Errorf("%s has %d lines; the limit is %d: split it by subject", f.path, n, most)
		}
	}
}
