package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// Entries are found by actor and object: by id among all entries, and by a part of a name among the newest ones.
func TestSearchesEntries(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := New(d, page.NewCodec(make([]byte, 16)))
	d.Ent.Account.Create().SetID("acc_1").SetName("One").SetEmail("one@example.com").ExecX(t.Context())
	user, domain, webhook := id.New(id.User), id.New(id.Domain), id.New(id.Webhook)
	start := time.Now().Add(-time.Hour)
	var ids []string
	for i, e := range []struct {
		actor, name, action, target string
		changes                     map[string]any
	}{
		{user, "ada@example.com", "member.removed", "usr_x", map[string]any{"email": "bob@example.net"}},
		{user, "ada@example.com", "addDomain", domain, map[string]any{"name": "shop.example"}},
		{"key_1", "CI", "updateWebhook", webhook, map[string]any{"url": map[string]any{"from": "https://a.example", "to": "https://b.example"}}},
	} {
		ids = append(ids, id.Since(id.AuditEntry, start.Add(time.Duration(i)*time.Second)))
		d.Ent.AuditEntry.Create().SetID(ids[i]).SetAccountID("acc_1").SetActorKind("user").SetActorID(e.actor).
			SetActorName(e.name).SetAction(e.action).SetTarget(e.target).SetChanges(e.changes).
			SetCreatedAt(start.Add(time.Duration(i) * time.Second)).ExecX(t.Context())
	}
	expect := func(where string, f Filter, want ...string) {
		t.Helper()
		got, err := s.List(t.Context(), "acc_1", f, page.Request{Limit: 10})
		if err != nil {
			t.Fatalf("%s, %+v: %v", where, f, err)
		}
		var actions []string
		for _, e := range got.Items {
			actions = append(actions, e.Action)
		}
		if diff := cmp.Diff(want, actions); diff != "" {
			t.Errorf("%s, %+v (-want +got):\n%s", where, f, diff)
		}
		if n, err := s.Count(t.Context(), "acc_1", f, 100); err != nil || n != len(want) {
			t.Errorf("%s, %+v: the count is %d with the error %v, want %d", where, f, n, err, len(want))
		}
	}
	for _, where := range []string{"newest", "all"} {
		expect(where, Filter{Q: user}, "addDomain", "member.removed")
		expect(where, Filter{Q: "by:" + user}, "addDomain", "member.removed")
		expect(where, Filter{Q: domain}, "addDomain")
		expect(where, Filter{Q: "on:" + domain}, "addDomain")
		expect(where, Filter{Target: webhook}, "updateWebhook")
		expect(where, Filter{Q: ids[0]}, "member.removed")
		expect(where, Filter{Q: "action:member"}, "member.removed")
		expect(where, Filter{Q: "on:" + domain + " by:" + id.New(id.User)})
		if where == "newest" {
			expect(where, Filter{Q: "ada"}, "addDomain", "member.removed")
			expect(where, Filter{Q: "by:ADA@ example.net"}, "member.removed")
			expect(where, Filter{Q: "on:shop"}, "addDomain")
			expect(where, Filter{Q: "b.example"}, "updateWebhook")
			expect(where, Filter{Q: "webho ci"}, "updateWebhook")
			expect(where, Filter{Q: "after:2999-01-01"})
			dbtest.Exec(t, d, `INSERT INTO audit_entries (id, account_id, actor_kind, action) SELECT 'aud_7' || lpad(i::text, 25, '0'), 'acc_1', 'system', 'x' FROM generate_series(1, $1::int) i`,
				search.PartsWindow)
		}
	}
	_, err := s.List(t.Context(), "acc_1", Filter{Q: "who:ada"}, page.Request{Limit: 10})
	if known := fault.Classify(err); !strings.Contains(known.Fields["q"], `unknown field "who" at character 1`) {
		t.Errorf("an unknown field returned %v, want its position", err)
	}
}

func TestRecordsWhatChanged(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := New(d, page.NewCodec(make([]byte, 16)))
	d.Ent.Account.Create().SetID("acc_1").SetName("One").SetEmail("one@example.com").ExecX(t.Context())
	changes := map[string]any{"name": "Hooks", "url": map[string]any{"from": "a", "to": "b"}}
	caller := accounts.Caller{AccountID: "acc_1", KeyID: "key_1"}
	for _, c := range []map[string]any{changes, nil} {
		if err := s.Record(t.Context(), caller, "updateWebhook", "wh_1", c); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.List(t.Context(), "acc_1", Filter{}, page.Request{Limit: 10})
	if err != nil || len(got.Items) != 2 || got.Items[0].Changes != nil {
		t.Fatalf("the log has %+v with the error %v, want two entries, the newest without changes", got.Items, err)
	}
	if diff := cmp.Diff(changes, got.Items[1].Changes); diff != "" {
		t.Errorf("the changes of the entry (-want +got):\n%s", diff)
	}
}
