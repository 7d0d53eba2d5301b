package unsubscribe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	shared "github.com/postrider/postrider/runtime/web/theme"
)

const form = "application/x-www-form-urlencoded"

// fakeLinks has three links, and records its calls.
type fakeLinks struct {
	mu    sync.Mutex
	fail  error
	asked []string
}

func (f *fakeLinks) Read(_ context.Context, token string) (suppression.Unsubscribe, error) {
	u := suppression.Unsubscribe{AccountID: "acc_1", EmailID: "msg_1", Email: "bob@xn--mnchen-3ya.de"}
	switch token {
	case "all":
	case "category":
		u.Category = `Product <news> & "more"`
	case "gone":
		u.EmailID = "msg_gone"
	case "broken":
		u.EmailID = "msg_broken"
	case "nameless":
		u.EmailID = "msg_nameless"
	case "hostile":
		u.EmailID, u.Category = "msg_hostile", hostile
	default:
		return suppression.Unsubscribe{}, &fault.Error{Kind: fault.NotFound, Message: "No such link"}
	}
	return u, nil
}

func (*fakeLinks) MovedPath(_ context.Context, u suppression.Unsubscribe) (string, error) {
	return Prefix + "signed-" + u.Category, nil
}

func (f *fakeLinks) Unsubscribe(_ context.Context, u suppression.Unsubscribe, everything bool, source string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	what := "category"
	if everything || u.Category == "" {
		what = "all"
	}
	f.asked = append(f.asked, what+" "+source)
	return f.fail
}

// hostile is a name that a sender could choose: markup, a value in our sentences, and characters that reverse the text
// direction.
const hostile = "\"><script>alert(1)</script>{email}\u202e\u2066 'evil'\u0000\u0007\n\n<b>Bank</b>"

func (*fakeLinks) Sender(_ context.Context, _, emailID string) (name, domain string, err error) {
	switch emailID {
	case "msg_gone":
		return "", "", fault.NoSuch("email", emailID)
	case "msg_broken":
		return "", "", errors.New("pq: secret detail")
	case "msg_nameless":
		return "", "example.com", nil
	case "msg_hostile":
		return hostile, "example.com", nil
	}
	return "Example Shop", "example.com", nil
}

func newPages(links *fakeLinks) http.Handler {
	return New(Options{Links: links, Senders: links, Logger: slog.New(slog.DiscardHandler)})
}

