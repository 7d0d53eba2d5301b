package journeys_test

import (
	"encoding/json"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// referenceSection is an operation of the reference page with its sample for Node.
var referenceSection = regexp.MustCompile(`(?s)<section id="(\w+)">.*?data-lang="node">.*?<code>(.*?)</code>`)

// referencePart is a part that the first page of the reference loads.
var referencePart = regexp.MustCompile(`data-part="([^"]+)"`)

// runSamples runs each sample of a JSON file as it is shown, and prints the status of its response.
const runSamples = `
import { readFileSync } from 'node:fs'
const statuses = {}
console.log = () => {}
for (const [id, text] of JSON.parse(readFileSync(process.argv[2]))) {
  const real = globalThis.fetch
  globalThis.fetch = async (...request) => {
    const answer = await real(...request)
    statuses[id] = answer.status
    await answer.body?.cancel() // a stream has no end
    return { status: answer.status, text: async () => '' }
  }
  await import('data:text/javascript,' + encodeURIComponent(text))
  globalThis.fetch = real
}
process.stdout.write(JSON.stringify(statuses))
`

// endsSessions are the operations whose sample ends the session of the samples.
var endsSessions = []string{"signOut"}

// checksSecrets are the operations that refuse the password or passkey of their example, which is not the user's.
var checksSecrets = []string{"signIn", "confirmSession", "signInByPasskey"}

// needsTestKey are the operations that refuse live keys.
var needsTestKey = []string{"listCapturedEmails", "getLatestCapturedEmail", "getCapturedEmail"}

// Every sample of the reference runs with the credential that it shows.
func TestJourneySamplesHaveTheirCredential(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	page := string(app.Do(t, http.MethodGet, "/api/docs", nil).Body)
	for _, part := range referencePart.FindAllStringSubmatch(page, -1) {
		page += string(app.Do(t, http.MethodGet, "/api/docs/"+part[1], nil).Body)
	}
	var samples, last [][2]string
	for _, found := range referenceSection.FindAllStringSubmatch(page, -1) {
		sample := [2]string{found[1], html.UnescapeString(found[2])}
		if slices.Contains(endsSessions, sample[0]) {
			last = append(last, sample)
			continue
		}
		samples = append(samples, sample)
	}
	samples = append(samples, last...)
	if len(samples) < 150 {
		t.Fatalf("the reference has %d samples for Node, want one for each operation", len(samples))
	}
	encoded, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list, program := filepath.Join(dir, "samples.json"), filepath.Join(dir, "run.mjs")
	for path, content := range map[string][]byte{list: encoded, program: []byte(runSamples)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	person := app.SignedIn(t, app.Owner.Email, app.Owner.Password)
	var cookie string
	for _, c := range person.Cookies(t) {
		cookie = c.Value
	}
	run := exec.CommandContext(t.Context(), "node", program, list)
	run.Env = append(os.Environ(), "POSTRIDER_API_KEY="+app.APIKey, "POSTRIDER_SESSION="+cookie)
	var log strings.Builder
	run.Stderr = &log
	out, err := run.Output()
	if err != nil {
		t.Fatalf("the samples: %v\n%s", err, log.String())
	}
	statuses := map[string]int{}
	if err := json.Unmarshal(out, &statuses); err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples {
		status := statuses[sample[0]]
		if status == http.StatusUnauthorized && slices.Contains(checksSecrets, sample[0]) ||
			status == http.StatusForbidden && slices.Contains(needsTestKey, sample[0]) {
			continue
		}
		switch status {
		case 0, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnsupportedMediaType, http.StatusInternalServerError:
			t.Errorf("the sample of %s got status %d:\n%s", sample[0], status, sample[1])
		}
	}
}
