package records_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestAnotherAccountSeesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("bob@example.net"))
	const stranger = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	if _, err := f.Get(t.Context(), stranger, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Get: %v", err)
	}
	list, err := f.List(t.Context(), stranger, records.ListQuery{Page: page.Request{Limit: 10}})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("List: %v %v", list.Items, err)
	}
	own, err := f.List(t.Context(), sendingtest.Account, records.ListQuery{Page: page.Request{Limit: 10}})
	if err != nil || len(own.Items) != 1 {
		t.Fatalf("own list: %v %v", own.Items, err)
	}
	if _, err := f.List(t.Context(), stranger,
		records.ListQuery{Page: page.Request{Limit: 10,
			Cursor: f.Cursor(sendingtest.Account, id)}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a cursor of another account: %v", err)
	}
	recipients, err := f.Recipients(t.Context(), stranger, id)
	if err != nil || len(recipients) != 0 {
		t.Errorf("Recipients: %v %v", recipients, err)
	}
	facts, err := f.Timeline(t.Context(), stranger, id)
	if err != nil || len(facts) != 0 {
		t.Errorf("Timeline: %v %v", facts, err)
	}
	bodies, err := f.Bodies(t.Context(), stranger, id)
	if err != nil || len(bodies) != 0 {
		t.Errorf("Bodies: %v %v", bodies, err)
	}
}

func TestListPagesThroughEverythingOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var want []string
	for range 7 {
		want = append([]string{f.Send(t, rooms.SimpleMessage("bob@example.net"))}, want...)
	}
	var got []string
	q := records.ListQuery{Page: page.Request{Limit: 3}}
	for {
		p, err := f.List(t.Context(), sendingtest.Account, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Items {
			got = append(got, e.ID)
			if e.HTML != nil || e.Text != nil {
				t.Error("a list carries bodies")
			}
		}
		if !p.HasMore {
			break
		}
		f.Send(t, rooms.SimpleMessage("late@example.net")) // rows inserted between pages move nothing
		q.Page.Cursor = p.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// The total size of bodies is limited, and the error says what to do.
func TestBodiesAreBoundedTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := rooms.SimpleMessage("bob@example.net")
	m.HTML, m.Text = strings.Repeat("x", records.MaxBody), strings.Repeat("y", records.MaxBody)
	var ids []string
	for range 4 {
		ids = append(ids, f.Send(t, m))
	}
	if got, err := f.Bodies(t.Context(), sendingtest.Account, ids[:3]...); err != nil || len(got) != 3 ||
		len(*got[ids[2]].HTML) != records.MaxBody {
		t.Errorf("30 MB of three emails: %d, %v", len(got), err)
	}
	if _, err := f.Bodies(t.Context(), sendingtest.Account, ids...); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("40 MB of four: %v, want a request for fewer emails", err)
	}
}
