package automations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
)

// An account can have a limited number of automations and of active ones. Archiving an automation makes room
// for another active one.
func TestLimitsAutomationsPerAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"type": "end"}`)
	copies := func(status string, n int) {
		w.Exec(t,
			`INSERT INTO automations SELECT (jsonb_populate_record(x, jsonb_build_object('id', 'aut_' || $3 || lpad(i::text, 20, '0'), 'status', $3))).* FROM automations x, generate_series(1, $2) i WHERE id = $1`, a.ID, n, status)
	}
	draft := fmt.Appendf(nil, `{"name": "One more", "trigger": {"event": "start"}, "steps": [{"type": "end"}]}`)
	copies("active", MaxActive-2)
	made, err := w.Create(t.Context(), sendingtest.Account, draft, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Activate(t.Context(), w.caller(), made.ID, Activation{}); err != nil {
		t.Errorf("activating the last automation within the limit returned %v", err)
	}
	again, err := w.Create(t.Context(), sendingtest.Account, draft, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Activate(t.Context(), w.caller(), again.ID, Activation{}); fault.KindOf(err) != fault.Conflict ||
		!strings.Contains(err.Error(), fmt.Sprint(MaxActive)) {
		t.Errorf("activating one automation too many returned %v, want a conflict that names the limit", err)
	}
	if _, err := w.Archive(t.Context(), sendingtest.Account, made.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Activate(t.Context(), w.caller(), again.ID, Activation{}); err != nil {
		t.Errorf("activating after another automation was archived returned %v", err)
	}
	copies("draft", MaxAutomations-w.Count(t, "automations"))
	if _, err := w.Create(t.Context(), sendingtest.Account, draft, nil); fault.KindOf(err) != fault.Conflict ||
		!strings.Contains(err.Error(), fmt.Sprint(MaxAutomations)) {
		t.Errorf("creating one automation too many returned %v, want a conflict that names the limit", err)
	}
}
