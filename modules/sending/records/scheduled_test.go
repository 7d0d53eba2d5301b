package records_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestScheduledEmailsAreListedInTheOrderOfSending(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	start := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	later := func(after time.Duration) func(*sending.Message) {
		return func(m *sending.Message) { m.ScheduledAt = new(start.Add(after)) }
	}
	f.sendMessage(t, "third", later(2*time.Minute))
	f.sendMessage(t, "first", later(0))
	f.sendMessage(t, "second", later(time.Microsecond))
	f.sendMessage(t, "fourth", later(3*time.Minute))
	f.sendMessage(t, "fifth", later(3*time.Minute)) // at the same time: by id
	f.sendMessage(t, "now", nil)

	want := []string{"first", "second", "third", "fourth", "fifth"}
	for _, back := range []bool{false, true} {
		var got []string
		for r := (page.Request{Limit: 2, Back: back}); ; {
			p, err := f.ListScheduled(t.Context(), sendingtest.Account, nil, r)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Items) == 0 {
				t.Fatal("an empty page")
			}
			subjects := subjectsOf(p.Items)
			if back {
				got, r.Cursor = slices.Concat(subjects, got), p.Cursors[0]
			} else {
				got, r.Cursor = slices.Concat(got, subjects), p.NextCursor
			}
			if back && !p.HasPrevious || !back && !p.HasMore {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("backwards %t (-want +got):\n%s", back, diff)
		}
	}
}

func TestScheduledEmailsOfOtherDomainsAndAccountsAreNotListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sendMessage(t, "later", func(m *sending.Message) { m.ScheduledAt = new(time.Now().Add(time.Hour)) })
	request := page.Request{Limit: 10}
	own, err := f.ListScheduled(t.Context(), sendingtest.Account, nil, request)
	if err != nil || len(own.Items) != 1 {
		t.Fatalf("listed %v, %v, want one email", own.Items, err)
	}
	for account, domains := range map[string][]string{sendingtest.Account: {"dom_other"}, "acc_01kf0m4w7he6x8q2v5b3n9c1tb": nil} {
		if got, err := f.ListScheduled(t.Context(), account, domains, request); err != nil || len(got.Items) != 0 {
			t.Errorf("%s with the domains %v: %v, %v, want nothing", account, domains, got.Items, err)
		}
	}
	for _, cursor := range []string{"x", f.Cursor(sendingtest.Account, own.Items[0].ID)} {
		request.Cursor = cursor
		if _, err := f.ListScheduled(t.Context(), sendingtest.Account, nil, request); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the cursor %q of another list: %v, want Invalid", cursor, err)
		}
	}
}

func subjectsOf(emails []*ent.Email) []string {
	subjects := make([]string, len(emails))
	for i, e := range emails {
		subjects[i] = e.Subject
	}
	return subjects
}
