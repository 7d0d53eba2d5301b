package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// sentEmail is an email of the source with its links, as paths, and return paths.
type sentEmail struct {
	id                       string
	click, open, unsubscribe string
	bounces, complaints      string // return paths of two recipients; a third one unsubscribes
}

// sendWithLinks sends an email to three recipients with the prefixes news, lost and cross.
func sendWithLinks(t *testing.T, source *harness.App, suffix string) (e sentEmail) {
	t.Helper()
	e.id = send(t, source, strings.ReplaceAll(`{"from":"ada@dev.test","to":["news-X@example.net","lost-X@example.net","cross-X@example.net"],
		"subject":"News","unsubscribe":true,"html":"<body><p>See <a href=\"https://shop.example/r?a=1\">it</a>.</p></body>"}`, "X", suffix))
	unsubscribe := linkIn(t, source, e.id)
	html := awaitMessage(t, source, e.id).HTML
	for into, found := range map[*string][]string{&e.click: clickLink.FindStringSubmatch(html),
		&e.open: pixelLink.FindStringSubmatch(html), &e.unsubscribe: {"", unsubscribe}} {
		if found == nil {
			t.Fatalf("a link is missing in %s", html)
		}
		*into = strings.TrimPrefix(found[1], source.BaseURL)
	}
	e.bounces = senderOf(t, source, "lost-"+suffix+"@example.net")
	e.complaints = senderOf(t, source, "cross-"+suffix+"@example.net")
	return e
}

// browse opens a link like a browser that follows redirects between installations.
func browse(t *testing.T, link string, apps ...*harness.App) *http.Response {
	t.Helper()
	for range 5 {
		var to *harness.App
		for _, app := range apps {
			if strings.HasPrefix(link, app.BaseURL+"/") {
				to = app
			}
		}
		if to == nil {
			t.Fatalf("redirected to %s", link)
		}
		res := follow(t, to, http.MethodGet, link, browser)
		next := res.Header.Get("Location")
		if next == "" || strings.HasPrefix(next, "https://shop.example/") {
			return res
		}
		link = next
	}
	t.Fatalf("%s leads to endless redirects", link)
	return nil
}

// Links, bounces and complaints of emails that the source has sent work at a target with another master key: those that
// arrive at the source, and those that arrive at the target.
func TestLinksAndReportsOfMovedAccount(t *testing.T) {
	t.Parallel()
	source, target := twoInstallations(t)
	trackEverything(t, source)
	emails := map[*harness.App]sentEmail{source: sendWithLinks(t, source, "s"), target: sendWithLinks(t, source, "t")}
	probe := sendWithLinks(t, source, "p")
	if err := importAccount(t, target, targetKey, moveOut(t, source)); err != nil {
		t.Fatal(err)
	}
	startMove(t, source, target, finishMove(t, source, target))
	moved := withKey(target, source.APIKey)
	expect.Eventually(t, "both installations know where the account is", func() bool {
		moving := follow(t, source, http.MethodHead, source.BaseURL+emails[source].click, browser) // is not counted
		return strings.HasPrefix(moving.Header.Get("Location"), target.BaseURL+"/t/c/") &&
			browse(t, target.BaseURL+probe.click, target).StatusCode == http.StatusFound &&
			strings.Contains(timelineOf(t, moved, probe.id), "email.clicked") // not while the move is in progress
	})

	for at, suffix := range map[*harness.App]string{source: "s", target: "t"} {
		e := emails[at]
		res := browse(t, at.BaseURL+e.click, source, target)
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusFound || got != "https://shop.example/r?a=1" {
			t.Errorf("%s: a click: %d, Location %q", suffix, res.StatusCode, got)
		}
		if res := browse(t, at.BaseURL+e.open, source, target); res.StatusCode != http.StatusOK ||
			res.Header.Get("Content-Type") != "image/gif" {
			t.Errorf("%s: an open: %d %v", suffix, res.StatusCode, res.Header)
		}
		if res := browse(t, at.BaseURL+e.unsubscribe, source, target); res.StatusCode != http.StatusOK {
			t.Errorf("%s: the page for unsubscribing: %d", suffix, res.StatusCode)
		}
		if status, page := visit(t, http.MethodPost, at.BaseURL+e.unsubscribe, "List-Unsubscribe=One-Click"); status !=
			http.StatusOK || !strings.Contains(page, "You are unsubscribed") {
			t.Errorf("%s: unsubscribing with one click: %d %s", suffix, status, page)
		}
		for _, link := range []string{e.click[:len(e.click)-4] + "AAAA", e.unsubscribe[:len(e.unsubscribe)-4] + "AAAA"} {
			if res := browse(t, at.BaseURL+link, source, target); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: a forged link %s: %d, want 404", suffix, link, res.StatusCode)
			}
		}
		for range 2 { // the reporting server did not receive our reply
			if rcpt, data := deliver(t, at, "", e.bounces, bounceReport(e.bounces, "lost-"+suffix+"@example.net", "failed", "5.1.1",
				"550 5.1.1 user unknown")); !strings.HasPrefix(data, "250 ") {
				t.Errorf("%s: a bounce got the replies %s, %s", suffix, rcpt, data)
			}
		}
		if rcpt, data := deliver(t, at, "abusedesk@example.net", e.complaints, complaintReport(e.complaints, "abuse")); !strings.
			HasPrefix(data, "250 ") {
			t.Errorf("%s: a complaint got the replies %s, %s", suffix, rcpt, data)
		}
		forged := strings.Replace(e.bounces, "@rp.dev.test", "@rp.other.test", 1)
		if rcpt, _ := deliver(t, at, "", forged, ""); !strings.HasPrefix(rcpt, "550 5.1.1") {
			t.Errorf("%s: a forged return path got the reply %s", suffix, rcpt)
		}
	}

	for _, e := range emails {
		want := map[string]int{"email.opened": 1, "email.clicked": 1, "email.bounced": 1, "email.complained": 1}
		expect.Eventually(t, "all events are recorded", func() bool {
			types := timelineOf(t, moved, e.id)
			for what := range want {
				if !strings.Contains(types, what) {
					return false
				}
			}
			return true
		})
		for what, n := range want {
			if types := timelineOf(t, moved, e.id); strings.Count(types, what) != n {
				t.Errorf("timeline: %s, want %s once", types, what)
			}
		}
	}
	for _, suffix := range []string{"s", "t"} {
		for _, prefix := range []string{"news-", "lost-", "cross-"} {
			expect.Eventually(t, prefix+suffix+" is suppressed", func() bool {
				return moved.Do(t, http.MethodGet, "/api/suppressions/"+prefix+suffix+"@example.net", nil).Status == http.StatusOK
			})
		}
	}
}
