package journeys_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// mostStatements is the promised maximum for a page of emails with all related records, however many there are.
const mostStatements = 8

// A page of emails with recipients, attempts, events, domain, key and deliveries needs as many statements as
// one email.
func TestNestedEmailsCostFewStatements(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	server.RecordStatements()
	app := harness.Start(t, func(s setting.RawValues) {
		s["DATABASE_URL"], s["POSTRIDER_OUTBOUND"] = server.URL(),
			"capture"
	})
	createEndpoints(t, app)
	handle := server.Open()
	mark := func(statement string) {
		t.Helper()
		if _, err := handle.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		app.Send(t, `{"from":"ada@dev.test","to":["bob@example.net","eve@example.net"],"subject":"s","text":"t"}`)
	}
	harness.Eventually(t, "all are delivered", func() bool {
		var got struct {
			Emails struct{ Count struct{ Value int } }
		}
		app.Query(t, `{emails(filter:{status:DELIVERED}){count{value}}}`, &got)
		return got.Emails.Count.Value == 20
	})
	least := func(query string, first int) int {
		t.Helper()
		var fewest []string
		// Background work, such as that of the sends above, does not run in every round.
		for round, times := 0, 0; times < 3 && round < 50; round++ {
			begin, end := fmt.Sprintf("begin %d of %d of %s", round, first, query), fmt.Sprintf("end %d of %d of %s",
				round, first, query)
			var got struct {
				Emails struct{ Nodes []map[string]any }
			}
			mark(`SELECT '` + begin + `'`)
			app.Query(t, fmt.Sprintf(query, first), &got)
			mark(`SELECT '` + end + `'`)
			if nodes := got.Emails.Nodes; len(nodes) != first {
				t.Fatalf("for %d emails the response is %+v", first, got)
			}
			for _, of := range []string{"recipients", "attempts", "timeline", "snippet"} {
				if v := reflect.ValueOf(got.Emails.Nodes[0][of]); v.IsValid() && v.Len() == 0 {
					t.Fatalf("for %d emails the response has no %s: %+v", first, of, got)
				}
			}
			var ran []string
			harness.Eventually(t, "the server has logged it", func() (done bool) {
				ran, done = server.Between(begin, end)
				return done
			})
			switch {
			case round == 0 || len(ran) < len(fewest):
				fewest, times = ran, 1
			case len(ran) == len(fewest):
				times++
			}
		}
		t.Logf("%d emails: %d statements:\n%s", first, len(fewest), strings.Join(fewest, "\n"))
		return len(fewest)
	}
	const nested = `{emails(first:%d){nodes{subject recipients{address state} attempts{outcome reply} timeline{type detail} domain{name}
		apiKey{name} webhookDeliveries{state}} pageInfo{hasNextPage}}}`
	if one, many := least(nested, 1), least(nested, 20); one != many || many > mostStatements || many < 5 {
		t.Errorf("a page of one and of twenty emails cost %d and %d statements, want the same and at most %d", one,
			many, mostStatements)
	}
	if without, with := least(`{emails(first:%d){nodes{subject}}}`, 20),
		least(`{emails(first:%d){nodes{subject snippet}}}`, 20); with != without+1 {
		t.Errorf("a page of twenty emails costs %d statements, and %d with their first words; want one more",
			without, with)
	}
}
