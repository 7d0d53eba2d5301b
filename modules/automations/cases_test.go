package automations

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// userReport is a test case from a user: a definition, the posted events, and the start time of a simulation.
type userReport struct {
	Automation json.RawMessage
	Events     []struct {
		Name, Email string
		UserID      string `json:"user_id"`
		Data        json.RawMessage
	}
	Simulate *time.Time
}

// Golden files contain definitions and events and their effects: the counters of each event or the reason why
// it was rejected, the state of the runs, and the subjects of the emails.
func TestUserReports(t *testing.T) {
	t.Parallel()
	expect.GoldenCases(t, "json", func(t *testing.T, input []byte) string {
		var r userReport
		if err := json.Unmarshal(input, &r); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		var out strings.Builder
		a, err := w.Create(t.Context(), sendingtest.Account, r.Automation, nil)
		if err == nil {
			_, err = w.Activate(t.Context(), w.caller(), a.ID, Activation{})
		}
		if err != nil {
			return describeRefusal(err)
		}
		for _, e := range r.Events {
			answer, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: e.Name, UserID: e.UserID,
				Email: e.Email, Data: e.Data, Source: "api"})
			if err != nil {
				out.WriteString("event " + describeRefusal(err))
				continue
			}
			fmt.Fprintf(&out, "event %s: %s\n", e.Name, formatCounters(answer))
		}
		w.drain(t)
		statuses := w.countStatuses(t)
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			fmt.Fprintf(&out, "runs %s: %d\n", status, statuses[status])
		}
		subjects, err := db.All(t.Context(), w.DB.SQL, db.Value[string], `SELECT subject FROM emails ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range subjects {
			fmt.Fprintf(&out, "email: %q\n", subject)
		}
		if r.Simulate != nil {
			s, err := w.Simulate(t.Context(), w.caller(), a.ID, SimulationInput{At: r.Simulate,
				Event: &ingest.Post{Email: "bob@example.net", Source: "api"}})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "simulation from %s: %s\n", r.Simulate.Format(time.RFC3339), formatSimulation(s))
		}
		return out.String()
	})
}

// describeRefusal returns the invalid fields, or else the error.
func describeRefusal(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return fmt.Sprintf("refused: %v\n", err)
	}
	var out strings.Builder
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		fmt.Fprintf(&out, "refused: %s %s\n", field, f.Fields[field])
	}
	return out.String()
}