func ask(t *testing.T, h http.Handler, method, path, contentType, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	r.Header.Set("Origin", "https://webmail.example.org")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path, contentType, body string
		fail                            error
		status                          int
		asked                           string // "" for nothing
	}{
		"form_all":          {method: "GET", path: "/u/all", status: 200},
		"form_category":     {method: "GET", path: "/u/category", status: 200},
		"form_gone":         {method: "GET", path: "/u/gone", status: 200},
		"form_broken":       {method: "GET", path: "/u/broken", status: 200},
		"form_nameless":     {method: "GET", path: "/u/nameless", status: 200},
		"form_hostile":      {method: "GET", path: "/u/hostile", status: 200},
		"done_all":          {method: "POST", path: "/u/all", contentType: form, body: "choice=all", status: 200, asked: "all page"},
		"done_category":     {method: "POST", path: "/u/category", contentType: form, body: "choice=category", status: 200, asked: "category page"},
		"done_category_all": {method: "POST", path: "/u/category", contentType: form, body: "choice=all", status: 200, asked: "all page"},
		"one_click": {method: "POST", path: "/u/category", contentType: form,
			body: "List-Unsubscribe=One-Click", status: 200, asked: "category one_click"},
		"one_click_all": {method: "POST", path: "/u/all", contentType: form + "; charset=utf-8",
			body: "List-Unsubscribe=one-click", status: 200, asked: "all one_click"},
		"nothing_chosen":   {method: "POST", path: "/u/category", contentType: form, body: "choice=maybe", status: 400},
		"no_body":          {method: "POST", path: "/u/all", status: 400},
		"chosen_in_query":  {method: "POST", path: "/u/all?choice=all&List-Unsubscribe=One-Click", contentType: form, status: 400},
		"json":             {method: "POST", path: "/u/all", contentType: "application/json", body: `{"List-Unsubscribe":"One-Click"}`, status: 400},
		"broken_form":      {method: "POST", path: "/u/all", contentType: form, body: "choice=%zz", status: 400},
		"broken_multipart": {method: "POST", path: "/u/all", contentType: "multipart/form-data; boundary=x", body: "--x\r\nnonsense", status: 400},
		"too_large":        {method: "POST", path: "/u/all", contentType: form, body: "choice=all&x=" + strings.Repeat("x", bodyLimit), status: 413},
		"forged":           {method: "GET", path: "/u/nonsense", status: 404},
		"forged_post":      {method: "POST", path: "/u/nonsense", contentType: form, body: "List-Unsubscribe=One-Click", status: 404},
		"no_token":         {method: "GET", path: "/u/", status: 404},
		"more_path":        {method: "GET", path: "/u/all/", status: 404},
		"method":           {method: "DELETE", path: "/u/all", status: 405},
		"away": {method: "POST", path: "/u/all", contentType: form, body: "choice=all",
			fail: fault.DatabaseUnavailable(io.EOF), status: 503, asked: "all page"},
		"defect": {method: "POST", path: "/u/all", contentType: form, body: "choice=all",
			fail: errors.New("pq: secret detail"), status: 500, asked: "all page"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			links := &fakeLinks{fail: c.fail}
			w := ask(t, newPages(links), c.method, c.path, c.contentType, c.body)
			if w.Code != c.status {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
			if got := strings.Join(links.asked, ", "); got != c.asked {
				t.Errorf("asked for %q, want %q", got, c.asked)
			}
			header := w.Result().Header
			if header.Get("Set-Cookie") != "" || header.Get("Location") != "" ||
				header.Get("Content-Type") != "text/html; charset=utf-8" ||
				header.Get("Referrer-Policy") != "no-referrer" || header.Get("Cache-Control") != "no-store" ||
				header.Get("X-Robots-Tag") != "noindex, nofollow" ||
				header.Get("Content-Security-Policy") != (look{}).contentPolicy() ||
				header.Get("Vary") != "Accept-Language" || header.Get("Content-Language") != "en" {
				t.Errorf("headers %v", header)
			}
			if retry := header.Get("Retry-After"); (retry != "") != (c.status >= 500) {
				t.Errorf("Retry-After %q with %d", retry, c.status)
			}
			_, body, _ := strings.Cut(w.Body.String(), "<body>")
			expect.Golden(t, name+".html", body)
		})
	}
}

// RFC 8058 section 3.2 has both encodings.
func TestOneClickAsMultipart(t *testing.T) {
	t.Parallel()
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	if err := errors.Join(parts.WriteField("List-Unsubscribe", "One-Click"), parts.Close()); err != nil {
		t.Fatal(err)
	}
	links := &fakeLinks{}
	w := ask(t, newPages(links), http.MethodPost, "/u/category", parts.FormDataContentType(), body.String())
	if w.Code != http.StatusOK || !cmp.Equal(links.asked, []string{"category one_click"}) {
		t.Errorf("%d, asked for %q", w.Code, links.asked)
	}
}

func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	links := &fakeLinks{}
	h := newPages(links)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut,
		http.MethodPatch} {
		for _, query := range []string{"", "?List-Unsubscribe=One-Click", "?choice=all"} {
			ask(t, h, method, "/u/all"+query, form, "List-Unsubscribe=One-Click")
		}
	}
	if links.asked != nil {
		t.Errorf("asked for %q", links.asked)
	}
}

