package journeys_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/mail/spf"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A forwarded email is a new email of the account. Its envelope sender is a return path of the installation, so that
// SPF passes for the forwarding server, and a bounce comes back here and never to the author of the received email.
func TestForwardReturnsBouncesToInstallation(t *testing.T) {
	t.Parallel()
	const client = "192.0.2.25"
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	// The author's domain allows no other server, as with a strict SPF record.
	app.DNS.Add(t, `example.net. 60 IN TXT "v=spf1 ip4:203.0.113.1 -all"`,
		"rp.dev.test. 60 IN CNAME rp.postrider.test.", `rp.postrider.test. 60 IN TXT "v=spf1 include:spf.postrider.test -all"`,
		`spf.postrider.test. 60 IN TXT "v=spf1 ip4:`+client+` -all"`)
	receive(t, app, "support@dev.test", questionMessage)
	var list struct {
		ReceivedEmails []struct{ ID string } `json:"received_emails"`
	}
	app.Do(t, http.MethodGet, "/api/received-emails", nil).JSON(t, &list)
	answer := app.Do(t, http.MethodPost, "/api/received-emails/"+list.ReceivedEmails[0].ID+"/forward", `{"to":"gone@example.net"}`)
	var sent struct{ ID string }
	if answer.JSON(t, &sent); answer.Status != http.StatusOK || sent.ID == "" {
		t.Fatalf("forward: %d %s", answer.Status, answer.Body)
	}
	app.MX.Wait(t, "it is forwarded", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	sender := senderOf(t, app, "gone@example.net")
	if !strings.HasSuffix(sender, "@rp.dev.test") {
		t.Errorf("the envelope sender is %s, want a return path of dev.test", sender)
	}
	resolver, err := dnsx.New(dnsx.Config{Server: app.DNS.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]spf.Result{sender: spf.Pass, "juergen@example.net": spf.Fail} {
		e := spf.Evaluation{Source: resolver}
		if got, err := e.Check(t.Context(), spf.Client{IP: net.ParseIP(client), Hello: "postrider.test", Sender: from}); got != want {
			t.Errorf("SPF of %s is %s (%v), want %s", from, got, err, want)
		}
	}
	if _, data := deliver(t, app, "", sender, bounceReport(sender, "gone@example.net", "failed", "5.1.1",
		"550 5.1.1 <gone@example.net>: user unknown")); !strings.HasPrefix(data, "250 ") {
		t.Fatalf("the bounce got the reply %s", data)
	}
	waitForStatus(t, app, sent.ID, "bounced")
	for _, m := range app.MX.Messages() {
		if m.To[0] != "gone@example.net" {
			t.Errorf("a message was sent to %v", m.To)
		}
	}
}
