package devinbox

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	inbox "github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/runtime/base/fault"
)

const hostile = `"><script>alert(1)</script>`

const sample = "From: =?utf-8?q?Gr=C3=BCn?= <gruen@dev.test>\r\n" +
	"To: bob@example.net\r\n" +
	"Subject: \"><script>alert(1)</script>\r\n" +
	"X-Evil: <img src=x onerror=alert(1)>\r\n" +
	"DKIM-Signature: v=1; a=rsa-sha256; d=dev.test; s=pr1;\r\n b=abc\r\n" +
	"MIME-Version: 1.0\r\n" +
	"Content-Type: multipart/mixed; boundary=outer\r\n\r\n" +
	"--outer\r\nContent-Type: multipart/related; boundary=inner\r\n\r\n" +
	"--inner\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" +
	"<html><head><title>x</title></head><body onload=\"alert(1)\"><script>alert(2)</script><img src=\"cid:logo%40x\"><img src='CID:gone'>" +
	"<img src=\"https://tracker.example/p.gif\"></body></html>\r\n" +
	"--inner\r\nContent-Type: image/png\r\nContent-ID: <logo@x>\r\nContent-Disposition: inline; filename=logo.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--inner--\r\n" +
	"--outer\r\nContent-Type: text/html\r\nContent-Disposition: attachment; filename=\"ev\\\"il.html\"\r\n\r\n<script>alert(3)</script>\r\n--outer--\r\n"

// fakeInbox holds emails, newest last.
type fakeInbox struct {
	mails  []*ent.CapturedMail
	wanted []inbox.LatestQuery // arguments of Latest

	messages []*ent.CapturedSMS // newest first
	fail     error              // error that Latest returns
}

func (f *fakeInbox) List(_ context.Context, q inbox.MailQuery) ([]inbox.Line, error) {
	var found []inbox.Line
	for _, m := range slices.Backward(f.mails) {
		fits := q.To == "" || slices.ContainsFunc(m.RcptTo, func(to string) bool { return strings.Contains(to, q.To) })
		if fits && (q.Before == 0 || m.ID < q.Before) && len(found) < q.Limit {
			found = append(found, inbox.Line{CapturedMail: m, Snippet: "Your code is 1234 " + hostile})
		}
	}
	return found, nil
}

func (f *fakeInbox) Latest(_ context.Context, w inbox.LatestQuery) (*ent.CapturedMail, error) {
	f.wanted = append(f.wanted, w)
	if f.fail != nil {
		return nil, f.fail
	}
	return f.mails[0], w.Validate()
}

func (f *fakeInbox) Get(_ context.Context, id int64) (*ent.CapturedMail, error) {
	i, found := slices.BinarySearchFunc(f.mails, id,
		func(m *ent.CapturedMail, id int64) int { return cmp.Compare(m.ID, id) })
	if !found {
		return nil, fault.NoSuch("captured mail", "x")
	}
	return f.mails[i], nil
}

func (f *fakeInbox) Texts(_ context.Context, q inbox.MailQuery) ([]*ent.CapturedSMS, error) {
	var found []*ent.CapturedSMS
	for _, m := range f.messages {
		if strings.Contains(m.To, q.To) && (q.Before == 0 || m.ID < q.Before) && len(found) < q.Limit {
			found = append(found, m)
		}
	}
	return found, nil
}

func (f *fakeInbox) Clear(context.Context) error { f.mails, f.messages = nil, nil; return nil }

func newInbox(n int) *fakeInbox {
	f := &fakeInbox{}
	for i := range n {
		f.mails = append(f.mails, &ent.CapturedMail{ID: int64(i + 1), ReceivedAt: time.Now(),
			MailFrom: "bounce@dev.test", RcptTo: []string{"bob@example.net", hostile},
			From: "Grün <gruen@dev.test>", Subject: hostile, Size: len(sample), Raw: []byte(sample)})
	}
	f.mails = append(f.mails, &ent.CapturedMail{ID: int64(n + 1), ReceivedAt: time.Now(),
		RcptTo: []string{"carol@example.org"}, Raw: []byte("not a mail \xff at all")})
	return f
}