// The page must work without external resources, and its policy must allow its own.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	body := ask(t, newPages(&fakeLinks{}), http.MethodGet, "/u/category", "", "").Body.String()
	for _, word := range []string{"<script", "<img", "<link", "src=", "href=", "javascript:", "@import", "url(",
		`style="`} {
		if strings.Contains(body, word) {
			t.Errorf("the page has %s", word)
		}
	}
	for _, word := range []string{`<html lang="en">`, `name="viewport"`, `content="noindex, nofollow"`, "<title>",
		"<h1>", "bob@münchen.de", "example.com", "Product &lt;news&gt;"} {
		if !strings.Contains(body, word) {
			t.Errorf("the page has no %s", word)
		}
	}
	_, rest, _ := strings.Cut(body, "<style>")
	inside, _, _ := strings.Cut(rest, "</style>")
	if !strings.Contains((look{}).contentPolicy(), shared.Source(inside)) {
		t.Error("the policy does not allow the page's style")
	}
}

func TestManyAtOnceWaitTheirTurn(t *testing.T) {
	t.Parallel()
	links := &fakeLinks{}
	h := newPages(links)
	var wait sync.WaitGroup
	for range 4 * atOnce {
		wait.Go(func() {
			if w := ask(t, h, http.MethodPost, "/u/all", form, "choice=all"); w.Code != http.StatusOK {
				t.Errorf("unsubscribing next to others got %d, want 200", w.Code)
			}
		})
	}
	wait.Wait()
	if len(links.asked) != 4*atOnce {
		t.Errorf("%d of %d were done", len(links.asked), 4*atOnce)
	}
}

func FuzzPost(f *testing.F) {
	f.Add("all", form, "List-Unsubscribe=One-Click")
	f.Add("category", "multipart/form-data; boundary=x",
		"--x\r\nContent-Disposition: form-data; name=\"choice\"\r\n\r\nall\r\n--x--\r\n")
	f.Add("x", "text/plain", "")
	f.Fuzz(func(t *testing.T, token, contentType, body string) {
		links := &fakeLinks{}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/u/x", strings.NewReader(body))
		r.URL = &url.URL{Path: Prefix + token}
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		newPages(links).ServeHTTP(w, r)
		if (w.Code == http.StatusOK) != (len(links.asked) == 1) || w.Code >= http.StatusInternalServerError {
			t.Fatalf("%d, asked for %q", w.Code, links.asked)
		}
	})
}

// Requests of an account that has moved are passed on with a token that the other installation accepts.
func TestRequestsOfMovedAccountArePassedOn(t *testing.T) {
	t.Parallel()
	var got []string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%s %s %s %v %q %v", r.Method, r.URL, body, r.Header[admission.HeaderForwarded], r.Header.Get("Cookie"), err))
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(target.Close)
	links := &fakeLinks{}
	h := New(Options{Links: links, Logger: slog.New(slog.DiscardHandler),
		Residence: func(context.Context, string) (accounts.Residence, error) {
			return accounts.Residence{MovedTo: target.URL}, nil
		}})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := ask(t, h, method, "/u/all?x=1", "", "")
		if w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != target.URL+"/u/signed-" {
			t.Errorf("%s got %d %v, want a redirect to the signed link", method, w.Code, w.Header())
		}
	}
	post := func(hops string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/u/all", strings.NewReader("List-Unsubscribe=One-Click"))
		r.Header.Set("Content-Type", form)
		r.Header.Set("Cookie", "a=b")
		r.Header.Set(admission.HeaderForwarded, hops)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, hops := range []string{"1", "-9"} { // a client cannot begin below 0
		if w := post(hops); w.Code != http.StatusTeapot {
			t.Errorf("a POST after %s hops got %d, want the response of the other installation", hops, w.Code)
		}
	}
	for _, hops := range []string{strconv.Itoa(maxHops), "99999999999999999999"} {
		if w := post(hops); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("a POST after %s hops got %d %v, want 503", hops, w.Code, w.Header())
		}
	}
	want := []string{
		`POST /u/signed- List-Unsubscribe=One-Click [2] "" <nil>`,
		`POST /u/signed- List-Unsubscribe=One-Click [1] "" <nil>`,
	}
	if !cmp.Equal(want, got) || links.asked != nil {
		t.Errorf("the other installation received %q, want %q; this one unsubscribed %q", got, want, links.asked)
	}
}
