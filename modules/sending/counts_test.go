package sending

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

func TestDomainCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const first, other, silent = "dom_01kf0m4w7he6x8q2v5b3n9c1ta", "dom_01kf0m4w7he6x8q2v5b3n9c1tb", "dom_01kf0m4w7he6x8q2v5b3n9c1tc"
	for _, status := range []string{"sent", "queued", "delivered", "delivered", "bounced", "failed", "scheduled", "cancelled"} {
		f.exec(t, `UPDATE emails SET status = $2 WHERE id = $1`, f.send(t, simple("bob@example.net")), status)
	}
	f.near.identity = domains.Identity{DomainID: other, Domain: "example.org", Key: testKey()}
	f.send(t, simple("bob@example.net"))
	old := f.send(t, simple("bob@example.net"))
	f.exec(t, `DELETE FROM recipients WHERE email_id = $1`, old)
	f.exec(t, `UPDATE emails SET id = $2 WHERE id = $1`, old, id.Since(id.Email, time.Now().AddDate(0, 0, -8)))

	got, err := f.DomainCounts(t.Context(), testAccount, 7, first, other, silent)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Counts{first: {Sent: 6, Delivered: 2, Bounced: 1, Failed: 1}, other: {Sent: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := f.DomainCounts(t.Context(), testAccount, 9, other); err != nil || got[other].Sent != 2 {
		t.Errorf("9 days: %+v, %v", got, err)
	}
	if got, err := f.DomainCounts(t.Context(), "acc_somebody_else", 7, first); err != nil || len(got) != 0 {
		t.Errorf("another account: %+v, %v", got, err)
	}
	for _, days := range []int{0, -1, 91} {
		if _, err := f.DomainCounts(t.Context(), testAccount, days, first); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d days: %v", days, err)
		}
	}
}

func (f *fixture) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := f.db.SQL.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