func get(t *testing.T, h http.Handler, path string, change ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8080"+path, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func pagesOver(f *fakeInbox) http.Handler { return New(f, slog.New(slog.DiscardHandler), "dev.local") }

func TestPagesEscapeWhatStrangersWrote(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(1))
	for path, want := range map[string]string{
		"/dev/inbox":         "Grün",
		"/dev/inbox?limit=1": "Your code is 1234",
		"/dev/inbox/":        "carol@example.org",
		"/dev/inbox?to=%22%3E%3Cscript%3Ealert(1)%3C/script%3E": "Grün",
		"/dev/inbox/1":              `src="/dev/inbox/1/html"`,
		"/dev/inbox/1?view=text":    `aria-current="page"`,
		"/dev/inbox/1?view=headers": "X-Evil",
		"/dev/inbox/1?view=source":  "boundary=outer",
		"/dev/inbox/2":              "not a mail",
	} {
		response, body := get(t, h, path)
		if response.StatusCode != 200 || !strings.Contains(body, want) || !strings.Contains(body, "Development mode") {
			t.Errorf("%s: %d without %q:\n%s", path, response.StatusCode, want, body)
		}
		if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") {
			t.Errorf("%s lets html through:\n%s", path, body)
		}
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

func TestSignatureIsShown(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(1))
	if _, body := get(t, h, "/dev/inbox/1"); !strings.Contains(body, "signed by dev.test, selector pr1, rsa-sha256") {
		t.Error(body)
	}
	if _, body := get(t, h, "/dev/inbox/2"); !strings.Contains(body, "not signed") {
		t.Error(body)
	}
}

