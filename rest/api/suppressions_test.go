package api_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api"
	restsuppressions "github.com/postrider/postrider/rest/suppressions"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

const (
	suppressionID = "sup_01kf0m4w7he6x8q2v5b3n9c1ta"
	optOutID      = "opt_01kf0m4w7he6x8q2v5b3n9c1ta"
)

// fakeSuppression validates addresses like the real service, and records its calls.
type fakeSuppression struct {
	fail    error // returned instead, if set
	erased  bool
	filter  suppression.Filter
	optOuts suppression.OptOutFilter
	added   []string
	removed []string
	// of the list; nil: two of one each
	pages func(ctx context.Context, cursor string) (page.Page[*ent.Suppression], error)
}

func (f *fakeSuppression) sample() *ent.Suppression {
	address, about := "bob@example.net", emailID
	s := &ent.Suppression{ID: suppressionID, Email: &address, Reason: "bounce", EmailID: &about,
		CreatedAt: time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)}
	if f.erased {
		s.Email, s.EmailID = nil, nil
	}
	return s
}

func (f *fakeSuppression) Add(ctx context.Context, account string,
	in suppression.NewSuppression) (*ent.Suppression, error) {
	if f.fail != nil || account != accountID {
		return nil, f.fail
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	f.added = append(f.added, in.Email+" "+in.EmailID)
	if in.Keep != nil {
		return f.sample(), in.Keep(ctx, nil, f.sample())
	}
	return f.sample(), nil
}

func (f *fakeSuppression) AddBatch(ctx context.Context, account string,
	in suppression.BatchInput) ([]suppression.BatchItem, error) {
	if f.fail != nil || account != accountID {
		return nil, f.fail
	}
	items := make([]suppression.BatchItem, len(in.Emails))
	for i, email := range in.Emails {
		if items[i].Err = (suppression.NewSuppression{Email: email}).Validate(); items[i].Err == nil {
			items[i].Suppression, items[i].Added = f.sample(), !slices.Contains(f.added, email)
			f.added = append(f.added, email)
		}
	}
	if in.Keep != nil {
		return items, in.Keep(ctx, nil, items)
	}
	return items, nil
}

func (f *fakeSuppression) List(ctx context.Context, _ string,
	filter suppression.Filter) (page.Page[*ent.Suppression], error) {
	f.filter = filter
	if f.pages != nil {
		return f.pages(ctx, filter.Cursor)
	}
	if filter.Cursor == "next" {
		return page.Page[*ent.Suppression]{Items: []*ent.Suppression{f.sample()}}, f.fail
	}
	return page.Page[*ent.Suppression]{Items: []*ent.Suppression{f.sample()}, HasMore: true, NextCursor: "next"}, f.fail
}

func (f *fakeSuppression) Get(_ context.Context, _, idOrAddress string) (*ent.Suppression, error) {
	if idOrAddress != suppressionID && idOrAddress != "bob+x@example.net" {
		return nil, fault.NoSuch("suppression", idOrAddress)
	}
	return f.sample(), f.fail
}

func (f *fakeSuppression) Remove(ctx context.Context, account, idOrAddress string) error {
	_, err := f.Get(ctx, account, idOrAddress)
	return err
}

func (f *fakeSuppression) RemoveBatch(ctx context.Context, account string,
	in suppression.RemoveInput) ([]suppression.RemovedItem, error) {
	if f.fail != nil || account != accountID {
		return nil, f.fail
	}
	items := make([]suppression.RemovedItem, len(in.Emails)+len(in.IDs))
	for i, name := range append(in.IDs, in.Emails...) {
		switch name {
		case suppressionID, "bob@example.net":
			items[i].Suppression = f.sample()
		case "nonsense", "":
			items[i].Err = fault.InvalidField("email", "has no @")
		}
	}
	f.removed = append(f.removed, append(in.IDs, in.Emails...)...)
	if in.Keep != nil {
		return items, in.Keep(ctx, nil, items)
	}
	return items, nil
}

func (f *fakeSuppression) OptOuts(_ context.Context, _ string,
	filter suppression.OptOutFilter) (page.Page[*ent.CategoryOptOut], error) {
	f.optOuts = filter
	row, err := f.OptOut(context.Background(), "", optOutID)
	return page.Page[*ent.CategoryOptOut]{Items: []*ent.CategoryOptOut{row}}, err
}

func (f *fakeSuppression) OptOut(_ context.Context, _, id string) (*ent.CategoryOptOut, error) {
	if id != optOutID {
		return nil, fault.NoSuch("category opt-out", id)
	}
	address, about := "bob@example.net", emailID
	return &ent.CategoryOptOut{ID: optOutID, Email: &address, Category: "product-news", CategoryLabel: "Product news",
		Source: "one_click", EmailID: &about,
		CreatedAt: time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)}, f.fail
}

