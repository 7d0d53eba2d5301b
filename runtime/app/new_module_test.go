package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// The row of the new module, and where it goes.
const (
	newImport = "\t\"github.com/postrider/postrider/modules/notes\"\n\trestnotes \"github.com/postrider/postrider/rest/notes\"\n"
	newRow    = `	{
		Name: "notes", Line: "keeps notes",
		Requires: []string{"accounts"},
		Option:   notes.Module,
		Routes:   []route{routesOf(func(s *notes.Service) api.Routes { return restnotes.Routes(s) })},
		Graph:    []part{provideGraph(func(p *graph.Parts, s *notes.Service) { p.Notes = s })},
	},
`
)

const newFiles = "testdata/new_module" // its folder and its edge files

// registryWith returns modules.go with the row of the new module.
func registryWith(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("modules.go")
	if err != nil {
		t.Fatal(err)
	}
	const beforeImport, beforeRow = "\t\"github.com/postrider/postrider/modules/outbound\"\n",
		"\t{\n\t\tName: \"devinbox\""
	for _, place := range []string{beforeImport, beforeRow} {
		if strings.Count(string(text), place) != 1 {
			t.Fatalf("modules.go has the text %q %d times, want once", place, strings.Count(string(text), place))
		}
	}
	return strings.NewReplacer(beforeImport, newImport+beforeImport, beforeRow, newRow+beforeRow).Replace(string(text))
}

// partsWith returns graph/part.go with the service of the new module.
func partsWith(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../graph/part.go")
	if err != nil {
		t.Fatal(err)
	}
	const place = "type Parts struct {\n"
	if strings.Count(string(text), place) != 1 {
		t.Fatalf("graph/part.go does not have the text %q once", place)
	}
	return strings.Replace(string(text), place, place+"\tNotes Notes\n", 1)
}

// A module consists of its folder, its edge files, its field of graph.Parts and its row: with these the
// edges and the registry compile. TestNewModuleNeedsOneRow shows, in long mode, that it works.
func TestNewModuleCompiles(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, name := range []string{"modules/notes/doc.go", "modules/notes/service.go", "modules/notes/module.go",
		"rest/notes/notes.go", "graph/notes.go"} {
		if overlay.Replace[filepath.Join(root, name)], err = filepath.Abs(filepath.Join(newFiles, name)); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	row, parts, list := filepath.Join(folder, "modules.go"), filepath.Join(folder, "part.go"), filepath.Join(folder,
		"overlay.json")
	overlay.Replace[filepath.Join(root, "runtime/app/modules.go")] = row
	overlay.Replace[filepath.Join(root, "graph/part.go")] = parts
	replaced, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{row: []byte(registryWith(t)), parts: []byte(partsWith(t)),
		list: replaced} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "./modules/notes", "./runtime/app")
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("the tree with a new module does not compile: %v\n%s", err, output)
	}
}

// A module is added to a copy of the tree by its folder, its edge files, its field of graph.Parts and its
// row. No other change is needed for its route, its GraphQL field, its line of /readyz, its metric, its
// sweep, its part in erasing a person and its switch.
func TestNewModuleNeedsOneRow(t *testing.T) {
	if os.Getenv("POSTRIDER_NEW_MODULE") != "long" {
		t.Skip("takes minutes: make new-module")
	}
	tree := copyOfTheTree(t)
	if err := os.CopyFS(tree, os.DirFS(newFiles)); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"runtime/app/modules.go": registryWith(t),
		"graph/part.go": partsWith(t)} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runGo(t, tree, "generate", "./graph")
	program := filepath.Join(t.TempDir(), "postrider")
	runGo(t, tree, "build", "-trimpath", "-o", program, "./cmd/postrider")

	on := startProgram(t, program)
	if got := on.get(t, http.MethodGet, "/api/notes", ""); !strings.Contains(got, "remember the milk") {
		t.Errorf("GET /api/notes returned %s, want the note", got)
	}
	if got := on.get(t, http.MethodGet, "/api/openapi.json", ""); !strings.Contains(got, `"/notes"`) {
		t.Error("the OpenAPI document does not have /notes")
	}
	if got := on.get(t, http.MethodPost, "/graphql", `{"query":"{ notes }"}`); !strings.Contains(got,
		`{"notes":["remember the milk"]}`) {
		t.Errorf("{ notes } returned %s, want the note", got)
	}
	if got := on.get(t, http.MethodGet, "/readyz", ""); !strings.Contains(got, `"notes":"ok"`) ||
		!strings.Contains(got, `"notes_pages":7`) {
		t.Errorf("GET /readyz returned %s, want the line of notes", got)
	}
	if got := on.get(t, http.MethodGet, "/metrics", ""); !strings.Contains(got, "\npostrider_notes_total 0") {
		t.Error("GET /metrics does not have postrider_notes_total")
	}
	on.get(t, http.MethodDelete, "/api/contacts/ada@example.com/data", "")
	if got := on.get(t, http.MethodGet, "/api/notes", ""); strings.Contains(got, "milk") {
		t.Errorf("after erasing a person GET /api/notes returned %s, want no note", got)
	}

	off := startProgram(t, program, "--modules=-notes")
	if got := off.get(t, http.MethodGet, "/api/notes", ""); !strings.Contains(got, "not_found") {
		t.Errorf("without the module GET /api/notes returned %s, want not_found", got)
	}
	if got := off.get(t, http.MethodPost, "/graphql", `{"query":"{ notes }"}`); !strings.Contains(got,
		"Cannot query field") {
		t.Errorf("without the module { notes } returned %s, want an unknown field error", got)
	}
	if got := off.get(t, http.MethodGet, "/readyz", ""); strings.Contains(got, "notes") {
		t.Errorf("without the module GET /readyz returned %s, want nothing about notes", got)
	}
	expect.EventuallyWithin(t, 10*time.Minute, "the first sweep, five minutes after the start, includes notes",
		func() bool {
			return strings.Contains(on.log.String(), "old notes swept")
		})
}

// copyOfTheTree copies the source code.
func copyOfTheTree(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || name == "bin" || name == "data"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// runGo runs a go command in the tree.
func runGo(t *testing.T, tree string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = tree
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %s in the copy ended with %v\n%s", strings.Join(args, " "), err, output)
	}
}

// started is a Postrider of the copy, running in development mode.
type started struct {
	BaseURL string `json:"base_url"`
	APIKey  string `json:"api_key"`

	log expect.Log
}

func startProgram(t *testing.T, program string, more ...string) *started {
	t.Helper()
	s := &started{}
	data := t.TempDir()
	ready := filepath.Join(data, "ready.json")
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	command := exec.CommandContext(ctx, program, append([]string{"dev", "--http-addr=127.0.0.1:0", "--data-dir", data,
		"--database-url", dbtest.URL(t), "--ready-file", ready}, more...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Stdout, command.Stderr = &s.log, &s.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := command.Wait(); err != nil && t.Failed() {
			t.Logf("postrider exited with %v and logged:\n%s", err, s.log.String())
		}
	})
	expect.Eventually(t, "the copy starts", func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, s) == nil
	})
	return s
}

// get sends a request and returns the body of the response, whatever its status.
func (s *started) get(t *testing.T, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
