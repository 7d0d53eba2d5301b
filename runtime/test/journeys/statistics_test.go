package journeys_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

type countedMail struct {
	EmailStatistics struct {
		Totals struct {
			Accepted, Recipients, Delivered, Bounced, Suppressed int
			BounceRate                                           struct{ Numerator, Denominator int }
			Latency                                              *struct{ P50, P95 float64 }
		}
		Buckets []struct{ Start time.Time }
		Groups  []struct {
			Key, Label string
			Totals     struct{ Accepted, Delivered, Bounced int }
		}
	}
	TopBounceReasons []struct {
		BounceClass, EnhancedCode, Host string
		Count                           int
		Example                         struct {
			Diagnostic, EmailID string
			Email               *struct{ ID, Subject string }
		}
	}
}

func statisticsOf(t *testing.T, app *harness.App, arguments string) (got countedMail) {
	t.Helper()
	now := time.Now().UTC()
	between := fmt.Sprintf(`range: {gte: %q, lt: %q}`, now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Hour).
		Format(time.RFC3339))
	app.Query(t, `{ emailStatistics(`+between+arguments+`) { totals { accepted recipients delivered bounced suppressed bounceRate { numerator denominator } latency { p50 p95 } }
		buckets { start } groups { key label totals { accepted delivered bounced } } }
		topBounceReasons(`+between+`) { bounceClass enhancedCode host count example { diagnostic emailId email { id subject } } } }`, &got)
	return got
}

// Mail is counted as it is processed, with the texts of rejections, and remains counted after it is erased.
func TestMailIsCounted(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.startServer(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "nobody@counted.test", smtptest.Reply(550, "5.1.1", "No such user"))
	s.mailHosts(t, "counted.test", 20)
	taken, refused := s.sendMessage(t, []string{"ok@counted.test"}), s.sendMessage(t, []string{"nobody@counted.test"})
	waitForStatus(t, s.App, taken, "delivered")
	waitForStatus(t, s.App, refused, "bounced")
	expect.Eventually(t, "the address is suppressed",
		func() bool { story, _ := s.readStory(t, refused); return story.Suppressed })
	var blocked struct{ ID, Status string }
	s.Do(t, http.MethodPost, "/api/emails", map[string]any{"from": "ada@dev.test", "to": "nobody@counted.test",
		"subject": "again", "text": "x"}).JSON(t, &blocked)

	check := func(when string, erased bool) {
		t.Helper()
		got := statisticsOf(t, s.App, `, groupBy: RECIPIENT_DOMAIN, interval: HOUR`)
		totals := got.EmailStatistics.Totals
		if totals.Accepted != 2 || totals.Recipients != 2 || totals.Delivered != 1 || totals.Bounced != 1 ||
			totals.Suppressed != 1 || totals.BounceRate.Numerator != 1 ||
			totals.BounceRate.Denominator != 2 || totals.Latency == nil || totals.Latency.P50 <= 0 ||
			totals.Latency.P95 < totals.Latency.P50 {
			t.Errorf("%s: the totals are %+v, %+v", when, totals, totals.Latency)
		}
		if groups := got.EmailStatistics.Groups; len(got.EmailStatistics.Buckets) < 2 || len(groups) != 1 ||
			groups[0].Key != "counted.test" || groups[0].Totals.Delivered != 1 || groups[0].Totals.Bounced != 1 {
			t.Errorf("%s: %d hours, by recipients' domain %+v", when, len(got.EmailStatistics.Buckets), groups)
		}
		if len(got.TopBounceReasons) != 1 {
			t.Fatalf("%s: the reasons are %+v", when, got.TopBounceReasons)
		}
		why := got.TopBounceReasons[0]
		if why.BounceClass != "bad_address" || why.EnhancedCode != "5.1.1" || why.Host != "mx1.counted.test" ||
			why.Count != 1 || why.Example.EmailID != refused {
			t.Errorf("%s: the reason is %+v", when, why)
		}
		if words := why.Example.Diagnostic; erased != !strings.Contains(words, "No such user") ||
			erased != (why.Example.Email == nil) {
			t.Errorf("%s: the words are %q, the email %+v", when, words, why.Example.Email)
		}
	}
	check("after delivery", false)
	for _, address := range []string{"ok@counted.test", "nobody@counted.test"} {
		s.Do(t, http.MethodDelete, "/api/contacts/"+address+"/data", nil)
	}
	if answer := s.Do(t, http.MethodGet, "/api/emails/"+blocked.ID, nil); answer.Status != http.StatusNotFound {
		t.Fatalf("an erased email returned %d", answer.Status)
	}
	check("erased", true)
	if other := statisticsOf(t, s.Stranger(t, "stranger"), "").EmailStatistics.Totals; other.Accepted != 0 ||
		other.Bounced != 0 {
		t.Errorf("another account sees %+v", other)
	}
}
