package journeys_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// exportField returns one field of each line of an export.
func exportField(t *testing.T, app *harness.App, path, field string) (all []string) {
	t.Helper()
	got := app.Do(t, http.MethodGet, "/api"+path, nil)
	if got.Status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, got.Status, got.Body)
	}
	for line := range strings.Lines(string(got.Body)) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("GET %s has the line %q: %v", path, line, err)
		}
		all = append(all, fmt.Sprint(record[field]))
	}
	return all
}

// Three pages of suppressions, and one email and one event; another account has none of them.
func TestExportsAreCompleteAndIsolated(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net") // a failed recipient would be suppressed
	stranger := app.Stranger(t, "stranger")
	addresses := make([]string, 250)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("p%03d@suppressed.example", i)
	}
	if got := app.Do(t, http.MethodPost, "/api/suppressions/batch",
		map[string]any{"emails": addresses}); got.Status != http.StatusOK {
		t.Fatalf("the addresses are not suppressed: %s", got.Body)
	}
	emailID := app.Send(t,
		`{"from":"ada@dev.test","to":["bob@example.net","carol@example.net"],"subject":"=HYPERLINK(\"x\")","text":"t","tags":{"kind":"receipt"}}`)
	app.Send(t, `{"from":"ada@dev.test","to":"bob@example.net","subject":"other","text":"t"}`)
	if got := app.Do(t, http.MethodPost, "/api/events", map[string]any{"name": "user.created", "user_id": "u1",
		"data": map[string]any{"a": 1}}); got.Status != http.StatusAccepted {
		t.Fatalf("the event is not accepted: %s", got.Body)
	}

	seen := map[string]bool{}
	for _, address := range exportField(t, app, "/suppressions/export", "email") {
		seen[address] = true
	}
	if len(seen) != len(addresses) || !seen[addresses[0]] || !seen[addresses[249]] {
		t.Errorf("the export has %d of %d suppressions", len(seen), len(addresses))
	}
	for path, want := range map[string]int{"/suppressions/export?reason=bounce": 0,
		"/suppressions/export?email=P007@suppressed.example": 1,
		"/emails/export": 2, "/emails/export?q=tag:kind=receipt": 1, "/emails/export?to=carol@example.net": 1,
		"/events/export?name=user.created": 1, "/events/export?name=other": 0} {
		if got := exportField(t, app, path, "id"); len(got) != want {
			t.Errorf("GET %s has %q, want %d", path, got, want)
		}
		if got := exportField(t, stranger, path, "id"); len(got) != 0 {
			t.Errorf("GET %s shows another account %q", path, got)
		}
	}
	got := app.Do(t, http.MethodGet, "/api/emails/export?format=csv&q=tag:kind=receipt", nil)
	rows, err := csv.NewReader(strings.NewReader(string(got.Body))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("the CSV has %d rows, want 2: %v", len(rows), err)
	}
	cells := map[string]string{}
	for i, name := range rows[0] {
		cells[name] = rows[1][i]
	}
	if cells["id"] != emailID || cells["subject"] != `'=HYPERLINK("x")` ||
		cells["to"] != "bob@example.net, carol@example.net" || cells["tags"] != "kind=receipt" {
		t.Errorf("the row is %v", cells)
	}
	for _, wrong := range []string{"/emails/export?q=is:eaten", "/emails/export?format=xml", "/emails/export?limit=1",
		"/events/export?since=x", "/suppressions/export?reason=spite"} {
		if got := app.Do(t, http.MethodGet, "/api"+wrong, nil); got.Status != http.StatusBadRequest {
			t.Errorf("GET %s: got %d %s, want 400", wrong, got.Status, got.Body)
		}
	}
	if got := app.Do(t, http.MethodGet, "/api/audit-log/export", nil); got.Status != http.StatusForbidden {
		t.Errorf("an API key exports the audit log: %d %s", got.Status, got.Body)
	}
}
