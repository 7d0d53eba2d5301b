package automations

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending/sendingtest"
)

// readRecipes returns the definitions in docs/automations.md, keyed by name.
func readRecipes(t *testing.T) map[string][]byte {
	t.Helper()
	page, err := os.ReadFile("../../docs/automations.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1) {
		d, wrong := ParseDefinition(block[1])
		if len(wrong) > 0 {
			t.Fatalf("a recipe of the page cannot be created: %v\n%s", wrong, block[1])
		}
		out[d.Name] = block[1]
	}
	return out
}

// Every recipe in the documentation is created, activated and run to its end.
func TestDocumentedRecipes(t *testing.T) {
	t.Parallel()
	list := readRecipes(t)
	for name, play := range map[string]struct {
		events []string // name and data of each event, alternating
		mails  []string // subjects of the emails
		status string
	}{
		"Welcome": {[]string{"user.created", `{"name": "Bob"}`}, []string{"Welcome, Bob", "Three things to try"}, "completed"},
		"Verify": {[]string{"user.signed_up", `{"link": "https://example.com/v"}`, "user.verified", `{}`},
			[]string{"Is this you?", "Your address is confirmed"}, "completed"},
		"Dunning": {[]string{"invoice.failed", `{"amount": 600, "name": "Bob", "number": 7}`},
			[]string{"Your payment of 600 has failed", "Your invoice is still open", "Call u1"}, "completed"},
		"Abandoned cart": {[]string{"cart.updated", `{"items": ["tea"], "cart_id": 1, "timezone": "America/New_York"}`},
			[]string{"You left something behind"}, "completed"},
		"Digest": {[]string{"comment.received", `{"author": "Carol"}`}, []string{"You have new comments"}, "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, err := w.Create(t.Context(), sendingtest.Account, list[name], nil)
			if err != nil {
				t.Fatalf("create: %v", err)
			}
			if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil {
				t.Fatalf("activate: %v", err)
			}
			for i := 0; i < len(play.events); i += 2 {
				w.post(t, play.events[i], play.events[i+1])
				w.drain(t)
			}
			for range 10 {
				w.endWaits(t)
				w.drain(t)
			}
			var subjects []string
			emails, err := w.DB.Ent.Email.Query().All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range emails {
				subjects = append(subjects, e.Subject)
			}
			if diff := cmp.Diff(play.mails, subjects); diff != "" {
				t.Errorf("mails (-want +got):\n%s\n%s", diff, w.eventsOfRuns(t))
			}
			if got := w.countStatuses(t); got[play.status] != 1 {
				t.Errorf("runs are %v, want one %s", fmt.Sprint(got), play.status)
			}
		})
	}
	if len(list) != 5 {
		t.Errorf("the page has %d recipes, want 5", len(list))
	}
}
