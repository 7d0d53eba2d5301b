package automations

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeVisits is a fake that reports one open and no clicks for every group of emails.
type fakeVisits struct{}

func (fakeVisits) GroupReach(_ context.Context, _ string, groups, _ []string) (map[string]tracking.Reach, error) {
	out := map[string]tracking.Reach{}
	for _, name := range groups {
		out[name] = tracking.Reach{Opened: 1}
	}
	return out, nil
}

// newFigures returns the service of a process that has not counted anything yet.
func (w *world) newFigures(t *testing.T, texts figures.TextMessages) *figures.Service {
	t.Helper()
	return figures.New(w.DB, figures.Sources{Emails: w.Records, Visits: fakeVisits{}, Texts: texts})
}

func countedOf(t *testing.T, s *figures.Service, accountID, automationID string) *figures.Figures {
	t.Helper()
	found, err := s.GetMany(t.Context(), accountID, automationID)
	if err != nil || found[automationID] == nil {
		t.Fatalf("count the runs of %s: %v, %v; want figures", automationID, found, err)
	}
	return found[automationID]
}

const countedSteps = `{"key": "paid", "type": "wait_for_event", "event": "paid", "timeout": "P1D", "on_event": "end"},
	{"key": "text", "type": "send_sms", "to": "+4915112345678", "text": "Open", "on_error": "continue"}`

func TestCountsRunsByStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	texts := w.withTexts(t)
	a := w.activate(t, `{"event": "start", "cancel_on_events": ["stop"]}`, mail+`, `+countedSteps)
	begin := func(user, email string) {
		w.postAs(t, "start", user, email, `{}`)
		w.drain(t)
	}
	begin("late", "late@example.net")
	w.endWaits(t)
	w.drain(t) // ends the wait
	w.drain(t) // sends the text message
	begin("nobody", "")
	for _, user := range []string{"waits", "pays", "leaves"} {
		begin(user, user+"@example.net")
	}
	w.postAs(t, "paid", "pays", "", `{}`)
	w.postAs(t, "stop", "leaves", "", `{}`)
	w.drain(t)

	first := w.newFigures(t, texts)
	got := countedOf(t, first, sendingtest.Account, a.ID)
	all := map[string]any{"runs": got.Runs, "mail": got.Step("mail", 0), "paid": got.Step("paid", 0),
		"text": got.Step("text", 0), "texts": got.Texts("text", 0), "none": got.Step("none", 0)}
	if diff := cmp.Diff(map[string]any{
		"runs":  figures.Runs{Started: 5, Waiting: 1, Completed: 2, Failed: 1, Cancelled: 1},
		"mail":  figures.StepFigures{Completed: 4, Failed: 1},
		"paid":  figures.StepFigures{Waiting: 1, Completed: 2, TimedOut: 1, Cancelled: 1},
		"text":  figures.StepFigures{Completed: 1},
		"texts": figures.Texts{Sent: 1},
		"none":  figures.StepFigures{},
	}, all); diff != "" {
		t.Errorf("the figures after five runs (-want +got):\n%s", diff)
	}
	if n := got.Step("paid", 0).Entered(); n != 4 {
		t.Errorf("the wait was entered %d times, want 4: once for each run whose mail was sent", n)
	}

	// The step has another position in the next version.
	if _, err := w.Change(t.Context(), sendingtest.Account, a.ID,
		parseMembers(`{"steps": [{"key": "any", "type": "condition", "if": "true"}, `+mail+`, `+countedSteps+`]}`),
		""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil {
		t.Fatal(err)
	}
	begin("later", "later@example.net")
	if again := countedOf(t, first, sendingtest.Account, a.ID); again.Runs.Started != 5 {
		t.Errorf("the cached figures have %d started runs, want 5 because they are cached for ten seconds",
			again.Runs.Started)
	}
	got = countedOf(t, w.newFigures(t, texts), sendingtest.Account, a.ID)
	for version, want := range map[int]figures.StepFigures{0: {Completed: 5, Failed: 1}, 1: {Completed: 4, Failed: 1},
		2: {Completed: 1}, 3: {}} {
		if diff := cmp.Diff(want, got.Step("mail", version)); diff != "" {
			t.Errorf("the mail in version %d, where 0 means all (-want +got):\n%s", version, diff)
		}
	}
	if got := countedOf(t, first, other, a.ID); got.Runs.Started != 0 || got.Step("mail", 0).Completed != 0 ||
		got.Texts("text", 0).Sent != 0 {
		t.Errorf("another account sees %+v and %+v, want no figures", got.Runs, got.Step("mail", 0))
	}
}

func TestCountsEmailsByStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := `{"key": "again", "type": "send_email", "from": "Ada <ada@example.com>", "subject": "Again", "text": "Hello"}`
	a := w.activate(t, `{"event": "start"}`, mail+`, {"key": "pause", "type": "delay", "duration": "P1D"}, `+second)
	for i := range 3 {
		w.postAs(t, "start", fmt.Sprintf("u%d", i), fmt.Sprintf("u%d@example.net", i), `{}`)
	}
	w.drain(t)
	w.Exec(t, `UPDATE emails SET status = 'delivered' WHERE id IN (SELECT id FROM emails ORDER BY id LIMIT 2)`)
	w.Exec(t, `UPDATE emails SET status = 'bounced' WHERE id = (SELECT max(id) FROM emails)`)

	counted := w.newFigures(t, nil)
	of := func(accountID string, version int) map[string]figures.Emails {
		found, err := counted.Emails(t.Context(), accountID, version, a.ID)
		if err != nil || found[a.ID] == nil {
			t.Fatalf("count emails in version %d: %v, %v; want figures", version, found, err)
		}
		return map[string]figures.Emails{"mail": found[a.ID].Step("mail"), "again": found[a.ID].Step("again"),
			"pause": found[a.ID].Step("pause")}
	}
	sent := figures.Emails{Counts: records.Counts{Sent: 3, Delivered: 2, Bounced: 1}, Reach: tracking.Reach{Opened: 1}}
	for name, c := range map[string]struct {
		account string
		version int
		want    figures.Emails
	}{
		"all versions": {sendingtest.Account, 0, sent}, "the version": {sendingtest.Account, 1, sent},
		"another version": {sendingtest.Account, 2, figures.Emails{}}, "another account": {other, 0, figures.Emails{}},
	} {
		want := map[string]figures.Emails{"mail": c.want, "again": {}, "pause": {}}
		if diff := cmp.Diff(want, of(c.account, c.version)); diff != "" {
			t.Errorf("the emails of %s (-want +got):\n%s", name, diff)
		}
	}

	origins, err := w.Origins(t.Context(), sendingtest.Account, w.sentBy(t, a.ID)...)
	if err != nil || len(origins) != 3 {
		t.Fatalf("Origins of three emails returned %v, %v; want three steps", origins, err)
	}
	for _, o := range origins {
		if o != (EmailOrigin{AutomationName: "Test", StepKey: "mail"}) {
			t.Errorf("an email was sent by %+v, want the step mail of automation Test", o)
		}
	}
	if origins, err := w.Origins(t.Context(), other, w.sentBy(t, a.ID)...); err != nil || len(origins) != 0 {
		t.Errorf("Origins for another account returned %v, %v; want none", origins, err)
	}
}

// sentBy returns the ids of the emails of all runs of an automation, as their details list them.
func (w *world) sentBy(t *testing.T, automationID string) (emails []string) {
	t.Helper()
	found, err := w.Runs(t.Context(), sendingtest.Account,
		RunFilter{Request: page.Request{Limit: 10}, AutomationID: automationID})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, run := range found.Items {
		ids = append(ids, run.ID)
	}
	details, err := w.Details(t.Context(), sendingtest.Account, ids...)
	if err != nil || len(details) != len(ids) {
		t.Fatalf("Details of %d runs returned %v, %v; want all", len(ids), details, err)
	}
	if foreign, err := w.Details(t.Context(), other, ids...); err != nil || len(foreign) != 0 {
		t.Errorf("Details for another account returned %v, %v; want none", foreign, err)
	}
	for _, run := range details {
		if run.WaitingStep.Key != "pause" || run.Waiting == nil || run.Next == nil {
			t.Errorf("run %s waits at %q until %v, want at pause", run.ID, run.WaitingStep.Key, run.Next)
		}
		emails = append(emails, run.Emails()...)
	}
	return emails
}
