package journeys_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/test/harness"
)

const (
	browser = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15"
	letter  = `{"from":"ada@dev.test","to":"bob@example.net","subject":"Receipt","html":"<body><p>See <a href=\"https://shop.example/r?a=1&amp;b=2\">it</a> or <a href=\"mailto:x@y.z\">write</a>.</p></body>","text":"See https://shop.example/r?a=1&b=2."}`
)

var (
	clickLink = regexp.MustCompile(`href="(http[^"]*/t/c/[^"]*)"`)
	textLink  = regexp.MustCompile(`See (\S+)\.`)
	pixelLink = regexp.MustCompile(`<img src="([^"]*)"[^>]*></body>`)
)

// awaitMessage waits for a message and returns its bodies.
func awaitMessage(t *testing.T, app *harness.App, id string) *message.FullMessage {
	t.Helper()
	waitForStatus(t, app, id, "delivered")
	messages := app.MX.Messages()
	parsed, err := message.ReadFull(bytes.NewReader(messages[len(messages)-1].Data), message.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// follow sends a request like a browser, without following redirects. A Host may be given.
func follow(t *testing.T, app *harness.App, method, link, agent string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Replaces the host's CNAME record.
	req.Host = req.URL.Host
	req.URL.Host = strings.TrimPrefix(app.BaseURL, "http://")
	req.Header.Set("User-Agent", agent)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func devDomainID(t *testing.T, app *harness.App) string {
	t.Helper()
	var list struct{ Domains []struct{ ID, Name string } }
	app.Do(t, http.MethodGet, "/api/domains", nil).JSON(t, &list)
	for _, d := range list.Domains {
		if d.Name == "dev.test" {
			return d.ID
		}
	}
	t.Fatal("dev.test does not exist")
	return ""
}

func trackEverything(t *testing.T, app *harness.App) (domainID string) {
	t.Helper()
	domainID = devDomainID(t, app)
	if got := app.Do(t, http.MethodPatch, "/api/domains/"+domainID,
		`{"open_tracking":true,"click_tracking":true}`); got.Status != http.StatusOK {
		t.Fatalf("enabling tracking got status %d and %s, want 200", got.Status, got.Body)
	}
	return domainID
}

type visitFact struct{ Type, URL, IP, Agent, Machine string }

// engagementFacts returns the open and click events of an email, oldest first.
func engagementFacts(t *testing.T, app *harness.App, id string) []visitFact {
	t.Helper()
	var got struct {
		Email struct {
			Timeline []struct {
				Type string
				Data struct {
					Recipient   string
					Open, Click *struct {
						URL, IP   string
						UserAgent string `json:"user_agent"`
						Machine   bool
					}
				}
			}
		}
	}
	app.Query(t, `{ email(id: "`+id+`") { timeline { type data } } }`, &got)
	var list []visitFact
	for _, e := range got.Email.Timeline {
		seen := e.Data.Open
		if e.Type == "email.clicked" {
			seen = e.Data.Click
		}
		if seen == nil {
			continue
		}
		entry := visitFact{Type: e.Type, URL: seen.URL, IP: seen.IP, Agent: seen.UserAgent, Machine: "no"}
		if seen.Machine {
			entry.Machine = "yes"
		}
		if e.Data.Recipient != "bob@example.net" {
			t.Errorf("%s is about %q", e.Type, e.Data.Recipient)
		}
		list = append(list, entry)
	}
	return list
}

// A message of a domain with tracking enabled: the message that Bob gets, the targets of its links, and the
// events about his reading it.
func TestOpensAndClicksAreReported(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	trackEverything(t, app)
	id := send(t, app, letter)
	got := awaitMessage(t, app, id)
	click, text, pixel := clickLink.FindStringSubmatch(got.HTML), textLink.FindStringSubmatch(got.Text),
		pixelLink.FindStringSubmatch(got.HTML)
	if click == nil || text == nil || pixel == nil || !strings.Contains(got.HTML, `<a href="mailto:x@y.z">write</a>`) {
		t.Fatalf("html %s\ntext %s", got.HTML, got.Text)
	}
	if click[1] != text[1] {
		t.Errorf("html and text lead to %s and %s", click[1], text[1])
	}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		res := follow(t, app, method, click[1], browser)
		if res.StatusCode != http.StatusFound || res.Header.Get("Location") != "https://shop.example/r?a=1&b=2" ||
			res.Header.Get("Referrer-Policy") != "no-referrer" ||
			!strings.Contains(res.Header.Get("Cache-Control"), "no-store") {
			t.Errorf("%s of a tracked link got status %d with header %v, want a redirect to the shop that is not stored", method, res.StatusCode, res.Header)
		}
		res = follow(t, app, method, pixel[1], "Mozilla/5.0")
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/gif" || res.ContentLength != 43 {
			t.Errorf("%s: %d %v, %d bytes", method, res.StatusCode, res.Header, res.ContentLength)
		}
	}
	var facts []visitFact
	harness.Eventually(t, "both are reported",
		func() bool { facts = engagementFacts(t, app, id); return len(facts) >= 2 })
	want := []visitFact{{"email.opened", "", "127.0.0.1", "Mozilla/5.0", "yes"},
		{"email.clicked", "https://shop.example/r?a=1&b=2", "127.0.0.1", browser, "no"}}
	if len(facts) != 2 || facts[0] != want[0] || facts[1] != want[1] {
		t.Errorf("reported: %+v", facts)
	}
	if record := waitForStatus(t, app, id, "delivered"); record.Email.LastEvent != "email.clicked" {
		t.Errorf("last event is %s", record.Email.LastEvent)
	}
	checkEngagementGraph(t, app, id)
	checkForgedLinks(t, app, click[1], pixel[1])
}

// checkForgedLinks tries links that are not genuine: none redirects or reveals the reason.
func checkForgedLinks(t *testing.T, app *harness.App, click, pixel string) {
	t.Helper()
	token := click[strings.LastIndexByte(click, '/')+1:]
	for _, link := range []string{
		app.BaseURL + "/t/c/", app.BaseURL + "/t/", app.BaseURL + "/t/c/" + "B" + token[1:], app.BaseURL + "/t/c/" +
			token + "/", app.BaseURL + "/t/c//" + token,
		app.BaseURL + "/t/c/../c/" + token, app.BaseURL + "/t/o/" + token + ".gif",
		strings.Replace(pixel, "/t/o/", "/t/c/", 1), strings.TrimSuffix(pixel, ".gif"),
		app.BaseURL + "/t/c/https://evil.example/", app.BaseURL + "/t/c/%2F%2Fevil.example", app.BaseURL +
			"//t/../t/c/x/..",
	} {
		res := follow(t, app, http.MethodGet, link, browser)
		if strings.HasPrefix(res.Request.URL.Path, "/t/") && res.StatusCode != http.StatusNotFound ||
			strings.Contains(res.Header.Get("Location"), "evil") {
			t.Errorf("the forged link %s got status %d and leads to %q, want 404 below /t/ and no redirect to evil",
				link, res.StatusCode, res.Header.Get("Location"))
		}
	}
	if res := follow(t, app, http.MethodPost, click, browser); res.StatusCode != http.StatusMethodNotAllowed ||
		res.Header.Get("Location") != "" {
		t.Errorf("POST: %d %v", res.StatusCode, res.Header)
	}
}

func checkEngagementGraph(t *testing.T, app *harness.App, id string) {
	t.Helper()
	var got struct {
		Email struct {
			Engagement  struct{ Opens, Clicks, MachineOpens, MachineClicks int }
			Engagements []struct {
				Kind, IP, UserAgent string
				URL, Machine        *string
			}
		}
	}
	app.Query(t, `{ email(id: "`+id+
		`") { engagement { opens clicks machineOpens machineClicks } engagements(first: 10) { kind url ip userAgent machine } } }`, &got)
	e := got.Email
	if e.Engagement.Opens != 1 || e.Engagement.Clicks != 1 || e.Engagement.MachineOpens != 1 ||
		e.Engagement.MachineClicks != 0 {
		t.Errorf("counts: %+v", e.Engagement)
	}
	if len(e.Engagements) != 2 || e.Engagements[0].Kind != "CLICK" ||
		*e.Engagements[0].URL != "https://shop.example/r?a=1&b=2" || e.Engagements[0].Machine != nil ||
		e.Engagements[1].Kind != "OPEN" || *e.Engagements[1].Machine != "privacy_proxy" {
		t.Errorf("engagements: %+v", e.Engagements)
	}
}

// A link redirects only under the host that it was issued for: under its account's tracking host, or under
// the base URL. Other accounts' hosts, hosts of deleted domains and pages of the installation under a
// customer's host return 404.
func TestTrackedLinksStayOnTheirHosts(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	domainID := trackEverything(t, app)
	eve := app.Stranger(t, "eve")
	handle := openDatabase(t, app)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := handle.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	base := clickLink.FindStringSubmatch(awaitMessage(t, app, send(t, app, letter)).HTML)[1]
	exec(`INSERT INTO tracking_hosts (account_id, domain_id, host, status, verified_at) VALUES ($1, $2, 'links.dev.test', 'verified', now()), ($3, 'dom_eve', 'links.eve.test', 'verified', now())`,
		app.AccountID, domainID, eve.AccountID)
	var own string
	harness.Eventually(t, "links use the tracking host", func() bool {
		own = clickLink.FindStringSubmatch(awaitMessage(t, app, send(t, app, letter)).HTML)[1]
		return strings.Contains(own, "//links.dev.test")
	})
	port := app.BaseURL[strings.LastIndexByte(app.BaseURL, ':'):]
	under := func(host, link string) string { return "http://" + host + link[strings.Index(link, "/t/"):] }
	status := func(link string) int { return follow(t, app, http.MethodGet, link, browser).StatusCode }
	harness.Eventually(t, "the tracking host is known", func() bool { return status(own) == http.StatusFound })
	for name, link := range map[string]string{
		"its link under the base URL":        under(strings.TrimPrefix(app.BaseURL, "http://"), own),
		"its link under localhost":           under("localhost"+port, own),
		"its link under another account's":   under("links.eve.test"+port, own),
		"its link under an unknown host":     under("evil.test"+port, own),
		"an older link under its host":       under("links.dev.test"+port, base),
		"an older link under another's":      under("links.eve.test"+port, base),
		"an older link under an unknown one": under("evil.test"+port, base),
	} {
		if res := follow(t, app, http.MethodGet, link, browser); res.StatusCode != http.StatusNotFound ||
			res.Header.Get("Location") != "" {
			t.Errorf("%s got %d and leads to %q, want 404", name, res.StatusCode, res.Header.Get("Location"))
		}
	}
	if got := status(base); got != http.StatusFound {
		t.Errorf("a link that was sent before the account had a tracking host got %d, want 302", got)
	}
	for _, path := range []string{"/", "/api/docs", "/api/emails", "/u/x", "/sign-in"} {
		if got := status("http://links.eve.test" + port + path); got != http.StatusNotFound {
			t.Errorf("%s under a customer's tracking host got %d, want 404", path, got)
		}
	}
	// A flag, a suspension, and the deletion of the domain.
	exec(`INSERT INTO flagged_links (target) VALUES ('shop.example')`)
	harness.Eventually(t, "the flagged target is withheld", func() bool { return status(own) == http.StatusForbidden })
	exec(`DELETE FROM flagged_links`)
	harness.Eventually(t, "the target is followed again", func() bool { return status(own) == http.StatusFound })
	exec(`UPDATE accounts SET suspended_at = now() WHERE id = $1`, app.AccountID)
	harness.Eventually(t, "links of a suspended account are withheld",
		func() bool { return status(own) == http.StatusForbidden && status(base) == http.StatusForbidden })
	exec(`UPDATE accounts SET suspended_at = NULL WHERE id = $1`, app.AccountID)
	harness.Eventually(t, "links are followed again", func() bool { return status(own) == http.StatusFound })
	exec(`DELETE FROM tracking_hosts WHERE account_id = $1`, app.AccountID)
	exec(`UPDATE domains SET status = 'failed' WHERE id = $1`, domainID)
	harness.Eventually(t, "the host of a deleted domain returns 404",
		func() bool { return status(own) == http.StatusNotFound })
}
