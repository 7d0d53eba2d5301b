package journeys_test

import (
	"bytes"
	"io"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

type suppressed struct {
	Suppression struct {
		ID, Email, Reason string
		EmailID           string `json:"email_id"`
	}
}

// A recipient that a server rejects, or whose domain accepts no mail, gets no more mail until the account
// removes the suppression.
func TestBouncesAndFailuresSuppressTheRecipient(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	app.DNS.Add(t, "nomail.example. 60 IN MX 0 .")
	app.MX.Always(smtptest.Rcpt, "gone@example.net", smtptest.Reply(550, "5.1.1", "No such user"))
	app.MX.Always(smtptest.Rcpt, "strict@example.net", smtptest.Reply(550, "5.7.1", "Not from you"))
	waitForStatus(t, app, send(t, app, `{"from":"ada@dev.test","to":"strict@example.net","subject":"s","text":"t"}`),
		"failed")
	for address, reason := range map[string]string{"gone@example.net": "bounce", "x@nomail.example": "failure"} {
		id := send(t, app, `{"from":"ada@dev.test","to":"`+address+`","subject":"s","text":"t"}`)
		var got suppressed
		harness.Eventually(t, address+" is suppressed", func() bool {
			answer := app.Do(t, http.MethodGet, "/api/suppressions/"+url.PathEscape(address), nil)
			answer.JSON(t, &got)
			return answer.Status == http.StatusOK
		})
		if got.Suppression.Reason != reason || got.Suppression.EmailID != id || got.Suppression.Email != address {
			t.Errorf("the suppression of %s is %+v, want reason %s and the email %s", address, got, reason, id)
		}
		checkBlocked(t, app, address, true)
		if answer := app.Do(t, http.MethodDelete, "/api/suppressions/"+address, nil); answer.Status != http.StatusOK {
			t.Errorf("delete: %d %s", answer.Status, answer.Body)
		}
		checkBlocked(t, app, address, false)
	}
	// The policy rejection came first: it has been processed by now.
	if answer := app.Do(t, http.MethodGet, "/api/suppressions/strict@example.net",
		nil); answer.Status != http.StatusNotFound {
		t.Errorf("refused for policy: %s", answer.Body)
	}
}

func checkBlocked(t *testing.T, app *harness.App, address string, blocked bool, more ...string) {
	t.Helper()
	var got struct{ Status string }
	app.Do(t, http.MethodPost, "/api/emails", `{"from":"ada@dev.test","to":"`+address+`","subject":"s","text":"t"`+
		strings.Join(more, "")+`}`).JSON(t, &got)
	if (got.Status == "failed") != blocked {
		t.Errorf("an email to %s %s returned %s", address, more, got.Status)
	}
}

// unsubscribeLink sends an email with managed unsubscribe and returns the link that the recipient's mail
// client sees.
func unsubscribeLink(t *testing.T, app *harness.App, to, category string) string {
	t.Helper()
	return linkIn(t, app, send(t, app, `{"from":"ada@dev.test","to":"`+to+
		`","subject":"s","text":"stop: {{unsubscribe_url}}","unsubscribe":true`+category+`}`))
}

// linkIn returns the unsubscribe link in an email.
func linkIn(t *testing.T, app *harness.App, id string) (link string) {
	t.Helper()
	harness.Eventually(t, "the email arrives", func() bool {
		for _, m := range app.MX.Messages() {
			parsed, err := mail.ReadMessage(bytes.NewReader(m.Data))
			if err == nil && strings.Contains(parsed.Header.Get("Message-Id"), id) {
				link = strings.Trim(parsed.Header.Get("List-Unsubscribe"), "<>")
				return true
			}
		}
		return false
	})
	if !strings.HasPrefix(link, app.BaseURL+"/u/") {
		t.Fatalf("List-Unsubscribe: %s", link)
	}
	return link
}

// visit sends a request without a key, like mail clients and browsers.
func visit(t *testing.T, method, link, body string, headers ...string) (status int, page string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, link, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(got)
}

// pixel is a PNG.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC"

func TestRecipientsSeeTheBrandOfTheSender(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	link := unsubscribeLink(t, app, "bob@example.net", "")
	var set struct {
		Brand struct{ Name, Color, Logo string }
	}
	app.Do(t, http.MethodPut, "/api/account/brand",
		map[string]string{"name": "Acme", "color": "#AA0000", "logo": pixel}).JSON(t, &set)
	if set.Brand.Name != "Acme" || set.Brand.Color != "#aa0000" || set.Brand.Logo != pixel {
		t.Errorf("the brand was stored as %+v", set.Brand)
	}
	if got := app.Do(t, http.MethodPut, "/api/account/brand",
		map[string]string{"name": "a\nb", "color": "red", "logo": "YQ=="}); got.Status != http.StatusBadRequest ||
		!strings.Contains(string(got.Body), `"color":`) || !strings.Contains(string(got.Body), `"logo":`) ||
		!strings.Contains(string(got.Body), `"name":`) {
		t.Errorf("a brand with only invalid fields returned %d %s, want 400 that names each field",
			got.Status, got.Body)
	}
	marks := []string{"<strong>Acme</strong>", "--brand: #aa0000", "data:image/png;base64," + pixel}
	look := func(when string, want bool) {
		t.Helper()
		status, page := visit(t, http.MethodGet, link, "")
		for _, mark := range marks {
			if status != http.StatusOK || strings.Contains(page, mark) != want {
				t.Errorf("%s the page (status %d) has %s: %t, want %t\n%s", when, status, mark, !want, want, page)
			}
		}
	}
	look("with a brand", true)
	// Another account's brand is separate.
	stranger := app.Stranger(t, "mallory")
	if got := stranger.Do(t, http.MethodPut, "/api/account/brand",
		map[string]string{"name": "Mallory"}); got.Status != http.StatusOK {
		t.Fatalf("another account sets its brand: %d %s", got.Status, got.Body)
	}
	look("after the other account's", true)
	if got := app.Do(t, http.MethodPut, "/api/account/brand", map[string]string{}); got.Status != http.StatusOK {
		t.Fatalf("an empty brand: %d %s", got.Status, got.Body)
	}
	look("without a brand", false)
}

// A recipient opens the link in the message, reads the page, and unsubscribes: with the mail client's button
// from one category, and on the page from everything.
func TestRecipientsUnsubscribeByTheLinksInTheirMail(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	news, all := unsubscribeLink(t, app, "bob@example.net", `,"category":"Product news"`), unsubscribeLink(t, app,
		"carol@example.net", "")
	for _, link := range []string{news, all} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if status, page := visit(t, method, link, ""); status != http.StatusOK || method == http.MethodGet &&
				!strings.Contains(page, "<strong>dev.test</strong>") {
				t.Errorf("%s of the unsubscribe link got status %d and %s, want 200 and a page that names dev.test",
					method, status, page)
			}
		}
		if status, _ := visit(t, http.MethodPost, link[:len(link)-1],
			"List-Unsubscribe=One-Click"); status != http.StatusNotFound {
			t.Errorf("a truncated link: %d", status)
		}
	}
	named := linkIn(t, app, send(t, app,
		`{"from":"Ada & Söhne <ada@dev.test>","to":"bob@example.net","subject":"s","text":"t","unsubscribe":true}`))
	if _, page := visit(t, http.MethodGet, named, "", "Accept-Language", "de-AT,en;q=0.5"); !strings.Contains(page,
		`<html lang="de">`) || !strings.Contains(page, "von <strong>Ada &amp; Söhne</strong> (dev.test) bekommen?") {
		t.Errorf("a German reader of a mail from Ada & Söhne sees\n%s", page)
	}
	checkBlocked(t, app, "bob@example.net", false, `,"category":"Product news"`)
	checkBlocked(t, app, "carol@example.net", false)
	for range 2 {
		if status, page := visit(t, http.MethodPost, news, "List-Unsubscribe=One-Click"); status != http.StatusOK ||
			!strings.Contains(page, "You are unsubscribed") {
			t.Errorf("one click: %d %s", status, page)
		}
	}
	checkBlocked(t, app, "bob@example.net", true, `,"category":"product NEWS"`)
	checkBlocked(t, app, "bob@example.net", false, `,"category":"Receipts"`)
	checkBlocked(t, app, "bob@example.net", false)
	if status, page := visit(t, http.MethodPost, all, "choice=all"); status != http.StatusOK {
		t.Errorf("button: %d %s", status, page)
	}
	checkBlocked(t, app, "carol@example.net", true)
	var got struct {
		OptOuts []struct {
			Category string
			Source   string
		} `json:"category_opt_outs"`
		Suppressions []struct{ Email, Reason string }
	}
	app.Do(t, http.MethodGet, "/api/category-opt-outs", nil).JSON(t, &got)
	app.Do(t, http.MethodGet, "/api/suppressions", nil).JSON(t, &got)
	if len(got.OptOuts) != 1 || got.OptOuts[0].Category != "product-news" || got.OptOuts[0].Source != "one_click" {
		t.Errorf("opt-outs: %+v", got.OptOuts)
	}
	if len(got.Suppressions) != 1 || got.Suppressions[0].Email != "carol@example.net" ||
		got.Suppressions[0].Reason != "unsubscribe" {
		t.Errorf("suppressions: %+v", got.Suppressions)
	}
}
