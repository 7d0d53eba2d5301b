package automate_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/cmd/postrider/automate"
	"github.com/postrider/postrider/cmd/postrider/client"
	"github.com/postrider/postrider/runtime/test/harness"
)

const (
	welcome = `{"name": "Welcome", "description": "Says hello.", "trigger": {"event": "user.created", "conditions": "event.data.n > 1"},
 "steps": [{"key": "hello", "type": "send_email", "from": "Ada <ada@dev.test>", "subject": "Hi {{event.data.name}}", "text": "Hello\nyou"},
  {"key": "paid", "type": "wait_for_event", "event": "order.paid", "timeout": "P1D", "on_event": "end", "on_timeout": {"goto": "again"}},
  {"key": "again", "type": "delay", "duration": "PT1H"}]}`
	later = `# Waits for the morning.
name: Later
timezone: Europe/Berlin
goal:
  event: order.paid
  within_days: 7
trigger:
  event: later
steps:
  - key: morning
    type: wait_until
    window: {from: "09:00", to: "12:00"}
`
	// broken has a sender whose domain does not belong to the account.
	broken = `{"name": "Broken", "trigger": {"event": "e"}, "steps": [{"type": "send_email", "from": "a@nobody.example", "subject": "s", "text": "t"}]}`
)

// writeFolder creates a folder with the files.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runPush runs a push and returns its output without ids.
func runPush(t *testing.T, server client.Server, activate bool, paths ...string) (out, log string, failed int) {
	t.Helper()
	var said, problems bytes.Buffer
	failed, err := automate.Push{Server: server, Paths: paths, Activate: activate, Out: &said,
		Log: &problems}.Run(t.Context())
	if err != nil {
		t.Fatalf("push: %v", err)
	}
	var lines []string
	for line := range strings.Lines(said.String()) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), "  ")
		lines = append(lines, rest)
	}
	return strings.Join(lines, "; "), problems.String(), failed
}