func (f *fakeSuppression) RemoveOptOut(ctx context.Context, account, id string) error {
	_, err := f.OptOut(ctx, account, id)
	return err
}

func newSuppressionBundle(t *testing.T, f *fakeSuppression) *bundle {
	t.Helper()
	return newBundle(t, func(o *api.Options) { o.Routes = []api.Routes{restsuppressions.Routes(f, newTurns())} })
}

func TestSuppressionAnswers(t *testing.T) {
	t.Parallel()
	one := "/api/suppressions/" + suppressionID
	many := `{"emails":["` + strings.Repeat(`a@b.co","`, suppression.MaxBatch) + `x"]}`
	for name, c := range map[string]struct {
		request request
		fake    fakeSuppression
		status  int
	}{
		"suppression_added": {request: request{method: "POST", path: "/api/suppressions",
			body: `{"email":"bob@example.net","email_id":"` + emailID + `"}`}, status: 200},
		"suppression_bad": {request: request{method: "POST", path: "/api/suppressions",
			body: `{"email":"Bob <bob@example.net>","email_id":"dom_1"}`}, status: 400},
		"suppression_shape": {request: request{method: "POST", path: "/api/suppressions",
			body: `{"emial":"bob@example.net","email_id":5}`}, status: 400},
		"suppression_empty": {request: request{method: "POST", path: "/api/suppressions", body: `{}`}, status: 400},
		"suppression_add_scope": {request: request{method: "POST", path: "/api/suppressions",
			body: `{"email":"bob@example.net"}`, key: "sending"}, status: 403},
		"suppression_add_away": {request: request{method: "POST", path: "/api/suppressions",
			body: `{"email":"bob@example.net"}`}, fake: fakeSuppression{fail: fault.DatabaseUnavailable(io.EOF)},
			status: 503},
		"suppression":                {request: request{method: "GET", path: one, key: "read"}, status: 200},
		"suppression_erased":         {request: request{method: "GET", path: one}, fake: fakeSuppression{erased: true}, status: 200},
		"suppression_by_address":     {request: request{method: "GET", path: "/api/suppressions/bob%2Bx%40example.net"}, status: 200},
		"suppression_unknown":        {request: request{method: "GET", path: "/api/suppressions/sup_x"}, status: 404},
		"suppression_garbage":        {request: request{method: "GET", path: "/api/suppressions/%00%ff"}, status: 404},
		"suppression_deleted":        {request: request{method: "DELETE", path: one}, status: 200},
		"suppression_delete_unknown": {request: request{method: "DELETE", path: "/api/suppressions/ann@example.net"}, status: 404},
		"suppression_delete_scope":   {request: request{method: "DELETE", path: one, key: "read"}, status: 403},
		"suppressions": {request: request{method: "GET",
			path: "/api/suppressions?email=bob@example.net&reason=bounce&limit=1&cursor=c"}, status: 200},
		"suppressions_parameters": {request: request{method: "GET", path: "/api/suppressions?limit=0&reson=x"}, status: 400},
		"suppressions_reason":     {request: request{method: "GET", path: "/api/suppressions?limit=0&reason=spite"}, status: 400},
		"suppressions_scope":      {request: request{method: "GET", path: "/api/suppressions", key: "sending"}, status: 403},
		"suppression_batch": {request: request{method: "POST", path: "/api/suppressions/batch",
			body: `{"emails":["bob@example.net","nonsense","bob@example.net",""]}`}, status: 200},
		"suppression_batch_shape": {request: request{method: "POST", path: "/api/suppressions/batch",
			body: `{"emails":["bob@example.net",5,null],"email":1}`}, status: 400},
		"suppression_batch_text":  {request: request{method: "POST", path: "/api/suppressions/batch", body: `{"emails":"bob@example.net"}`}, status: 400},
		"suppression_batch_empty": {request: request{method: "POST", path: "/api/suppressions/batch", body: `{"emails":[]}`}, status: 400},
		"suppression_batch_none":  {request: request{method: "POST", path: "/api/suppressions/batch", body: `{}`}, status: 400},
		"suppression_batch_large": {request: request{method: "POST", path: "/api/suppressions/batch", body: many}, status: 400},
		"suppression_batch_scope": {request: request{method: "POST", path: "/api/suppressions/batch",
			body: `{"emails":["a@b.co"]}`, key: "read"}, status: 403},
		"suppression_batch_deleted": {request: request{method: "POST", path: "/api/suppressions/batch/delete",
			body: `{"emails":["bob@example.net","ann@example.net","nonsense"]}`}, status: 200},
		"suppression_batch_deleted_ids": {request: request{method: "POST", path: "/api/suppressions/batch/delete",
			body: `{"ids":["` + suppressionID + `","sup_x"]}`}, status: 200},
		"suppression_batch_delete_both": {request: request{method: "POST", path: "/api/suppressions/batch/delete",
			body: `{"ids":["` + suppressionID + `"],"emails":["bob@example.net"],"all":true}`}, status: 400},
		"suppression_batch_delete_none": {request: request{method: "POST", path: "/api/suppressions/batch/delete", body: `{}`},
			status: 400},
		"suppression_batch_delete_empty": {request: request{method: "POST", path: "/api/suppressions/batch/delete",
			body: `{"ids":[]}`}, status: 400},
		"suppression_batch_delete_large": {request: request{method: "POST", path: "/api/suppressions/batch/delete", body: many},
			status: 400},
		"suppression_batch_delete_scope": {request: request{method: "POST", path: "/api/suppressions/batch/delete",
			body: `{"emails":["a@b.co"]}`, key: "read"}, status: 403},
		"opt_out":                {request: request{method: "GET", path: "/api/category-opt-outs/" + optOutID}, status: 200},
		"opt_out_unknown":        {request: request{method: "GET", path: "/api/category-opt-outs/opt_x"}, status: 404},
		"opt_out_deleted":        {request: request{method: "DELETE", path: "/api/category-opt-outs/" + optOutID}, status: 200},
		"opt_out_delete_unknown": {request: request{method: "DELETE", path: "/api/category-opt-outs/opt_01kf0m4w7he6x8q2v5b3n9c1tb"}, status: 404},
		"opt_out_delete_scope":   {request: request{method: "DELETE", path: "/api/category-opt-outs/" + optOutID, key: "sending"}, status: 403},
		"opt_outs": {request: request{method: "GET",
			path: "/api/category-opt-outs?email=bob@example.net&category=Product%20news"}, status: 200},
		"opt_outs_parameters": {request: request{method: "GET", path: "/api/category-opt-outs?reason=x&limit=101"}, status: 400},
		"opt_outs_method":     {request: request{method: "POST", path: "/api/category-opt-outs", body: `{}`}, status: 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newSuppressionBundle(t, &c.fake).do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d", got.status, c.status)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestSuppressionFiltersArrive(t *testing.T) {
	t.Parallel()
	f := &fakeSuppression{}
	b := newSuppressionBundle(t, f)
	b.do(t, request{method: "GET", path: "/api/suppressions?email=bob@example.net&reason=bounce&limit=7&cursor=c"})
	b.do(t, request{method: "GET", path: "/api/category-opt-outs?email=bob@example.net&category=News&limit=8&cursor=d"})
	if diff := cmp.Diff(suppression.Filter{Request: page.Request{Limit: 7, Cursor: "c"}, Email: "bob@example.net",
		Reason: "bounce"}, f.filter); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(suppression.OptOutFilter{Request: page.Request{Limit: 8, Cursor: "d"}, Email: "bob@example.net",
		Category: "News"}, f.optOuts); diff != "" {
		t.Error(diff)
	}
}

func TestSuppressingUnderAKeyHappensOnce(t *testing.T) {
	t.Parallel()
	f := &fakeSuppression{}
	b := newSuppressionBundle(t, f)
	for path, body := range map[string]string{"/api/suppressions": `{"email":"bob@example.net"}`,
		"/api/suppressions/batch":        `{"emails":["carol@example.net","dave"]}`,
		"/api/suppressions/batch/delete": `{"emails":["carol@example.net","dave"]}`} {
		q := request{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": path}}
		first, second := b.do(t, q), b.do(t, q)
		if first.status != 200 || second.body != first.body || second.header.Get("Idempotent-Replayed") != "true" ||
			first.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: %+v, then %+v", path, first, second)
		}
		q.body = strings.ReplaceAll(body, "example.net", "example.org")
		if other := b.do(t, q); other.status != 409 {
			t.Errorf("%s, another body: %d %s", path, other.status, other.body)
		}
	}
	if len(f.added) != 2 || len(f.removed) != 2 {
		t.Errorf("added %q and removed %q, want two of each", f.added, f.removed)
	}
}
