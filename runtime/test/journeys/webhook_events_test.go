package journeys_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/web/webhooksig"
	"github.com/postrider/postrider/runtime/work/event"
)

// announced is an event as received by an endpoint.
type announced struct {
	Type event.Type
	Data map[string]any
}

// eventEndpoint is an endpoint that receives every event, and the Postrider that sends them.
type eventEndpoint struct {
	*harness.App

	mu     sync.Mutex
	secret string
	heard  []announced
}

func newEventEndpoint(t *testing.T) *eventEndpoint {
	t.Helper()
	e := &eventEndpoint{App: harness.Start(t, nil)}
	e.MailDomain(t, "example.net")
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		e.mu.Lock()
		defer e.mu.Unlock()
		var got announced
		if err == nil {
			err = webhooksig.Verify(e.secret, r.Header.Get(webhooksig.Header), body, time.Now())
		}
		if err == nil {
			err = json.Unmarshal(body, &got)
		}
		if err != nil {
			t.Errorf("the webhook received %s, which fails with %v, want a signed event", body, err)
		}
		e.heard = append(e.heard, got)
	}))
	t.Cleanup(s.Close)
	var made struct{ Secret string }
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": s.URL}).JSON(t, &made)
	e.secret = made.Secret
	return e
}

// awaitEvent waits for the event of a type that has a value in its data.
func (e *eventEndpoint) awaitEvent(t *testing.T, typ event.Type, key, value string) (found announced) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s with %s %s is received", typ, key, value), func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		i := slices.IndexFunc(e.heard, func(h announced) bool { return h.Type == typ && h.Data[key] == value })
		if i >= 0 {
			found = e.heard[i]
		}
		return i >= 0
	})
	return found
}

// sendMail sends a tagged message and returns its id.
func (e *eventEndpoint) sendMail(t *testing.T, to string, more ...string) string {
	t.Helper()
	var got struct{ ID string }
	e.Do(t, http.MethodPost, "/api/emails", `{"from":"ada@dev.test","to":"`+to+
		`","subject":"Receipt","text":"t","tags":{"kind":"receipt"}`+strings.Join(more, "")+`}`).JSON(t, &got)
	return got.ID
}

// mustDo sends a request that must succeed.
func (e *eventEndpoint) mustDo(t *testing.T, method, path, body string) []byte {
	t.Helper()
	var given any
	if body != "" {
		given = body
	}
	got := e.Do(t, method, path, given)
	if got.Status != http.StatusOK {
		t.Fatalf("%s %s with %s got %d %s, want 200", method, path, body, got.Status, got.Body)
	}
	return got.Body
}

// addDomain adds a domain and returns its id.
func (e *eventEndpoint) addDomain(t *testing.T, name string) string {
	t.Helper()
	var made struct{ Domain struct{ ID string } }
	if err := json.Unmarshal(e.mustDo(t, http.MethodPost, "/api/domains", `{"name":"`+name+`"}`), &made); err != nil {
		t.Fatalf("the response for adding %s cannot be decoded: %v", name, err)
	}
	return made.Domain.ID
}

