package records_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestAttemptsArePagedNewestFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.net"))
	for range 2 {
		f.MakeDue(t)
		f.SettleWith(t, f.ClaimAll(t), smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseRcpt,
			Code: 451, EnhancedCode: "4.7.1", Reply: "451 4.7.1 Greylisted", RemoteHost: "mx.example.net"})
	}
	other := f.Send(t, rooms.SimpleMessage("c@example.net"))
	var numbers []int
	var cursor string
	for range 3 {
		p, err := f.AttemptsOf(t.Context(), sendingtest.Account, id, page.Request{Limit: 3, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Items {
			numbers = append(numbers, a.Number)
			if a.Address == "" {
				t.Errorf("attempt without an address: %+v", a)
			}
		}
		if cursor = p.NextCursor; !p.HasMore {
			break
		}
		if _, err := f.AttemptsOf(t.Context(), sendingtest.Account, other,
			page.Request{Limit: 3, Cursor: cursor}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a cursor of another email: %v", err)
		}
	}
	if diff := cmp.Diff([]int{2, 2, 1, 1}, numbers); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	const stranger = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	if _, err := f.AttemptsOf(t.Context(), stranger, id, page.Request{Limit: 3}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := f.RecipientsOf(t.Context(), stranger, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a stranger: %v", err)
	}
}
