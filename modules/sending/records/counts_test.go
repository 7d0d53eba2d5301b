package records_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

func TestDomainCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const first, other, silent = "dom_01kf0m4w7he6x8q2v5b3n9c1ta", "dom_01kf0m4w7he6x8q2v5b3n9c1tb",
		"dom_01kf0m4w7he6x8q2v5b3n9c1tc"
	for _, status := range []string{"sent", "queued", "delivered", "delivered", "bounced", "failed", "scheduled",
		"cancelled"} {
		f.Exec(t, `UPDATE emails SET status = $2 WHERE id = $1`, f.Send(t, rooms.SimpleMessage("bob@example.net")), status)
	}
	f.Near.Sender = domains.SigningIdentity{DomainID: other, Domain: "example.org", Key: sendingtest.Key()}
	f.Send(t, rooms.SimpleMessage("bob@example.net"))
	old := f.Send(t, rooms.SimpleMessage("bob@example.net"))
	f.Exec(t, `DELETE FROM recipients WHERE email_id = $1`, old)
	f.Exec(t, `UPDATE emails SET id = $2 WHERE id = $1`, old, id.Since(id.Email, time.Now().AddDate(0, 0, -8)))

	got, err := f.DomainCounts(t.Context(), sendingtest.Account, 7, first, other, silent)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]records.Counts{first: {Sent: 6, Delivered: 2, Bounced: 1, Failed: 1}, other: {Sent: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := f.DomainCounts(t.Context(), sendingtest.Account, 9, other); err != nil || got[other].Sent != 2 {
		t.Errorf("9 days: %+v, %v", got, err)
	}
	if got, err := f.DomainCounts(t.Context(), "acc_somebody_else", 7, first); err != nil || len(got) != 0 {
		t.Errorf("another account: %+v, %v", got, err)
	}
	for _, days := range []int{0, -1, 91} {
		if _, err := f.DomainCounts(t.Context(), sendingtest.Account, days, first); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d days: %v", days, err)
		}
	}
}

func TestGroupCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var groups, ids []string
	for i, status := range []string{"sent", "delivered", "bounced", "failed", "scheduled", "cancelled", "delivered"} {
		ids = append(ids, f.Send(t, rooms.SimpleMessage("bob@example.net")))
		groups = append(groups, []string{"first", "second"}[i/6])
		f.Exec(t, `UPDATE emails SET status = $2 WHERE id = $1`, ids[i], status)
	}
	groups, ids = append(groups, "none"), append(ids, "msg_01kf0m4w7he6x8q2v5b3n9c1ta")
	got, err := f.GroupCounts(t.Context(), sendingtest.Account, groups, ids)
	want := map[string]records.Counts{"first": {Sent: 4, Delivered: 1, Bounced: 1, Failed: 1},
		"second": {Sent: 1, Delivered: 1}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("counting seven emails of two groups got %v (-want +got):\n%s", err, diff)
	}
	if got, err := f.GroupCounts(t.Context(), "acc_somebody_else", groups, ids); err != nil || len(got) != 0 {
		t.Errorf("another account counts %v, %v; want nothing", got, err)
	}
	if rows, err := f.GetMany(t.Context(), sendingtest.Account, ids[1], ids[0]); err != nil || len(rows) != 2 ||
		rows[0].ID != ids[0] {
		t.Errorf("reading two emails got %v, %v; want both, the older one first", rows, err)
	}
	if rows, err := f.GetMany(t.Context(), "acc_somebody_else", ids...); err != nil || len(rows) != 0 {
		t.Errorf("another account reads %v, %v; want nothing", rows, err)
	}
}
