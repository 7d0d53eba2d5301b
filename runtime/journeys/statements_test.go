package journeys_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/runtimetest"
	"github.com/postrider/postrider/runtime/setting"
)

// mostStatements is the promise for emails with all that hangs off them, however many are on the page.
const mostStatements = 8

// A page of emails with recipients, attempts, what happened, domain, key and deliveries costs as
// many statements as one email does.
func TestNestedEmailsCostFewStatements(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	server.RecordStatements()
	app := runtimetest.Start(t, func(s setting.Texts) { s["DATABASE_URL"], s["POSTRIDER_OUTBOUND"] = server.URL(), "capture" })
	endpoints(t, app)
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
	runtimetest.Eventually(t, "all are delivered", func() bool {
		var got struct {
			Emails struct{ Count struct{ Value int } }
		}
		app.Query(t, `{emails(filter:{status:DELIVERED}){count{value}}}`, &got)
		return got.Emails.Count.Value == 20
	})
	const query = `{emails(first:%d){nodes{subject recipients{address state} attempts{outcome reply} timeline{type detail} domain{name}
		apiKey{name} webhookDeliveries{state}} pageInfo{hasNextPage}}}`
	least := map[int]int{}
	for round := range 5 { // what runs in the background is not in every round
		for _, first := range []int{1, 20} {
			begin, end := fmt.Sprintf("begin %d of %d", round, first), fmt.Sprintf("end %d of %d", round, first)
			var got struct {
				Emails struct {
					Nodes []struct{ Attempts, Recipients, Timeline []any }
				}
			}
			mark(`SELECT '` + begin + `'`)
			app.Query(t, fmt.Sprintf(query, first), &got)
			mark(`SELECT '` + end + `'`)
			if nodes := got.Emails.Nodes; len(nodes) != first || len(nodes[0].Attempts) != 2 || len(nodes[0].Recipients) != 2 || len(nodes[0].Timeline) == 0 {
				t.Fatalf("of %d emails the answer is %+v", first, got)
			}
			var ran []string
			runtimetest.Eventually(t, "the server has written of it", func() (done bool) {
				ran, done = server.Between(begin, end)
				return done
			})
			if n, known := least[first]; !known || len(ran) < n {
				least[first] = len(ran)
				t.Logf("%d emails: %d statements:\n%s", first, len(ran), strings.Join(ran, "\n"))
			}
		}
	}
	if counts := []int{least[1], least[20]}; least[1] != least[20] || slices.Max(counts) > mostStatements || slices.Min(counts) < 5 {
		t.Errorf("a page of one and of twenty emails cost %v statements, want the same and at most %d", counts, mostStatements)
	}
}
