package suppression

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestRotationKeepsBlocking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := secret.NewKey()
	first := w.add(t, ada, "bob@example.net")
	w.add(t, ada, "erased@example.net")
	unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "choosy@example.net",
		Category: "News"})
	if _, err := w.Erase(t.Context(), ada, "erased@example.net"); err != nil {
		t.Fatal(err)
	}
	everybody := []MessageRecipient{{ada, "bob@example.net", ""}, {ada, "erased@example.net", ""},
		{ada, "choosy@example.net", "News"}, {ada, "ann@example.net", "News"}}
	want := []string{"manual", "manual", "category", ""}
	rotated := w.process(t, newer, w.key)
	if diff := cmp.Diff(want, reasons(t, rotated, everybody...)); diff != "" {
		t.Errorf("with both keys, the blocks are %s", diff)
	}
	if got, err := rotated.Get(t.Context(), ada, "bob@example.net"); err != nil || got.ID != first.ID {
		t.Errorf("with both keys, Get returned %v, %v, want the suppression %s", got, err, first.ID)
	}
	if got, err := rotated.List(t.Context(), ada,
		Filter{Request: page.Request{Limit: 5}, Email: "bob@example.net"}); err != nil || len(got.Items) != 1 {
		t.Errorf("with both keys, List returned %v, %v, want one suppression of bob@example.net", got, err)
	}
	// Adding the address again finds the same row, even if the address was erased.
	for _, email := range []string{"bob@example.net", "erased@example.net"} {
		if _, err := rotated.Add(t.Context(), ada, NewSuppression{Email: email}); err != nil {
			t.Fatal(err)
		}
	}
	unsubscribe(t, rotated, Unsubscribe{AccountID: ada, EmailID: about, Email: "choosy@example.net", Category: "News"})
	if n := w.count(t, `SELECT (SELECT count(*) FROM suppressions) + (SELECT count(*) FROM category_opt_outs)`); n != 3 {
		t.Errorf("got %d rows", n)
	}
	if diff := cmp.Diff(want, reasons(t, w.process(t, newer), everybody...)); diff != "" {
		t.Errorf("without the old key, the blocks are %s", diff)
	}
}

func TestStartRehashesKnownAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := secret.NewKey()
	emails := []string{"a@example.net", "b@example.net", "c@example.net", "twice@example.net"}
	for _, email := range emails {
		w.add(t, ada, email)
	}
	w.add(t, eve, "a@example.net")
	unsubscribe(t, w.Service, Unsubscribe{AccountID: ada, EmailID: about, Email: "choosy@example.net",
		Category: "News"})
	// Meanwhile, a process with only the new key has added one.
	if _, err := w.process(t, newer).Add(t.Context(), ada, NewSuppression{Email: "twice@example.net"}); err != nil {
		t.Fatal(err)
	}
	rotated := w.process(t, newer, w.key)
	if err := rotated.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := w.process(t, newer)
	list := []MessageRecipient{{ada, "a@example.net", ""}, {ada, "b@example.net", ""}, {ada, "c@example.net", ""},
		{ada, "twice@example.net", ""}, {eve, "a@example.net", ""}, {ada, "choosy@example.net", "News"}}
	expect.EventuallyWithin(t, 10*time.Second, "every address is found with only the new key", func() bool {
		return cmp.Equal([]string{"manual", "manual", "manual", "manual", "manual", "category"},
			reasons(t, after, list...))
	})
	if err := rotated.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, `SELECT count(*) FROM suppressions`); n != 5 {
		t.Errorf("got %d rows", n)
	}
}
