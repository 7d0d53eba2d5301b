package rules_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// habits are the expressions that CONTRIBUTING.md ("How we write") asks to avoid, each with its replacement and the
// number of times that it may still appear on each surface. A surface without a number may not contain it at all.
// Lower a number when you remove an expression; the test fails until you do.
var habits = []struct {
	pattern string
	write   string
	budget  map[string]int
}{
	{`\bgives\b`, "returns, sends, provides", map[string]int{"documents": 1, "test comments": 2}},
	{`\btells whether\b`, "reports whether", nil},
	{`\b(?:told|tells?)\b`, "report, log, return, send, show", map[string]int{"Go strings": 5,
		"test comments": 2, "test strings": 1}},
	{`\b(?:nobody|somebody|whoever|everybody|no one|someone|anyone|anybody)\b`,
		"a noun: client, caller, user, operator, worker", map[string]int{"Go comments": 1, "Go strings": 2,
			"operations": 3, "test strings": 15}},
	{`\b(?:[Oo]f|[Aa]nd|[Oo]r|[Ss]ee|[Kk]eeps?|[Cc]ounts?|[Rr]eads?|[Ll]ists?|[Dd]eletes?|[Ss]tores?|^)\s*what (?:is|was|are|were|came|comes|stands|waits|has|had|became|goes|went)\b`, "the thing's name: the result, queued recipients", map[string]int{"Go comments": 1, "Go strings": 3, "test strings": 1}},
	{`\boctets?\b`, "byte", map[string]int{"Go comments": 2, "Go strings": 8, "GraphQL": 1, "dashboard": 1, "test strings": 6}},
	{`\bbesides?\b`, "next to, along with, in addition to", map[string]int{}},
	{`\bbehind\b`, "after; a server is behind a proxy", map[string]int{"Go comments": 13, "Go strings": 3,
		"documents": 17, "operations": 4, "test comments": 3, "test strings": 10}},
	{`\bstands?\b`, "is, appears, contains", map[string]int{}},
	{`\bis none\b|\bis no [a-z]`, "is not a, must be", map[string]int{"Go comments": 1, "test strings": 1}},
	{`\b[Aa]new\b`, "again", map[string]int{}},
	{`\bdear(?:er|est)?\b`, "expensive", map[string]int{"test strings": 2}},
	{`\bhands? (?:out|over|back|on)\b`, "returns, passes",
		map[string]int{}},
	{`\b[Bb]y (?:itself|themselves)\b`, "automatically", map[string]int{}},
	{`\bis to be\b|\bare to be\b`, "must be", map[string]int{}},
	{`\bfor good\b`, "permanently", map[string]int{}},
	{`\bof its own accord\b|\bof use\b`, "automatically; useful", map[string]int{}},
	{`\bpatien(?:ce|tly)\b`, "with a deadline, with retries", map[string]int{"Go comments": 2}},
	{`\blets? in\b`, "admit, accept", map[string]int{}},
	{`\bwhat is more\b`, "the rest, the remaining", nil},
}

// TestProseKeepsTheFieldsLanguage counts the habits in everything that people read.
func TestProseKeepsTheFieldsLanguage(t *testing.T) {
	t.Parallel()
	prose := readProse(t)
	for _, h := range habits {
		pattern := regexp.MustCompile(h.pattern)
		for surface, passages := range prose {
			var found []string
			for _, p := range passages {
				for _, at := range pattern.FindAllStringIndex(p.text, -1) {
					found = append(found, p.where+": "+excerpt(p.text, at[0]))
				}
			}
			if budget := h.budget[surface]; len(found) > budget {
				t.Errorf("%s: %d of %q, at most %d allowed; write %s instead:\n\t%s", surface, len(found), h.pattern,
					budget, h.write, strings.Join(found, "\n\t"))
			} else if len(found) < budget {
				t.Errorf("%s: %d of %q are left: lower its budget from %d", surface, len(found), h.pattern, budget)
			}
		}
	}
}

// excerpt returns the words around a match.
func excerpt(text string, at int) string {
	from, to := max(0, at-40), min(len(text), at+40)
	return strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
}

