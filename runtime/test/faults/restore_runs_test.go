package faults_test

import (
	"fmt"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// Waiting runs continue after a dump of their database is restored: delays that ended in the meantime end
// once, and waits for events still receive them.
func TestRunsContinueAfterRestore(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	old := dbtest.NewServer(t)
	first := faults.Start(t, old.URL(), outbound(host))
	timed := activated(t, first, `{"name": "Timed", "trigger": {"event": "start"}, "steps": [{"key": "pause", "type": "delay", "duration": "PT1H"},
		{"key": "mail", "type": "send_email", "from": "ada@dev.test", "subject": "timed", "text": "t"}]}`)
	activated(t, first, `{"name": "Asked", "trigger": {"event": "start"}, "steps": [
		{"key": "one", "type": "send_email", "from": "ada@dev.test", "subject": "one", "text": "t"},
		{"key": "go", "type": "wait_for_event", "event": "go", "timeout": "P1D", "on_timeout": "fail"},
		{"key": "two", "type": "send_email", "from": "ada@dev.test", "subject": "two", "text": "t"}]}`)
	persons := lengthOf(20, 500)
	post := func(server *faults.Server, name string) {
		at(4, persons, func(i int) {
			postUntilTaken(t, server, fmt.Sprintf(`{"name": %q, "user_id": "u%d", "email": "u%d@example.net"}`, name, i,
				i), fmt.Sprint(name, i))
		})
	}
	post(first, "start")
	waiting := func(server *faults.Server) int {
		return number(t, server.Query(`SELECT count(*) FROM automation_runs WHERE status = 'waiting'`)[0][0])
	}
	expect.Eventually(t, "every run waits", func() bool { return waiting(first) == 2*persons })
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	passDelay(first, timed)
	fresh := copyDatabase(t, old.URL())
	old.Stop()
	second := first.Moved(fresh, outbound(host))
	expect.Eventually(t, "every delay is over", func() bool { return waiting(second) == persons })
	post(second, "go")
	expect.Eventually(t, "every run has ended", func() bool {
		return second.Query(`SELECT count(*) FROM automation_works`)[0][0] == "0"
	})
	awaitIdle(t, second)
	for statement, want := range map[string]int{
		`SELECT count(*) FROM automation_runs WHERE status = 'completed'`:                                              2 * persons,
		`SELECT count(*) FROM emails WHERE run_id IS NOT NULL`:                                                         3 * persons,
		`SELECT count(DISTINCT (run_id, subject)) FROM emails`:                                                         3 * persons,
		`SELECT count(*) FROM facts WHERE type = 'automation.step_completed'`:                                          5 * persons,
		`SELECT count(DISTINCT (subject_id, data->>'step_index')) FROM facts WHERE type = 'automation.step_completed'`: 5 * persons,
		`SELECT count(*) FROM facts WHERE type = 'automation.completed'`:                                               2 * persons,
	} {
		if got := second.Query(statement)[0][0]; got != fmt.Sprint(want) {
			t.Errorf("%s returned %s, want %d", statement, got, want)
		}
	}
	if got := sink.Count(); got != 3*persons {
		t.Errorf("%d emails arrived, want %d: one for each run and send step", got, 3*persons)
	}
}
