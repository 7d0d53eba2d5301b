package suppression

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// searchEmails returns the addresses that a search text finds in pages of two, sorted.
func (w *world) searchEmails(t *testing.T, q string) (found []string) {
	t.Helper()
	request := page.Request{Limit: 2}
	for range 10 {
		got, err := w.List(t.Context(), ada, Filter{Request: request, Q: q})
		if err != nil {
			t.Fatalf("searching for %q: %v", q, err)
		}
		for _, s := range got.Items {
			found = append(found, *s.Email)
		}
		if request.Cursor = got.NextCursor; !got.HasMore {
			break
		}
	}
	if n, err := w.Count(t.Context(), ada, Filter{Q: q}, 100); err != nil || n != len(found) {
		t.Errorf("the count for %q is %d with the error %v, want %d", q, n, err, len(found))
	}
	slices.Sort(found)
	return found
}

// A part of an address is found among the newest suppressions, and the beginning of an address among all.
func TestSearchesAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, email := range []string{"bob@example.net", "bobby@other.example", "ada.bob@example.net"} {
		w.add(t, ada, email)
	}
	first := w.add(t, ada, "carol_x@example.net")
	w.add(t, eve, "bob@example.net")
	expect := func(where, q string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, w.searchEmails(t, q)); diff != "" {
			t.Errorf("%s, searching for %q (-want +got):\n%s", where, q, diff)
		}
	}
	for _, where := range []string{"among the newest", "among all"} {
		expect(where, "BOB@example.net", "bob@example.net")
		expect(where, "carol_", "carol_x@example.net")
		expect(where, "carolxx")
		expect(where, first.ID, "carol_x@example.net")
		expect(where, "reason:manual carol", "carol_x@example.net")
		expect(where, "reason:bounce bob")
		if where == "among the newest" {
			expect(where, "bob", "ada.bob@example.net", "bob@example.net", "bobby@other.example")
			expect(where, "@example.net", "ada.bob@example.net", "bob@example.net", "carol_x@example.net")
			dbtest.Exec(t, w.db, `INSERT INTO suppressions (id, account_id, address_hash, email, reason)
				SELECT 'sup_7' || lpad(i::text, 25, '0'), $1, convert_to(i::text, 'UTF8'), 'x' || i || '@bulk.example', 'manual' FROM generate_series(1, $2::int) i`,
				ada, search.PartsWindow)
		} else {
			expect(where, "bob", "bob@example.net", "bobby@other.example")
			expect(where, "@example.net")
		}
	}
}

func TestRefusesSearchTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, q := range []string{"reasn:bounce", `"x`, "@", "reason:bounce reason:manual", "after:soon"} {
		_, err := w.List(t.Context(), ada, Filter{Q: q})
		if known := fault.Classify(err); known.Fields["q"] == "" {
			t.Errorf("searching for %q returned %v, want an error about q", q, err)
		}
	}
	if _, err := w.List(t.Context(), ada, Filter{Q: "reason:tired"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown reason returned %v, want %s", err, fmt.Sprint(fault.Invalid))
	}
}