// journeys cause each event from outside, and return the received event.
var journeys = map[event.Type]func(*testing.T, *eventEndpoint) announced{
	event.EmailSent: func(t *testing.T, e *eventEndpoint) announced {
		return e.awaitEvent(t, event.EmailSent, "email_id", e.sendMail(t, "sent@example.net"))
	},
	event.EmailDelivered: func(t *testing.T, e *eventEndpoint) announced {
		return e.awaitEvent(t, event.EmailDelivered, "email_id", e.sendMail(t, "ok@example.net"))
	},
	event.EmailScheduled: func(t *testing.T, e *eventEndpoint) announced {
		at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		return e.awaitEvent(t, event.EmailScheduled, "email_id",
			e.sendMail(t, "soon@example.net", `,"scheduled_at":"`+at+`"`))
	},
	event.EmailBounced: func(t *testing.T, e *eventEndpoint) announced {
		e.MX.Always(smtptest.Rcpt, "gone@example.net", smtptest.Reply(550, "5.1.1", "No such user"))
		got := e.awaitEvent(t, event.EmailBounced, "email_id", e.sendMail(t, "gone@example.net"))
		if reason, _ := got.Data["bounce_reason"].(string); got.Data["status"] != "bounced" ||
			!strings.Contains(reason, "No such user") {
			t.Errorf("bounced: %v", got.Data)
		}
		return got
	},
	event.EmailDeliveryDelayed: func(t *testing.T, e *eventEndpoint) announced {
		e.MX.Always(smtptest.Rcpt, "later@example.net", smtptest.Reply(451, "4.7.1", "Greylisted"))
		return e.awaitEvent(t, event.EmailDeliveryDelayed, "email_id", e.sendMail(t, "later@example.net"))
	},
	event.EmailFailed: func(t *testing.T, e *eventEndpoint) announced {
		e.DNS.Add(t, "nomail.example. 60 IN MX 0 .")
		return e.awaitEvent(t, event.EmailFailed, "email_id", e.sendMail(t, "x@nomail.example"))
	},
	event.EmailSuppressed: func(t *testing.T, e *eventEndpoint) announced {
		if got := e.Do(t, http.MethodPost, "/api/suppressions",
			`{"email":"never@example.net"}`); got.Status != http.StatusOK {
			t.Fatalf("adding a suppression got status %d and %s, want 200", got.Status, got.Body)
		}
		return e.awaitEvent(t, event.EmailSuppressed, "email_id", e.sendMail(t, "never@example.net"))
	},
	event.EmailComplained: func(t *testing.T, e *eventEndpoint) announced {
		id := e.sendMail(t, "cross@example.net")
		sender := senderOf(t, e.App, "cross@example.net")
		e.awaitEvent(t, event.EmailDelivered, "email_id", id)
		if _, data := deliver(t, e.App, "abusedesk@example.net", sender,
			complaintReport(sender, "abuse")); !strings.HasPrefix(data, "250 ") {
			t.Fatalf("answered %s", data)
		}
		return e.awaitEvent(t, event.EmailComplained, "email_id", id)
	},
	event.EmailOpened: func(t *testing.T, e *eventEndpoint) announced {
		id, links := sendTracked(t, e)
		follow(t, e.App, http.MethodGet, links.pixel, browser)
		return e.awaitEvent(t, event.EmailOpened, "email_id", id)
	},
	event.EmailClicked: func(t *testing.T, e *eventEndpoint) announced {
		id, links := sendTracked(t, e)
		follow(t, e.App, http.MethodGet, links.click, browser)
		return e.awaitEvent(t, event.EmailClicked, "email_id", id)
	},
	event.EmailReceived: func(t *testing.T, e *eventEndpoint) announced {
		receive(t, e.App, "support@dev.test", strings.Replace(questionMessage, "Cc: carol@example.net\r\n", "", 1))
		return e.awaitEvent(t, event.EmailReceived, "rcpt_to", "support@dev.test")
	},
	event.EmailCancelled: func(t *testing.T, e *eventEndpoint) announced {
		at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		id := e.sendMail(t, "never-sent@example.net", `,"scheduled_at":"`+at+`"`)
		e.mustDo(t, http.MethodPatch, "/api/emails/"+id, `{"cancel":true}`)
		return e.awaitEvent(t, event.EmailCancelled, "email_id", id)
	},
	event.SuppressionAdded: func(t *testing.T, e *eventEndpoint) announced {
		e.mustDo(t, http.MethodPost, "/api/suppressions", `{"email":"added@example.net"}`)
		return e.awaitEvent(t, event.SuppressionAdded, "email", "added@example.net")
	},
	event.SuppressionRemoved: func(t *testing.T, e *eventEndpoint) announced {
		e.mustDo(t, http.MethodPost, "/api/suppressions", `{"email":"removed@example.net"}`)
		id, _ := e.awaitEvent(t, event.SuppressionAdded, "email", "removed@example.net").Data["suppression_id"].(string)
		e.mustDo(t, http.MethodDelete, "/api/suppressions/"+id, "")
		return e.awaitEvent(t, event.SuppressionRemoved, "suppression_id", id)
	},
	event.DomainAdded: func(t *testing.T, e *eventEndpoint) announced {
		return e.awaitEvent(t, event.DomainAdded, "domain_id", e.addDomain(t, "added.example"))
	},
	event.DomainUpdated: func(t *testing.T, e *eventEndpoint) announced {
		id := e.addDomain(t, "updated.example")
		e.mustDo(t, http.MethodPatch, "/api/domains/"+id, `{"ed25519":true}`)
		return e.awaitEvent(t, event.DomainUpdated, "domain_id", id)
	},
	event.DomainDeleted: func(t *testing.T, e *eventEndpoint) announced {
		id := e.addDomain(t, "deleted.example")
		e.mustDo(t, http.MethodDelete, "/api/domains/"+id, "")
		return e.awaitEvent(t, event.DomainDeleted, "domain_id", id)
	},
	event.ContactUnsubscribed: func(t *testing.T, e *eventEndpoint) announced {
		link := unsubscribeLink(t, e.App, "stop@example.net", `,"category":"Product news"`)
		if status, page := visit(t, http.MethodPost, link, "List-Unsubscribe=One-Click"); status != http.StatusOK {
			t.Fatalf("unsubscribing with the link got status %d and %s, want 200", status, page)
		}
		return e.awaitEvent(t, event.ContactUnsubscribed, "email", "stop@example.net")
	},
}