func TestPushAndPullRoundTrip(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	server := client.Server{BaseURL: app.BaseURL, APIKey: app.APIKey}
	dir := writeFolder(t, map[string]string{"a.json": welcome, "b.yaml": later, "notes.txt": "no definition"})
	for _, c := range []struct {
		activate bool
		want     string
	}{
		{false, "Welcome  created (draft); Later  created (draft)"},
		{false, "Welcome  unchanged (draft); Later  unchanged (draft)"},
		{true, "Welcome  unchanged, activated (active, version 1); Later  unchanged, activated (active, version 1)"},
		{true, "Welcome  unchanged (active, version 1); Later  unchanged (active, version 1)"},
	} {
		if out, log, failed := runPush(t, server, c.activate, dir); out != c.want || failed != 0 || log != "" {
			t.Errorf("a push printed %q and logged %q, and %d failed; want %q", out, log, failed, c.want)
		}
	}
	// A field that is missing from the file is cleared.
	if err := os.WriteFile(filepath.Join(dir, "a.json"),
		[]byte(strings.Replace(welcome, `"description": "Says hello.", `, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := runPush(t, server, true,
		filepath.Join(dir, "a.json")); out != "Welcome  changed, activated (active, version 2)" {
		t.Errorf("a push of a changed file printed %q", out)
	}
	for _, format := range []string{"json", "yaml"} {
		back := t.TempDir()
		var out bytes.Buffer
		pull := automate.Pull{Server: server, Folder: back, Format: format, Out: &out}
		if err := pull.Run(t.Context()); err != nil {
			t.Fatalf("pull: %v", err)
		}
		if said, _, failed := runPush(t, server, true, back); failed != 0 || strings.Count(said, "unchanged") != 2 {
			t.Errorf("pushing the files pulled as %s printed %q, want no change", format, said)
		}
		before := readFolder(t, back)
		if err := pull.Run(t.Context()); err != nil {
			t.Fatalf("pull again: %v", err)
		}
		if diff := cmp.Diff(before, readFolder(t, back)); diff != "" ||
			!strings.Contains(before["welcome."+format], "Hi {{event.data.name}}") ||
			!strings.Contains(before["later."+format], "within_days") {
			t.Errorf("a second pull changes files (-before +after):\n%s", diff)
		}
	}
}

func readFolder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[entry.Name()] = string(content)
	}
	return out
}

// Problems of a definition are printed with its file, and the other files are still pushed.
func TestPushPrintsProblems(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	server := client.Server{BaseURL: app.BaseURL, APIKey: app.APIKey}
	dir := writeFolder(t, map[string]string{"1.json": broken,
		"2.json": `{"name": "Wrong", "trigger": {"event": "e"}, "steps": [{"type": "delay", "duration": "P1M"}]}`, "3.yaml": later})
	out, log, failed := runPush(t, server, true, dir)
	if failed != 2 || !strings.Contains(out, "Later  created, activated (active, version 1)") ||
		!strings.Contains(out, "Broken  created (draft)") {
		t.Errorf("the push printed %q, and %d failed; want 2 failures and the third one active", out, failed)
	}
	for _, want := range []string{"1.json: error: steps[0].from: ", "2.json: error: ",
		"  steps[0].duration: cannot contain years or months"} {
		if !strings.Contains(log, want) {
			t.Errorf("the problems are %q, want them to contain %q", log, want)
		}
	}
}

// Nothing is sent if a file cannot be read or two files have the same name.
func TestPushReadsAllFilesFirst(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	server := client.Server{BaseURL: app.BaseURL, APIKey: app.APIKey}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no object":    {map[string]string{"a.json": welcome, "b.json": `[1]`}, "b.json: must be an object"},
		"no name":      {map[string]string{"a.json": welcome, "b.yaml": "steps: []"}, "b.yaml: name: is required"},
		"broken YAML":  {map[string]string{"a.json": welcome, "b.yaml": "a: [1"}, "b.yaml: yaml: "},
		"one name":     {map[string]string{"a.json": welcome, "b.json": welcome}, "has the same name \"Welcome\" as"},
		"nothing":      {map[string]string{"a.txt": welcome}, "contains no definitions"},
		"empty file":   {map[string]string{"a.yaml": ""}, "a.yaml: must be an object"},
		"number names": {map[string]string{"a.yaml": "name: 1"}, "name: is required and must be a string"},
	} {
		_, err := automate.Push{Server: server, Paths: []string{writeFolder(t, test.files)}, Out: &bytes.Buffer{},
			Log: &bytes.Buffer{}}.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the push returned the error %v, want %q", name, err, test.want)
		}
	}
	if list, err := automate.List(t.Context(), server); err != nil || len(list) != 0 {
		t.Errorf("%d automations exist (error %v), want none", len(list), err)
	}
	wrong := client.Server{BaseURL: app.BaseURL, APIKey: "svc_wrong_wrong_wrong_wrong_wrong"}
	if _, err := automate.List(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("with a wrong key: %v", err)
	}
}

func TestSimulateDefinition(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	server := client.Server{BaseURL: app.BaseURL, APIKey: app.APIKey}
	dir := writeFolder(t, map[string]string{"a.json": welcome})
	runPush(t, server, false, dir)
	for input, want := range map[string]string{
		"event: {user_id: u1, email: bob@example.net, data: {n: 5, name: Bob}}\nthen: [{after: PT1H, name: order.paid}]": "completed",
		`{"event": {"data": {"n": 1}}}`: "not_started",
	} {
		file := filepath.Join(writeFolder(t, map[string]string{"in.yaml": input}), "in.yaml")
		played, err := automate.Simulate{Server: server, Name: "Welcome", Input: file}.Run(t.Context())
		if err != nil || played.Status != want || !json.Valid(played.Whole) {
			t.Errorf("with %s the run is %q (%v), want %s", input, played.Status, err, want)
		}
		if want == "completed" && !strings.Contains(string(played.Whole), `"Hi Bob"`) {
			t.Errorf("the simulation contains no email to Bob: %s", played.Whole)
		}
	}
	if _, err := (automate.Simulate{Server: server, Name: "None"}).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), `no automation with the name "None"`) {
		t.Errorf("an unknown name: %v", err)
	}
	app.Do(t, http.MethodPost, "/api/automations", json.RawMessage(welcome))
	if _, err := (automate.Simulate{Server: server, Name: "Welcome"}).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "two automations with the name") {
		t.Errorf("a name of two automations: %v", err)
	}
}
