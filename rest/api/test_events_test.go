package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest/api"
	restwebhooks "github.com/postrider/postrider/rest/webhooks"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/event"
)

type fakeDelivery struct {
	facts []event.Fact
	to    string // the only endpoint of the latest fact
}

func (f *fakeDelivery) Deliver(_ context.Context, account string, fact event.Fact) ([]string, error) {
	if account == accountID {
		f.facts = append(f.facts, fact)
	}
	return []string{"whd_1", "whd_2"}, nil
}

func (f *fakeDelivery) DeliverTo(_ context.Context, account, webhookID string,
	fact event.Fact) ([]string, error) {
	if account == accountID {
		f.facts, f.to = append(f.facts, fact), webhookID
	}
	return []string{"whd_3"}, nil
}

func withEvents(t *testing.T, delivery restwebhooks.Delivery) *bundle {
	t.Helper()
	return newBundle(t, func(o *api.Options) {
		o.Routes = []api.Routes{restwebhooks.TestEventRoutes(&fakeSending{}, delivery, nil)}
	})
}

// untimed returns a response without its time.
func untimed(body string) string {
	return regexp.MustCompile(`"created_at":"20[0-9T:.-]+Z","data"`).
		ReplaceAllString(body, `"created_at":"2026-01-15T09:30:00.000Z","data"`)
}

// The payload of each event type, with sample values and with the fields of an email.
func TestTestEventOfEveryType(t *testing.T) {
	t.Parallel()
	b := withEvents(t, nil)
	seen := 0
	for _, entry := range event.Catalog() {
		got := b.do(t, request{method: "POST", path: "/api/emails/test", body: `{"event":"` + string(entry.Type) +
			`"}`})
		seen++
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, []byte(untimed(got.body)), "", "  "); err != nil || got.status != 200 {
			t.Fatalf("%s: got %d %s, want 200 and JSON", entry.Type, got.status, got.body)
		}
		expect.Golden(t, "events/"+string(entry.Type)+".json", pretty.String()+"\n")
	}
	if seen != 33 {
		t.Errorf("%d types; the contract has 33", seen)
	}
}

func TestTestEventAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, key string
		status    int
	}{
		"test_event_email":       {`{"event":"email.bounced","email_id":"` + emailID + `","deliver":false}`, "", 200},
		"test_event_suppressed":  {`{"event":"email.suppressed","email_id":"` + emailID + `"}`, "", 200},
		"test_event_unsubscribe": {`{"event":"contact.unsubscribed","email_id":"` + emailID + `"}`, "", 200},
		"test_event_other_kind":  {`{"event":"automation.failed","email_id":"` + emailID + `"}`, "", 400},
		"test_event_unknown":     {`{"event":"email.eaten"}`, "", 400},
		"test_event_none":        {`{}`, "", 400},
		"test_event_types":       {`{"event":1,"email_id":2,"deliver":"no","evnt":3}`, "", 400},
		"test_event_no_email":    {`{"event":"email.sent","email_id":"msg_01kf0m4w7he6x8q2v5b3n9c1tb"}`, "", 404},
		"test_event_garbage_id":  {`{"event":"email.sent","email_id":"a\u0000b"}`, "", 404},
		"test_event_sending_key": {`{"event":"email.sent"}`, "sending", 403},
		"test_event_read_key":    {`{"event":"email.sent"}`, "read", 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := withEvents(t, nil).do(t, request{method: "POST", path: "/api/emails/test", body: c.body, key: c.key})
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", untimed(got.body))
		})
	}
}

func TestTestEventIsDeliveredUnlessSaidOtherwise(t *testing.T) {
	t.Parallel()
	d := &fakeDelivery{}
	b := withEvents(t, d)
	got := b.do(t, request{method: "POST", path: "/api/emails/test", body: `{"event":"email.sent","email_id":"` +
		emailID + `"}`})
	if !strings.HasSuffix(got.body, `"deliveries":["whd_1","whd_2"]}`) || len(d.facts) != 1 ||
		d.facts[0].SubjectID != emailID || d.facts[0].Type != event.EmailSent {
		t.Errorf("the test event got %s and the facts %+v, want two deliveries and one email.sent of %s", got.body,
			d.facts, emailID)
	}
	got = b.do(t, request{method: "POST", path: "/api/emails/test", body: `{"event":"email.sent","deliver":false}`})
	if !strings.HasSuffix(got.body, `"deliveries":[]}`) || len(d.facts) != 1 {
		t.Errorf("the test event that is not delivered got %s and the facts %+v, want no deliveries and no further fact", got.body, d.facts)
	}
	const endpoint = "wh_01kf0m4w7he6x8q2v5b3n9c1ta"
	got = b.do(t, request{method: "POST", path: "/api/emails/test", body: `{"event":"email.sent","webhook_id":"` +
		endpoint + `"}`})
	if !strings.HasSuffix(got.body, `"deliveries":["whd_3"]}`) || d.to != endpoint {
		t.Errorf("the test event for one endpoint got %s and went to %q, want %s", got.body, d.to, endpoint)
	}
	got = b.do(t, request{method: "POST", path: "/api/emails/test", body: `{"event":"email.sent","webhook_id":"msg_1"}`})
	if got.status != 404 {
		t.Errorf("the test event for an id of another kind: %d %s, want 404", got.status, got.body)
	}
}