// laterModules will emit these events; they will then need a journey.
var laterModules = map[event.Type]string{
	event.AutomationStarted: "automations", event.AutomationStepCompleted: "automations",
	event.AutomationCompleted: "automations", event.AutomationFailed: "automations",
}

// causedBelow names the tests of modules that cause events which take days, need another account's DNS, or need
// much mail. Their facts are delivered like the others.
var causedBelow = map[event.Type]string{
	event.DomainVerified: "verify_test.go", event.DomainTemporaryFailure: "recheck_test.go",
	event.DomainFailed:       "verify_test.go",
	event.DomainClaimStarted: "claim_test.go", event.DomainClaimed: "claim_test.go", event.DomainLost: "claim_test.go",
	event.DomainDKIMRotated: "rotate_test.go",
	event.WebhookDisabled:   "endpoint_test.go", event.AccountRateExceeded: "rates_test.go",
	event.AccountUsageReached: "notifier_test.go", event.DomainDeliverabilityDegraded: "degradation_test.go",
}

type trackedLinks struct{ click, pixel string }

// sendTracked delivers a message whose opens and clicks are counted.
func sendTracked(t *testing.T, e *eventEndpoint) (id string, links trackedLinks) {
	t.Helper()
	trackEverything(t, e.App)
	id = e.sendMail(t, "reader@example.net", `,"html":"<body><p><a href=\"https://shop.example/r\">it</a></p></body>"`)
	e.awaitEvent(t, event.EmailDelivered, "email_id", id)
	got := awaitMessage(t, e.App, id)
	click, pixel := clickLink.FindStringSubmatch(got.HTML), pixelLink.FindStringSubmatch(got.HTML)
	if click == nil || pixel == nil {
		t.Fatalf("no links in %s", got.HTML)
	}
	return id, trackedLinks{click[1], pixel[1]}
}

// Every event type of the catalog is caused from the outside and sent to a webhook endpoint, signed, with
// the fields of its sample. A new type fails this test until it has a journey, or the name of the module
// that will cause it.
func TestEveryEventReachesAWebhook(t *testing.T) { //nolint:tparallel // the subtests share one endpoint
	t.Parallel()
	e := newEventEndpoint(t)
	for _, entry := range event.Catalog() {
		journey, later := journeys[entry.Type], laterModules[entry.Type]+causedBelow[entry.Type]
		switch {
		case (journey == nil) == (later == ""):
			t.Errorf("%s needs either a journey that causes it, or the name of the module or test that does",
				entry.Type)
			continue
		case journey == nil:
			continue
		}
		t.Run(string(entry.Type), func(t *testing.T) {
			got := journey(t, e)
			var sample any
			text, err := json.Marshal(entry.Sample)
			if err != nil || json.Unmarshal(text, &sample) != nil {
				t.Fatalf("the sample %s cannot be converted to JSON: %v", text, err)
			}
			if diff := cmp.Diff(listFields("data", sample), listFields("data", got.Data)); diff != "" {
				t.Errorf("its fields differ from the sample (-sample +received):\n%s\n%v", diff, got.Data)
			}
		})
	}
}

// listFields lists every field of decoded JSON, and of the first element of lists.
func listFields(path string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, listFields(path+"."+name, v[name])...)
		}
		return all
	case []any:
		if len(v) > 0 {
			return listFields(path+"[]", v[0])
		}
	}
	return []string{path}
}
