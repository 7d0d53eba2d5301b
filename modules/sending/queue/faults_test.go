package queue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

// Each hand-back of a process is a fault of its own. Broken connections of a process are one fault. Results of the day
// before, of a moved account and with a known outcome are not in doubt.
func TestFaultsCountRecipientsInDoubt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("due@example.net"))
	f.Exec(t, `INSERT INTO nodes (id, name, version, roles, started_at, seen_at, claims_from) VALUES (7, 'one', 'v1', '[]', now(), now(), now())`)
	f.Exec(t, `INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, node, phase, in_doubt_at)
		SELECT r.id, r.email_id, r.account_id, 1, 1000 + n, now(), node, phase, now() - ago * interval '1 second'
		FROM (SELECT * FROM recipients LIMIT 1) r, (VALUES
			(1, 7, '', 3700), (2, 7, '', 3690), (3, 7, '', 3640), -- frozen, and its last claims ended with their leases
			(4, 7, '', 60), -- killed an hour later
			(5, 7, 'body', 2000), (6, 7, 'body', 20),
			(7, 9, '', 30), -- a process that is no longer known
			(8, NULL, '', 10), (9, 7, '', 90000), (10, 7, '', NULL)
		) v (n, node, phase, ago)`)
	found, err := f.Faults(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Fault{{Kind: ProcessFault, Process: 9, InDoubt: 1}, {Kind: ProcessFault, Node: "one", Process: 7, InDoubt: 1},
		{Kind: ConnectionFault, Node: "one", Process: 7, InDoubt: 2},
		{Kind: ProcessFault, Node: "one", Process: 7, InDoubt: 3}}
	if diff := cmp.Diff(want, found, cmpopts.IgnoreFields(Fault{}, "At", "LastAt")); diff != "" {
		t.Errorf("the faults differ (-want +got):\n%s", diff)
	}
	if last := found[len(found)-1]; last.LastAt.Sub(last.At) != time.Minute {
		t.Errorf("the first fault took %s, want a minute", last.LastAt.Sub(last.At))
	}
}