func TestHTMLStandsInASandbox(t *testing.T) {
	t.Parallel()
	response, body := get(t, pagesOver(newInbox(1)), "/dev/inbox/1/html")
	policy := response.Header.Get("Content-Security-Policy")
	for _, want := range []string{"sandbox", "default-src 'none'", "img-src data:"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	for _, banned := range []string{"allow-scripts", "allow-same-origin", "script-src", "http"} {
		if strings.Contains(policy, banned) {
			t.Errorf("policy %q has %q", policy, banned)
		}
	}
	for _, want := range []string{`<img src="data:image/png;base64,iVBORw0KGgo=">`, `<img src='CID:gone'>`,
		`<head><base target="_blank">`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if response, _ := get(t, pagesOver(newInbox(1)), "/dev/inbox/2/html"); response.StatusCode != 404 {
		t.Errorf("html of a mail without: %d", response.StatusCode)
	}
}

func TestFilesAreForSaving(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(1))
	_, page := get(t, h, "/dev/inbox/1")
	for _, want := range []string{"/dev/inbox/1/files/0", "/dev/inbox/1/files/1", "logo.png"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	found := false
	for _, path := range []string{"/dev/inbox/1/files/0", "/dev/inbox/1/files/1", "/dev/inbox/1/source"} {
		response, body := get(t, h, path)
		if !strings.HasPrefix(response.Header.Get("Content-Disposition"), "attachment") ||
			response.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(response.Header.Get("Content-Security-Policy"), "sandbox;") {
			t.Errorf("%s has the header %v, want an attachment that no browser shows", path, response.Header)
		}
		found = found || strings.TrimSpace(body) == "<script>alert(3)</script>"
	}
	if !found {
		t.Error("the attachment's content is not among the files")
	}
	if _, source := get(t, h, "/dev/inbox/1/source"); source != sample {
		t.Error("the source is not what was received")
	}
}

func TestJSONForScripts(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(3))
	var list struct {
		Mails   []map[string]any
		HasMore bool `json:"has_more"`
	}
	response, body := get(t, h, "/dev/inbox.json?to=bob&limit=2")
	if err := json.Unmarshal([]byte(body), &list); err != nil ||
		response.Header.Get("Content-Type") != "application/json" {
		t.Fatal(err, response.Header)
	}
	if len(list.Mails) != 2 || !list.HasMore || list.Mails[0]["id"] != 3.0 || list.Mails[0]["url"] != "/dev/inbox/3" ||
		list.Mails[0]["snippet"] != "Your code is 1234 "+hostile {
		t.Errorf("list %s", body)
	}
	if _, body := get(t, h, "/dev/inbox.json?to=nobody"); !strings.Contains(body, `"mails": []`) {
		t.Errorf("empty list %s", body)
	}
	_, body = get(t, h, "/dev/inbox/1/json")
	var one struct {
		Mail struct {
			HTML        string
			Headers     []struct{ Name, Value string }
			Attachments []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(body), &one); err != nil || !strings.Contains(one.Mail.HTML, "cid:logo") ||
		len(one.Mail.Attachments) != 2 || len(one.Mail.Headers) < 5 {
		t.Errorf("mail %s (%v)", body, err)
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(60))
	_, first := get(t, h, "/dev/inbox")
	if !strings.Contains(first, `href="/dev/inbox?before=12"`) || strings.Contains(first, `href="/dev/inbox/11"`) {
		t.Error("the first page does not end at mail 12")
	}
	_, second := get(t, h, "/dev/inbox?before=12")
	if !strings.Contains(second, `href="/dev/inbox/11"`) || strings.Contains(second, "Older") ||
		!strings.Contains(second, `data-watch="false"`) {
		t.Error("the second page is not the rest")
	}
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(1))
	for path, want := range map[string]int{"/dev/inbox/0": 404, "/dev/inbox/x": 404, "/dev/inbox/99": 404,
		"/dev/inbox/99999999999999999999": 404, "/dev/inbox/1/files/9": 404,
		"/dev/inbox/1/files/-1": 404, "/dev/inbox/1/nothing": 404, "/dev/inbox?limit=0": 400,
		"/dev/inbox?before=-1": 400, "/dev/inbox?to=%00": 400, "/dev/inbox.json?to=%ff": 400, "/dev/inbox.json?lmit=1": 400, "/dev/inbox/%ff": 404} {
		if response, body := get(t, h, path); response.StatusCode != want {
			t.Errorf("%s: got status %d and %s, want %d", path, response.StatusCode, body, want)
		}
	}
}

func TestHostsThatStrangersCanPointHereAreRefused(t *testing.T) {
	t.Parallel()
	h := pagesOver(newInbox(1))
	for host, allowed := range map[string]bool{"localhost:8080": true, "LOCALHOST": true, "app.localhost": true,
		"127.0.0.1": true, "127.0.0.1:8080": true, "[::1]:8080": true, "[::1]": true,
		"192.168.1.5:80": true, "dev.local:8080": true, "evil.example:8080": false, "localhost.evil.example": false,
		"evillocalhost": false, "": false, "127.0.0.1.evil.example": false} {
		response, body := get(t, h, "/dev/inbox", func(r *http.Request) { r.Host = host })
		if (response.StatusCode == 200) != allowed {
			t.Errorf("the host %q got status %d, want it allowed: %t", host, response.StatusCode, allowed)
		}
		if !allowed && strings.Contains(body, "Grün") {
			t.Errorf("%q sees mail", host)
		}
	}
}

func TestOtherSitesCannotClear(t *testing.T) {
	t.Parallel()
	f := newInbox(1)
	h := pagesOver(f)
	clearFrom := func(origin string) (*http.Response, string) {
		return get(t, h, "/dev/inbox/clear", func(r *http.Request) {
			r.Method = http.MethodPost
			r.Header.Set("Origin", origin)
		})
	}
	if response, _ := clearFrom("https://evil.example"); response.StatusCode != 403 || len(f.mails) == 0 {
		t.Errorf("another site: %d, %d mails left", response.StatusCode, len(f.mails))
	}
	if response, _ := clearFrom("http://127.0.0.1:8080"); response.StatusCode != 303 || len(f.mails) != 0 {
		t.Errorf("our own page: %d, %d mails left", response.StatusCode, len(f.mails))
	}
}

// In a query, + means a space, but an address contains none.
func TestListOfAddressWithPlus(t *testing.T) {
	t.Parallel()
	f := newInbox(3)
	f.mails[1].RcptTo = []string{"bob+1@example.net"}
	for _, to := range []string{"bob+1@example.net", "bob%2B1@example.net"} {
		if _, body := get(t, pagesOver(f), "/dev/inbox.json?to="+to); strings.Count(body, `"id"`) != 1 {
			t.Errorf("to=%s lists %s, want one mail", to, body)
		}
	}
}
