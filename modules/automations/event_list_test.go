package automations

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// A complete name, user or address is found in all events, and a part of one among the newest.
func TestSearchesEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.caller().AccountID
	w.postAs(t, "order.paid", "user-17", "bob@example.net", `{}`)
	last := w.postAs(t, "order.shipped", "user-18", "ada@example.net", `{}`)
	expect := func(where, q string, want ...string) {
		t.Helper()
		f := EventFilter{Request: page.Request{Limit: 10}, Q: q}
		got, err := w.Events(t.Context(), account, f)
		if err != nil {
			t.Fatalf("%s, searching for %q: %v", where, q, err)
		}
		var names []string
		for _, e := range got.Items {
			names = append(names, e.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s, searching for %q (-want +got):\n%s", where, q, diff)
		}
		if n, err := w.CountEvents(t.Context(), account, f, 100); err != nil || n != len(want) {
			t.Errorf("%s, the count for %q is %d with the error %v, want %d", where, q, n, err, len(want))
		}
	}
	for _, where := range []string{"among the newest", "among all"} {
		expect(where, "order.paid", "order.paid")
		expect(where, "user-18", "order.shipped")
		expect(where, "Ada@example.net", "order.shipped")
		expect(where, "source:api user:user-17", "order.paid")
		expect(where, "source:system order.paid")
		expect(where, last.Event.ID, "order.shipped")
		if where == "among the newest" {
			expect(where, "order", "order.shipped", "order.paid")
			expect(where, "example.net order.p", "order.paid")
			expect(where, "bob@", "order.paid")
			dbtest.Exec(t, w.DB, `INSERT INTO custom_events (id, account_id, name, source, depth, pending, trial)
			SELECT 'ae_7' || lpad(i::text, 25, '0'), $1, 'bulk', 'api', 0, false, false FROM generate_series(1, $2::int) i`,
				account, search.PartsWindow)
		}
	}
	_, err := w.Events(t.Context(), account, EventFilter{Request: page.Request{Limit: 10}, Q: "nme:x"})
	if fault.Classify(err).Fields["q"] == "" {
		t.Errorf("an unknown field returned %v, want an error about q", err)
	}
}
