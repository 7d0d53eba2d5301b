package graph

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/suppression"
	module "github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeSuppressions has two entries of ada and one of bob of either kind.
type fakeSuppressions struct{ *calls }

func someSuppressions() []*ent.Suppression {
	var rows []*ent.Suppression
	for i, n := range []int{2, 1, 999} {
		email, about := fmt.Sprintf("r%d@example.net", n), "msg_001"
		row := &ent.Suppression{ID: fmt.Sprintf("sup_%03d", n), AccountID: []string{ada, ada, bob}[i], Email: &email,
			EmailID: &about,
			Reason:  suppression.ReasonBounce, CreatedAt: day}
		if n == 1 {
			row.Email, row.EmailID, row.Reason = nil, nil, suppression.ReasonManual
		}
		rows = append(rows, row)
	}
	return rows
}

func someOptOuts() []*ent.CategoryOptOut {
	var rows []*ent.CategoryOptOut
	for _, s := range someSuppressions() {
		rows = append(rows, &ent.CategoryOptOut{ID: "opt" + s.ID[3:], AccountID: s.AccountID, Email: s.Email,
			EmailID:  s.EmailID,
			Category: "product-news", CategoryLabel: "Product news", Source: "one_click", CreatedAt: day})
	}
	return rows
}

func (f fakeSuppressions) List(_ context.Context, accountID string,
	q module.Filter) (page.Page[*ent.Suppression], error) {
	out, err := paged(someSuppressions(), func(s *ent.Suppression) (string, string) { return s.AccountID, s.ID },
		"suppressions", accountID, q.Request)
	if q.Email+q.Reason != "" {
		out.Cursors = []string{"here"}
		out.Items = []*ent.Suppression{{ID: q.Email + " " + q.Reason}}
	}
	return out, orElse(err, f.call("suppressions.List"))
}

func (f fakeSuppressions) Count(ctx context.Context, accountID string, q module.Filter, most int) (int, error) {
	q.Request = whole
	n, err := lengthOf(f.List(ctx, accountID, q))
	return min(n, most), err
}

func (f fakeSuppressions) CountOptOuts(ctx context.Context, accountID string, q module.OptOutFilter,
	most int) (int, error) {
	q.Request = whole
	n, err := lengthOf(f.OptOuts(ctx, accountID, q))
	return min(n, most), err
}

func (f fakeSuppressions) Get(_ context.Context, accountID, id string) (*ent.Suppression, error) {
	for _, s := range someSuppressions() {
		if s.ID == id && s.AccountID == accountID {
			return s, f.call("suppressions.Get")
		}
	}
	return nil, fault.NoSuch("suppression", id)
}

// FindByAddress returns the suppressions of addresses that are on the list.
func (f fakeSuppressions) FindByAddress(_ context.Context, accountID string,
	addresses ...string) (map[string]*ent.Suppression, error) {
	out := map[string]*ent.Suppression{}
	for _, row := range someSuppressions() {
		if row.AccountID == accountID && row.Email != nil && slices.Contains(addresses, *row.Email) {
			out[*row.Email] = row
		}
	}
	return out, f.call("suppressions.Of")
}

func (f fakeSuppressions) OptOuts(_ context.Context, accountID string,
	q module.OptOutFilter) (page.Page[*ent.CategoryOptOut], error) {
	out, err := paged(someOptOuts(), func(o *ent.CategoryOptOut) (string, string) { return o.AccountID, o.ID },
		"category opt-outs", accountID, q.Request)
	if q.Email+q.Category != "" {
		out.Cursors = []string{"here"}
		out.Items = []*ent.CategoryOptOut{{ID: q.Email + " " + q.Category}}
	}
	return out, orElse(err, f.call("OptOuts"))
}

func (f fakeSuppressions) OptOut(_ context.Context, accountID, id string) (*ent.CategoryOptOut, error) {
	for _, o := range someOptOuts() {
		if o.ID == id && o.AccountID == accountID {
			return o, f.call("OptOut")
		}
	}
	return nil, fault.NoSuch("category opt-out", id)
}

func TestSuppressionsAnswerEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ suppression(id: "sup_001") `+everything(t, "Suppression")+` suppressions(first: 1) `+
		everything(t, "SuppressionConnection")+
		` categoryOptOut(id: "opt_001") `+everything(t, "CategoryOptOut")+` categoryOptOuts(first: 1) `+
		everything(t, "CategoryOptOutConnection")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of suppressions got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "suppressions.json", indented(t, a.body))
}

func TestSuppressionFiltersAndCursors(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t,
		`{ suppressions(filter: {email: "bob@example.net", reason: BOUNCE}) { nodes { id } } categoryOptOuts(filter: {email: "bob@example.net", category: "News"}) { nodes { id } } }`, nil)
	same(t, "filters", map[string]any{
		"suppressions":    map[string]any{"nodes": []any{map[string]any{"id": "bob@example.net bounce"}}},
		"categoryOptOuts": map[string]any{"nodes": []any{map[string]any{"id": "bob@example.net News"}}},
	}, a.Data)
	a = s.ask(t, `{ suppressions { nodes { id } } categoryOptOuts { nodes { id } } }`, nil)
	same(t, "ada's", map[string]any{
		"suppressions":    map[string]any{"nodes": []any{map[string]any{"id": "sup_002"}, map[string]any{"id": "sup_001"}}},
		"categoryOptOuts": map[string]any{"nodes": []any{map[string]any{"id": "opt_002"}, map[string]any{"id": "opt_001"}}},
	}, a.Data)
	for _, list := range []string{"suppressions", "categoryOptOuts"} {
		for _, arguments := range []string{`after: "x"`, `after: ""`, `first: 0`, `first: 101`} {
			if a := s.ask(t, `{ `+list+`(`+arguments+`) { nodes { id } } }`, nil); a.codes() != "validation_error" {
				t.Errorf("%s(%s) got %s, want validation_error", list, arguments, a.body)
			}
		}
	}
}
