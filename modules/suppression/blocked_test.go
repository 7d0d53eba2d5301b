package suppression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/work/event"
)

func TestBlockedReturnsResultsInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, ada, "manual@example.net")
	handled(t, w, event.EmailBounced, bounced("gone@example.net", event.Bounce{Code: 550, EnhancedCode: "5.1.1"}))
	unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "choosy@example.net",
		Category: "Product news"})
	unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "gone@example.net",
		Category: "Product news"})
	got := reasons(t, w.Service,
		MessageRecipient{ada, "choosy@example.net", "product NEWS"},
		MessageRecipient{ada, "gone@example.net", "Product news"},
		MessageRecipient{ada, "choosy@example.net", ""},
		MessageRecipient{ada, "choosy@example.net", "Receipts"},
		MessageRecipient{ada, "free@example.net", "Product news"},
		MessageRecipient{eve, "manual@example.net", ""},
		MessageRecipient{eve, "choosy@example.net", "Product news"},
		MessageRecipient{ada, "MANUAL@example.net", "Receipts"},
		MessageRecipient{ada, "manual@example.net", ""},
	)
	if diff := cmp.Diff([]string{"category", "bounce", "", "", "", "", "", "manual", "manual"}, got); diff != "" {
		t.Error(diff)
	}
	if got := reasons(t, w.Service); len(got) != 0 {
		t.Errorf("Blocked without recipients returned %q", got)
	}
}

// A plan that scans the table would slow down every send with every suppression.
func TestBlockedUsesOnlyIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	emails := make([]string, MaxBatch)
	for i := range emails {
		emails[i] = fmt.Sprintf("r%d@example.net", i)
	}
	if _, err := w.AddBatch(t.Context(), ada, BatchInput{Emails: emails}); err != nil {
		t.Fatal(err)
	}
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			if _, err := w.db.SQL.ExecContext(t.Context(), `ANALYZE suppressions`); err != nil {
				t.Fatal(err)
			}
		}
		var plan strings.Builder
		rows, err := w.db.Hot.QueryContext(t.Context(), `EXPLAIN `+blockedAlone.Text, pq.Array([]string{ada}),
			pq.Array([][]byte{w.hashes.newHash("r7@example.net")}), pq.Array([]string{"x"}))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(line + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
		if strings.Contains(plan.String(), "Seq Scan") || strings.Count(plan.String(), "Index") < 2 {
			t.Errorf("after analyze (%v), the plan scans a table:\n%s", analyzed, plan.String())
		}
	}
}

// Development mode has mailboxes whose subaddresses are suppressed together with them.
func TestSubaddressesShareEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hashes.mailboxes = []string{"suppress@dev.test"}
	w.add(t, ada, "suppress@dev.test")
	for email, want := range map[string]bool{
		"suppress@dev.test": true, "suppress+1@dev.test": true, "Suppress+A+b@Dev.Test": true, "suppress+@dev.test": true,
		"suppress-1@dev.test": false, "suppress+1@sub.dev.test": false, "suppress+1@dev.test.example": false,
		"xsuppress+1@dev.test": false, "bob+1@dev.test": false,
	} {
		blocks, err := w.FindBlocks(t.Context(), w.db.SQL, []MessageRecipient{{AccountID: ada, Email: email}})
		if err != nil {
			t.Fatal(err)
		}
		if got := blocks[0].Reason != ""; got != want {
			t.Errorf("the address %s is blocked: %t, want %t", email, got, want)
		}
	}
}
