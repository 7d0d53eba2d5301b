package compat_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/storage/page"
)

// ownKeys accepts one key.
type ownKeys struct{}

func (ownKeys) Authenticate(_ context.Context, bearer string, _ netip.Addr) (accounts.Caller, error) {
	if bearer != "svc_good" {
		return accounts.Caller{}, fault.Unauthenticated()
	}
	return accounts.Caller{AccountID: "acc_1"}, nil
}

var cursors = page.NewCodec(make([]byte, 16))

// itemsAPI is an API with a list of the items 249 to 0, newest first, whose cursors are those of package page.
func itemsAPI(t *testing.T) http.Handler {
	t.Helper()
	list := page.List{Name: "items", AccountID: "acc_1"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer svc_good" {
			t.Errorf("our own API got the Authorization %q, want the key as a bearer", r.Header.Get("Authorization"))
		}
		switch r.URL.Path {
		case "/api/echo":
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, `{"body":%s,"key":%q}`, body, r.Header.Get("Idempotency-Key"))
		case "/api/refused":
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w,
				`{"error":{"message":"Invalid fields: a, b","code":"validation_error","details":{"b":"must be 2","a":"must be 1"}}}`)
		default:
			limit, err := strconv.Atoi(r.FormValue("limit"))
			from := 249
			if cursor := r.FormValue("cursor"); cursor != "" {
				var last string
				if last, err = cursors.Decode(list, cursor); err == nil {
					from, err = strconv.Atoi(last)
					from--
				}
			}
			if err != nil {
				t.Error(err)
			}
			var items []string
			for n := from; n >= 0 && len(items) < limit; n-- {
				items = append(items, strconv.Itoa(n))
			}
			last := from - len(items) + 1
			fmt.Fprintf(w, `{"items":[%s],"has_more":%t,"next_cursor":%q}`, strings.Join(items, ","), last > 0,
				cursors.Encode(list, strconv.Itoa(last)))
		}
	})
}

func newHandler(t *testing.T, routes ...compat.Route) http.Handler {
	t.Helper()
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return compat.New(compat.Options{API: itemsAPI(t), Keys: ownKeys{}, Budget: budget, Cursors: cursors,
		Logger: slog.New(slog.DiscardHandler)}, compat.Provider{Prefix: "/other", Key: compat.BearerKey, Routes: routes,
		Fail: func(r *compat.RefusalError) any { return map[string]any{"status": r.Status, "text": r.Message} }})
}

func ask(t *testing.T, h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer svc_good")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutesMatchInOrder(t *testing.T) {
	t.Parallel()
	name := func(name string) func(*compat.Call) (*compat.Response, error) {
		return func(c *compat.Call) (*compat.Response, error) { return compat.OK(name + " " + c.Param("id")) }
	}
	h := newHandler(t, compat.Route{Method: "GET", Path: "/things/special", Handle: name("special")},
		compat.Route{Method: "GET", Path: "/things/{id}", Handle: name("thing")},
		compat.Route{Method: "DELETE", Path: "/things/{id}", Handle: name("gone")},
		compat.Route{Path: "/old/{...}", Handle: compat.Refuse("Old things are")})
	for _, c := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"GET", "/other/things/special", 200, `"special "`},
		{"GET", "/other/things/7", 200, `"thing 7"`},
		{"GET", "/other/things/a%2Fb", 200, `"thing a/b"`},
		{"GET", "/other/things/export", 404, "No such object: export"}, // an operation of our own API
		{"DELETE", "/other/things/7", 200, `"gone 7"`},
		{"POST", "/other/things/7", 405, "use GET, DELETE"},
		{"GET", "/other/things", 404, "not supported"},
		{"GET", "/other/things/%2e%2e", 404, "not supported"},
		{"GET", "/other/things/7/more", 404, "not supported"},
		{"GET", "/other/old", 501, "Old things are not supported by Postrider."},
		{"PATCH", "/other/old/and/deep", 501, "Old things are not supported by Postrider."},
	} {
		got := ask(t, h, c.method, c.path, "")
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.text) {
			t.Errorf("%s %s got %d %s, want %d %s", c.method, c.path, got.Code, got.Body, c.status, c.text)
		}
	}
	if got := ask(t, h, "GET", "/other/old", "", "Authorization",
		"Bearer svc_bad"); got.Code != http.StatusUnauthorized {
		t.Errorf("a wrong key got %d %s, want 401 before anything else", got.Code, got.Body)
	}
}

