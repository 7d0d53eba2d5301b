package automations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/node"
)

const other = "acc_01kf0m4w7he6x8q2v5b3n9c1tz"

// world is a test installation with real PostgreSQL that accepts real mail. Drain takes the steps, so the test
// controls when.
type world struct {
	*Service
	*rooms.Harness

	Texts     steps.Texter    // nil: the module sms is disabled
	Templates steps.Templates // nil: there are no templates
}

// noTemplates is a fake without templates.
type noTemplates struct{}

func (noTemplates) Get(_ context.Context, _, ref string) (templates.Template, error) {
	return templates.Template{}, fault.NoSuch("template", ref)
}

func (noTemplates) Version(_ context.Context, _, ref string, _ int) (*ent.TemplateVersion, error) {
	return nil, fault.NoSuch("template", ref)
}

func (noTemplates) LockForUse(context.Context, db.Execer, string, string, string) (bool, error) {
	return false, nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Harness: rooms.New(t)}
	w.Service = w.newProcess(t)
	return w
}

// newProcess returns another process on the same database.
func (w *world) newProcess(t *testing.T) *Service {
	t.Helper()
	return w.newConfigured(t, Config{steps.Config{Client: http.DefaultClient}})
}

// newConfigured returns a process with the given settings.
func (w *world) newConfigured(t *testing.T, c Config) *Service {
	t.Helper()
	box, err := secret.NewBox(boxKey)
	if err != nil {
		t.Fatal(err)
	}
	var stored steps.Templates = noTemplates{}
	if w.Templates != nil {
		stored = w.Templates
	}
	s, err := New(Params{Config: c, DB: w.DB, Bus: w.Bus, Modules: steps.Modules{Domains: w.Near, Templates: stored,
		Sender: w.Sending, Texter: w.Texts}, Timeline: w.Bus.Log(), Answers: w.Idempotency,
		Signals: sendingtest.NoSignals{}, Node: node.None{}, Box: box, Cursors: w.Pages, Logger: w.Logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop automations: %v", err)
		}
	})
	return s
}

var boxKey = secret.NewKey()

// activate creates and activates an automation.
func (w *world) activate(t *testing.T, trigger, list string) *ent.Automation {
	t.Helper()
	a, err := w.Create(t.Context(), sendingtest.Account,
		fmt.Appendf(nil, `{"name": "Test", "trigger": %s, "steps": [%s]}`, trigger, list), nil)
	if err != nil {
		t.Fatalf("create an automation: %v", err)
	}
	activated, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{})
	if err != nil {
		t.Fatalf("activate an automation: %v", err)
	}
	return activated.Automation
}

func (w *world) caller() accounts.Caller {
	c := w.Harness.Caller()
	c.Scope = rights.ScopeFull
	return c
}

// post posts an event of user u1 at bob@example.net.
func (w *world) post(t *testing.T, name, data string) ingest.Result {
	t.Helper()
	return w.postAs(t, name, "u1", "bob@example.net", data)
}

func (w *world) postAs(t *testing.T, name, user, email, data string) ingest.Result {
	t.Helper()
	answer, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: name, UserID: user,
		Email: email, Data: json.RawMessage(data), Source: "api"})
	if err != nil {
		t.Fatalf("post the event %s: %v", name, err)
	}
	return answer
}

// runBackground runs all background work of actions.
func (w *world) runBackground(t *testing.T) {
	t.Helper()
	if more, err := w.Service.drain.Run(t.Context()); err != nil || more {
		t.Errorf("drain automations: %v; there is more: %t", err, more)
	}
}

// formatCounters returns the counters of a response: matched, resumed, cancelled.
func formatCounters(a ingest.Result) string {
	return fmt.Sprintf("%d matched, %d resumed, %d cancelled", a.Matched, a.Resumed, a.Cancelled)
}

func (w *world) drain(t *testing.T) {
	t.Helper()
	if _, err := w.Drain(t.Context()); err != nil {
		t.Errorf("take steps: %v", err)
	}
}

// advanceTime moves the time of all waits.
func (w *world) advanceTime(t *testing.T, d time.Duration) {
	t.Helper()
	w.Exec(t, `UPDATE automation_works SET due_at = due_at - $1 * interval '1 microsecond', ready_at = ready_at - $1 * interval '1 microsecond',
		waiting = CASE WHEN waiting IS NULL THEN NULL ELSE jsonb_set(waiting, '{until}', to_jsonb((waiting->>'until')::timestamptz - $1 * interval '1 microsecond')) END`, d.Microseconds())
}

// endWaits ends all waits now.
func (w *world) endWaits(t *testing.T) {
	t.Helper()
	w.Exec(t, `UPDATE automation_works SET due_at = now(), waiting = jsonb_set(waiting, '{until}', to_jsonb(now())) WHERE waiting IS NOT NULL`)
}

// eventsOfRuns returns the facts about runs that webhooks and the event log receive, in order, and the emails.
func (w *world) eventsOfRuns(t *testing.T) string {
	t.Helper()
	rows, err := w.DB.SQL.QueryContext(t.Context(), `SELECT type, data->>'step_index', data->>'status' FROM facts WHERE type LIKE 'automation.%' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var kind, step, status string
		if err := rows.Scan(&kind, &step, &status); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %s", strings.TrimPrefix(kind, "automation."), step, status))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}

// countStatuses counts runs by status.
func (w *world) countStatuses(t *testing.T) map[string]int {
	t.Helper()
	rows, err := w.DB.SQL.QueryContext(t.Context(), `SELECT status, count(*) FROM automation_runs GROUP BY status`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]int{}
	for rows.Next() {
		var status string
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			t.Fatal(err)
		}
		out[status] = n
	}
	return out
}

const mail = `{"key": "mail", "type": "send_email", "from": "Ada <ada@example.com>", "subject": "Hi {{event.data.name}}", "text": "Hello"}`

// codeOf returns the code of a fault.
func codeOf(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	return f.Code
}

func claimOf(t *testing.T, store *idempotency.Store, key, body string) (*idempotency.Claim, *idempotency.Response) {
	t.Helper()
	claim, earlier, err := store.Begin(t.Context(), sendingtest.Account, "POST /events", key, []byte(body))
	if err != nil {
		t.Fatalf("take the key %s: %v", key, err)
	}
	return claim, earlier
}

func parseMembers(document string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(document), &out); err != nil {
		panic(err)
	}
	return out
}