// idioms are common English that contains an expression of habits.
var idioms = regexp.MustCompile(`\b(?:is no longer|there is no(?:ne)?|There is no|gives up|tells? \w+(?: \w+)? apart|behind (?:(?:a|an|the|its|your|another|one|trusted|reverse|this) )*(?:\w+ )?(?:prox(?:y|ies)|NAT|load balancer|nginx|Caddy|firewall))\b`)

// passage is a comment, a string or a line of a document.
type passage struct{ where, text string }

// readProse returns all prose of the project by surface.
func readProse(t *testing.T) map[string][]passage {
	t.Helper()
	prose := map[string][]passage{}
	add := func(surface, where, text string) {
		if strings.HasPrefix(where, "CONTRIBUTING.md") && strings.HasPrefix(text, "| ") {
			return // the examples of "How we write", and paths of code
		}
		prose[surface] = append(prose[surface], passage{where, idioms.ReplaceAllString(text, "")})
	}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if name == "node_modules" && !d.IsDir() { // a link
			return nil
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") && name != ".ci" ||
				slices.Contains([]string{"node_modules", "dist", "testdata", "bin", "build"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case strings.HasSuffix(name, ".go") && name != "words_test.go":
			readGo(t, path, rel, add)
		case strings.HasSuffix(name, ".md"):
			addLines(t, path, rel, "documents", add)
		case strings.HasSuffix(name, ".graphqls"):
			addLines(t, path, rel, "GraphQL", add)
		case strings.HasPrefix(rel, "rest/pages/dashboard/src/") && !strings.Contains(name, ".test.") &&
			!strings.Contains(name, ".gen."):
			addLines(t, path, rel, "dashboard", add)
		case name == "Makefile" || strings.HasPrefix(rel, ".ci/") || strings.HasPrefix(rel, "deploy/"):
			addLines(t, path, rel, "operations", add)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	readOpenAPI(t, filepath.Join(root, "rest", "api", "testdata", "openapi.json"), add)
	return prose
}

func addLines(t *testing.T, path, rel, surface string, add func(surface, where, text string)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		add(surface, rel+":"+strconv.Itoa(i+1), line)
	}
}

// readGo adds the comments and string literals of a hand-written Go file.
func readGo(t *testing.T, path, rel string, add func(surface, where, text string)) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(file) {
		return
	}
	comments, literals := "Go comments", "Go strings"
	if strings.HasSuffix(rel, "_test.go") || strings.HasPrefix(rel, "runtime/test/") {
		comments, literals = "test comments", "test strings"
	}
	line := func(at token.Pos) string { return rel + ":" + strconv.Itoa(files.Position(at).Line) }
	for _, group := range file.Comments {
		add(comments, line(group.Pos()), group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING &&
			strings.Contains(literal.Value, " ") {
			add(literals, line(literal.Pos()), literal.Value)
		}
		return true
	})
}

// readOpenAPI adds the descriptions and summaries of the OpenAPI document.
func readOpenAPI(t *testing.T, path string, add func(surface, where, text string)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var walk func(where string, value any)
	walk = func(where string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, member := range v {
				if prose, ok := member.(string); ok && (key == "description" || key == "summary") {
					add("OpenAPI", where, prose)
				}
				walk(where+"/"+key, member)
			}
		case []any:
			for i, member := range v {
				walk(where+"/"+strconv.Itoa(i), member)
			}
		}
	}
	walk("openapi.json", document)
}

// subject is "path: imperative verb and object"; several paths are separated by commas.
var subject = regexp.MustCompile(`^[\w./{},* -]+: [a-z]\S* \S`)

// TestNewestCommitHasAProperSubject reads the subject of the newest commit, where there is a Git repository.
func TestNewestCommitHasAProperSubject(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join("..", "..", "..", ".git")); err != nil {
		t.Skip("not a Git checkout")
	}
	out, err := exec.CommandContext(t.Context(), "git", "log", "-1", "--no-merges", "--format=%s").Output()
	if err != nil {
		t.Skipf("git: %v", err)
	}
	got := strings.TrimSpace(string(out))
	if len(got) > 72 || !subject.MatchString(got) || strings.HasSuffix(got, ".") {
		t.Errorf("the newest commit is %q (%d characters), want \"path: imperative verb and object\" in at most 72 characters", got, len(got))
	}
}
