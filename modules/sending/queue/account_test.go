package queue

import (
	"strconv"
	"testing"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestAccountChangesItsOwnPartOfTheQueueOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.org"))
	f.Exec(t, `UPDATE recipients SET due_at = now() + interval '1 hour'`)
	const stranger = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	for _, op := range []Command{Retry, Hold, Release, Drop} {
		for _, s := range []Selection{{All: true}, {EmailID: id}, {Destination: "example.net"},
			{AccountID: sendingtest.Account, EmailID: id}} {
			c := AccountChange{Operation: op, Selection: s, Reason: "not mine"}
			if got := mustChange(t)(f.ChangeQueueOf(t.Context(), stranger, c)); got != (Result{}) {
				t.Errorf("%s of %+v by another account: %+v", op, s, got)
			}
			c.DryRun = true
			if got := mustChange(t)(f.ChangeQueueOf(t.Context(), sendingtest.Account, c)); got.Matched == 0 ||
				got.Changed != 0 {
				t.Errorf("dry run of %s of %+v: %+v", op, s, got)
			}
		}
	}
	if got := mustChange(t)(f.ChangeQueueOf(t.Context(), sendingtest.Account,
		AccountChange{Operation: Retry, Selection: Selection{Destination: "example.net"}})); got != (Result{Matched: 1,
		Changed: 1}) {
		t.Errorf("retry: %+v", got)
	}
	if jobs := f.ClaimAll(t); len(jobs) != 1 || jobs[0].Address() != "a@example.net" {
		t.Errorf("claimed %+v", jobs)
	}
	if got := mustChange(t)(f.ChangeQueueOf(t.Context(), sendingtest.Account,
		AccountChange{Operation: Drop, Selection: Selection{All: true}, Reason: "enough"})); got != (Result{Matched: 2,
		Changed: 2}) {
		t.Errorf("drop: %+v", got)
	}
}

func TestQueueIDsHideTheRecipientNumber(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.org", "c@example.org"))
	found, err := f.QueueOf(t.Context(), sendingtest.Account, Selection{}, page.Request{Limit: 2})
	if err != nil || len(found.Items) != 2 || !found.HasMore {
		t.Fatalf("first page of 2 of 3 recipients: %d items, HasMore %v, %v", len(found.Items), found.HasMore, err)
	}
	rest, err := f.QueueOf(t.Context(), sendingtest.Account, Selection{},
		page.Request{Limit: 2, Cursor: found.NextCursor})
	if err != nil || len(rest.Items) != 1 || rest.HasMore {
		t.Fatalf("second page: %d items, HasMore %v, %v; want the last", len(rest.Items), rest.HasMore, err)
	}
	for _, q := range append(found.Items, rest.Items...) {
		if number := strconv.FormatInt(q.RecipientID, 10); len(q.ID) != 22 || q.ID == number {
			t.Errorf("recipient %s has the account's id %q, want one that hides the number", number, q.ID)
		}
		change := AccountChange{Operation: Retry, Selection: Selection{IDs: []string{q.ID, "7", "unknown"}},
			DryRun: true}
		if got := mustChange(t)(f.ChangeQueueOf(t.Context(), sendingtest.Account,
			change)); got != (Result{Matched: 1}) {
			t.Errorf("change of %q among unknown ids: %+v, want 1 matched", q.ID, got)
		}
		if got := mustChange(t)(f.ChangeQueueOf(t.Context(), "acc_01kf0m4w7he6x8q2v5b3n9c1tb",
			change)); got != (Result{}) {
			t.Errorf("change of %q by another account: %+v, want 0 matched", q.ID, got)
		}
	}
}

func TestAccountCannotReleaseOperatorHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("operator@example.net", "account@example.org"))
	q, all := f.Service, Selection{All: true}
	ask := func(op Command) Result {
		return mustChange(t)(f.ChangeQueueOf(t.Context(), sendingtest.Account,
			AccountChange{Operation: op, Selection: all}))
	}
	mustChange(t)(q.Hold(t.Context(), Operation{Selection: Selection{Destination: "example.net"}}))
	if got := ask(Hold); got != (Result{Matched: 2, Changed: 1}) {
		t.Errorf("hold: %+v", got)
	}
	if held := f.listQueued(t, Selection{State: OnHold}); len(held) != 2 || held[1].Lane != "" ||
		held[1].NextAttempt != nil {
		t.Errorf("held: %+v", held)
	}
	if sums, err := q.Summary(t.Context(), all, 10); err != nil || len(sums) != 2 || sums[0].Held != 1 ||
		sums[1].Held != 1 || sums[1].Total() != 1 {
		t.Errorf("summary: %+v %v", sums, err)
	}
	if got := ask(Retry); got.Changed != 0 {
		t.Errorf("retry of held recipients: %+v", got)
	}
	if jobs := f.ClaimAll(t); len(jobs) != 0 {
		t.Fatalf("held recipients were claimed: %+v", jobs)
	}
	if got := ask(Release); got != (Result{Matched: 2, Changed: 1}) {
		t.Errorf("release: %+v", got)
	}
	if jobs := f.ClaimAll(t); len(jobs) != 1 || jobs[0].Address() != "account@example.org" {
		t.Errorf("claimed %+v", jobs)
	}
	// The operator takes over recipients that the account holds, and releases both kinds.
	ask(Hold)
	if got := mustChange(t)(q.Hold(t.Context(), Operation{Selection: all})); got.Changed != 1 {
		t.Errorf("taken over: %+v", got)
	}
	if got := ask(Release); got.Changed != 0 {
		t.Errorf("release of recipients taken over by the operator: %+v", got)
	}
	if got := mustChange(t)(q.Release(t.Context(), Operation{Selection: all})); got.Changed != 2 {
		t.Errorf("release by the operator: %+v", got)
	}
}

func TestAccountChangeRequiresASelection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, c := range map[string]AccountChange{
		"nothing":       {Operation: Retry},
		"an account":    {Operation: Retry, Selection: Selection{AccountID: sendingtest.Account}},
		"no reason":     {Operation: Drop, Selection: Selection{All: true}},
		"no operation":  {Selection: Selection{All: true}},
		"all and a few": {Operation: Hold, Selection: Selection{All: true, EmailID: "msg_1"}},
	} {
		if _, err := f.ChangeQueueOf(t.Context(), sendingtest.Account, c); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: ChangeQueueOf returned %v, want kind Invalid", name, err)
		}
	}
	if _, err := f.ChangeQueueOf(t.Context(), "",
		AccountChange{Operation: Retry, Selection: Selection{All: true}}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("without an account: %v, want kind NotFound", err)
	}
}
