package suppression

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/work/event"
)

func unsubscribe(t testing.TB, s *Service, u Unsubscribe) {
	t.Helper()
	if err := s.Unsubscribe(t.Context(), u, false, SourceOneClick); err != nil {
		t.Fatal(err)
	}
}

func (w *world) unsubscribes(t testing.TB) []event.Unsubscribe {
	t.Helper()
	var out []event.Unsubscribe
	for _, data := range w.facts(t, event.ContactUnsubscribed) {
		var u event.Unsubscribe
		if err := json.Unmarshal([]byte(data), &u); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

func TestUnsubscribeFromAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net"}
	unsubscribe(t, w.Service, u)
	unsubscribe(t, w.Service, u)
	row, err := w.Get(t.Context(), ada, "bob@example.net")
	if err != nil || row.Reason != "unsubscribe" || *row.EmailID != about {
		t.Fatalf("after an unsubscribe, the suppression is %+v, %v, want the reason unsubscribe and the email %s", row,
			err, about)
	}
	id := about
	if diff := cmp.Diff([]event.Unsubscribe{{Email: "bob@example.net", Source: "one_click", Scope: "all",
		SuppressionID: &row.ID, EmailID: &id}}, w.unsubscribes(t)); diff != "" {
		t.Error(diff)
	}
}

func TestUnsubscribeFromCategory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net", Category: "Product news"}
	unsubscribe(t, w.Service, u)
	u.Category = "product NEWS"
	unsubscribe(t, w.Service, u)
	list, err := w.OptOuts(t.Context(), ada, OptOutFilter{Email: "BOB@example.net", Category: "product-news"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("after two unsubscribes from one category, the opt-outs are %+v, %v, want one", list, err)
	}
	row, id := list.Items[0], about
	key, label := "product-news", "Product news"
	if row.Category != key || row.CategoryLabel != label || row.Source != "one_click" ||
		*row.Email != "bob@example.net" || *row.EmailID != about {
		t.Errorf("the opt-out is %+v, want bob@example.net, the category %s (%s), one click and the email %s", row,
			label, key, about)
	}
	if diff := cmp.Diff([]event.Unsubscribe{{Email: "bob@example.net", Source: "one_click", Scope: "category",
		Category: &key, CategoryLabel: &label,
		CategoryOptOutID: &row.ID, EmailID: &id}}, w.unsubscribes(t)); diff != "" {
		t.Error(diff)
	}
	if n := w.count(t, `SELECT count(*) FROM suppressions`); n != 0 {
		t.Error("all mail is blocked, want only the category blocked")
	}
	wantKind(t, w.RemoveOptOut(t.Context(), eve, row.ID), fault.NotFound)
	if err := w.RemoveOptOut(t.Context(), ada, row.ID); err != nil {
		t.Error(err)
	}
	if got := reasons(t, w.Service, MessageRecipient{ada, "bob@example.net", "Product news"}); got[0] != "" {
		t.Errorf("after removing the opt-out, the blocks are %q", got)
	}
}

func TestCategoryLinkCanStopAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net", Category: "Product news"}
	if err := w.Unsubscribe(t.Context(), u, true, SourcePage); err != nil {
		t.Fatal(err)
	}
	if got := w.unsubscribes(t); len(got) != 1 || got[0].Scope != "all" || got[0].Source != "page" ||
		got[0].Category != nil {
		t.Errorf("the unsubscribe facts are %+v, want one with the scope all from the page, without a category", got)
	}
	if n := w.count(t, `SELECT count(*) FROM category_opt_outs`); n != 0 {
		t.Errorf("got %d opt-outs", n)
	}
}

// The recipient's own request remains when the bounce is resolved, and is published.
func TestUnsubscribeReplacesBounce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handled(t, w, event.EmailBounced, bounced("bob@example.net", event.Bounce{Code: 452, EnhancedCode: "4.2.2"}))
	handled(t, w, event.EmailComplained, event.Email{EmailID: about, Recipient: "cross@example.net"})
	for range 2 {
		unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net"})
		unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "cross@example.net"})
	}
	row, err := w.Get(t.Context(), ada, "bob@example.net")
	if err != nil || row.Reason != "unsubscribe" {
		t.Errorf("after a bounce and an unsubscribe, the suppression is %+v, %v, want the reason unsubscribe", row, err)
	}
	if got := w.unsubscribes(t); len(got) != 1 || *got[0].SuppressionID != row.ID {
		t.Errorf("the unsubscribe facts are %+v, want one about the suppression %s", got, row.ID)
	}
	if row, err = w.Get(t.Context(), ada, "cross@example.net"); err != nil || row.Reason != "complaint" {
		t.Errorf("after a complaint and an unsubscribe, the suppression is %+v, %v, want the reason complaint", row,
			err)
	}
}

func TestConcurrentClicksAreOneUnsubscribe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net"}
	news := all
	news.Category = "News"
	var wait sync.WaitGroup
	for range 8 {
		for _, u := range []Unsubscribe{all, news} {
			wait.Go(func() {
				if err := w.Unsubscribe(t.Context(), u, false, SourceOneClick); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	if got := w.unsubscribes(t); len(got) != 2 {
		t.Errorf("got %d facts", len(got))
	}
}

func TestConcurrentBatchesDoNotDeadlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up, down := []string{}, []string{}
	for c := 'a'; c <= 'z'; c++ {
		up, down = append(up, string(c)+"@example.net"), append([]string{string(c) + "@example.net"}, down...)
	}
	var wait sync.WaitGroup
	for range 4 {
		for _, emails := range [][]string{up, down} {
			wait.Go(func() {
				items, err := w.AddBatch(t.Context(), ada, BatchInput{Emails: emails})
				if err != nil {
					t.Error(err)
					return
				}
				for i, item := range items {
					if item.Suppression == nil || *item.Suppression.Email != emails[i] {
						t.Errorf("item %d is %+v", i, item)
					}
				}
			})
		}
	}
	wait.Wait()
	if n := len(w.facts(t, event.SuppressionAdded)); n != len(up) {
		t.Errorf("got %d facts for %d addresses", n, len(up))
	}
}
