package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

func complaintReport(to, kind string) string {
	return strings.ReplaceAll(`From: <abusedesk@example.net>
To: `+to+`
Subject: FW: s
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b1"

--b1
Content-Type: text/plain

This is an email abuse report.

--b1
Content-Type: message/feedback-report

Feedback-Type: `+kind+`
User-Agent: SomeGenerator/1.0
Version: 1
Original-Rcpt-To: somebody-else@example.net

--b1
Content-Type: message/rfc822

From: ada@dev.test
Subject: s

t
--b1--
`, "\n", "\r\n")
}

// A recipient reports an email as spam: the sender is notified and can no longer send to the address. The
// delivery status does not change.
func TestScenarioRecipientComplains(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	id := send(t, app, `{"from":"ada@dev.test","to":["cross@example.net","calm@example.net"],"subject":"s","text":"t"}`)
	waitForStatus(t, app, id, "delivered")
	sender := senderOf(t, app, "cross@example.net")

	// A DKIM failure report from a machine is not a complaint.
	if _, data := deliver(t, app, "abusedesk@example.net", sender,
		complaintReport(sender, "auth-failure")); !strings.HasPrefix(data, "250 ") {
		t.Fatalf("answered %s", data)
	}
	for range 2 {
		if _, data := deliver(t, app, "abusedesk@example.net", sender,
			complaintReport(sender, "abuse")); !strings.HasPrefix(data, "250 ") {
			t.Fatalf("answered %s", data)
		}
	}
	deliver(t, app, "", sender, complaintReport(sender, "abuse")) // another report of the same email
	if types := timelineOf(t, app, id); types != "email.sent email.delivered email.delivered email.complained" {
		t.Errorf("timeline: %s", types)
	}
	var record emailAnswer
	app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &record)
	if record.Email.Status != "delivered" || record.Email.LastEvent != "email.complained" {
		t.Errorf("record: %+v", record.Email)
	}
	harness.Eventually(t, "the recipient is suppressed", func() bool {
		var got suppressed
		answer := app.Do(t, http.MethodGet, "/api/suppressions/cross@example.net", nil)
		answer.JSON(t, &got)
		return answer.Status == http.StatusOK && got.Suppression.Reason == "complaint"
	})
	checkBlocked(t, app, "cross@example.net", true)
	// The address in the report is not trusted, because it can be forged.
	checkBlocked(t, app, "somebody-else@example.net", false)
	checkBlocked(t, app, "calm@example.net", false)
}

// Complaints count only at addresses that prove that the complainant received the message.
func TestScenarioComplaintsToOtherAddressesAreRejected(t *testing.T) {
	t.Parallel()
	// only reports are accepted
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MODULES"] = "-inbound" })
	for _, to := range []string{"abuse@dev.test", "fbl@dev.test", "postmaster@rp.dev.test"} {
		if rcpt, _ := deliver(t, app, "abusedesk@example.net", to,
			complaintReport(to, "abuse")); !strings.HasPrefix(rcpt, "550 5.7.1") {
			t.Errorf("%s got the reply %s", to, rcpt)
		}
	}
}