func TestBodiesAreBoundedAndStrict(t *testing.T) {
	t.Parallel()
	h := newHandler(t, compat.Route{Method: "POST", Path: "/echo", Limit: 3 << 20,
		Handle: func(c *compat.Call) (*compat.Response, error) {
			var in struct {
				Name string `json:"name"`
			}
			if err := c.Decode(&in); err != nil {
				return nil, err
			}
			var out struct {
				Body struct{ Name string }
				Key  string
			}
			err := c.Do(compat.Request{Method: "POST", Path: "/echo", Body: in, Key: c.Header("Idempotency-Key")}, &out)
			if err != nil {
				return nil, err
			}
			return compat.OK(fmt.Sprint(len(out.Body.Name), " ", out.Key))
		}},
		compat.Route{Method: "POST", Path: "/refused", Handle: func(c *compat.Call) (*compat.Response, error) {
			return nil, c.Do(compat.Request{Method: "POST", Path: "/refused"}, nil)
		}})
	large := strings.Repeat("x", 2<<20) // more than is kept in memory
	for _, c := range []struct {
		path, body string
		status     int
		text       string
	}{
		{"/other/echo", `{"name":"abc"}`, 200, `"3 k"`},
		{"/other/echo", `{"name":"` + large + `"}`, 200, fmt.Sprintf(`"%d k"`, len(large))},
		{"/other/echo", `{"name":"` + large + large + `"}`, 413, "3145728"},
		{"/other/echo", `{"nane":"abc"}`, 400, "nane is not a known field"},
		{"/other/echo", `{"name":7}`, 400, "name cannot be a JSON number"},
		{"/other/echo", `{"name":"abc"} {}`, 400, "not valid JSON"},
		{"/other/echo", ``, 400, "not valid JSON"},
		{"/other/refused", ``, 400, "a must be 1; b must be 2"},
	} {
		got := ask(t, h, "POST", c.path, c.body, "Idempotency-Key", "k")
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.text) {
			t.Errorf("POST %s %.40s got %d %.200s, want %d %s", c.path, c.body, got.Code, got.Body, c.status, c.text)
		}
	}
	if got := ask(t, h, "POST", "/other/refused", ""); got.Header().Get("Retry-After") != "3" {
		t.Errorf("a refusal has the Retry-After %q, want that of our own API", got.Header().Get("Retry-After"))
	}
	for _, header := range [][2]string{{"Content-Type", "text/plain"}, {"Content-Encoding", "gzip"}} {
		if got := ask(t, h, "POST", "/other/echo", `{}`, header[:]...); got.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%s %s got %d, want 415", header[0], header[1], got.Code)
		}
	}
}

func TestListsPageByID(t *testing.T) {
	t.Parallel()
	even := func(n int) bool { return n%2 == 0 }
	for name, c := range map[string]struct {
		list compat.ListRequest
		keep func(int) bool
		want string // items, and whether there are more
	}{
		"first":                 {compat.ListRequest{Limit: 2}, nil, "[249 248] true"},
		"after":                 {compat.ListRequest{Limit: 2, Name: "items", After: "101"}, nil, "[100 99] true"},
		"after_without_cursors": {compat.ListRequest{Limit: 2, After: "101"}, nil, "[100 99] true"},
		"last":                  {compat.ListRequest{Limit: 5, Name: "items", After: "2"}, nil, "[1 0] false"},
		"before":                {compat.ListRequest{Limit: 2, Before: "101"}, nil, "[103 102] true"},
		"before_first_page":     {compat.ListRequest{Limit: 5, Before: "247"}, nil, "[249 248] false"},
		"selected":              {compat.ListRequest{Limit: 2}, even, "[248 246] true"},
		"selected_last":         {compat.ListRequest{Limit: 3, Name: "items", After: "3"}, even, "[2 0] false"},
		"before_unknown":        {compat.ListRequest{Limit: 2, Before: "1000"}, nil, "No such item: 1000"},
	} {
		c.list.Path, c.list.Member = "/items", "items"
		h := newHandler(t, compat.Route{Method: "GET", Path: "/items",
			Handle: func(call *compat.Call) (*compat.Response,
				error) {
				items, more, err := compat.Items(call, c.list, strconv.Itoa, c.keep)
				if err != nil {
					return nil, err
				}
				return compat.OK(fmt.Sprint(items, " ", more))
			}})
		if got := ask(t, h, "GET", "/other/items", ""); !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s: got %s, want %s", name, got.Body, c.want)
		}
	}
}

func TestPatternsAreThoseOfServeMux(t *testing.T) {
	t.Parallel()
	p := compat.Provider{Prefix: "/other", Routes: []compat.Route{{Method: "GET", Path: "/a/{id}"}, {Path: "/b/{...}"}}}
	if want := []string{"GET /other/a/{id}", "/other/b/"}; !slices.Equal(p.Patterns(), want) {
		t.Errorf("the patterns are %v, want %v", p.Patterns(), want)
	}
}
