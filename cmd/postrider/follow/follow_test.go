package follow_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/cmd/postrider/follow"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

type posted struct {
	header http.Header
	body   []byte
}

func TestListenForwardsSignedEvents(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	came := make(chan posted, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		came <- posted{r.Header, body}
	}))
	defer receiver.Close()
	before := time.Now().Add(-time.Minute)
	var sent struct{ ID string }
	app.Do(t, http.MethodPost, "/api/emails",
		`{"from":"Ada <ada@dev.test>","to":"bob@example.net","subject":"Hello","text":"Hello"}`).JSON(t, &sent)
	emailID := sent.ID
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, log expect.Log
	ended := make(chan error, 1)
	go func() {
		ended <- follow.Run(ctx, follow.Request{BaseURL: app.BaseURL, APIKey: app.APIKey, ForwardTo: receiver.URL +
			"/hook",
			Events: []string{"email.sent", "email.delivered"}, SinceTime: before, Out: &out, Log: &log})
	}()
	for _, typ := range []string{"email.sent", "email.delivered"} {
		select {
		case got := <-came:
			secret := regexp.MustCompile(`whsec_\S+`).FindString(log.String())
			if err := webhooksig.Verify(secret, got.header.Get("Service-Signature"), got.body, time.Now()); err != nil {
				t.Errorf("verify the signature of a forwarded event: %v; headers %s", err, got.header)
			}
			if text := string(got.body); !strings.HasPrefix(text, `{"type":"`+typ+`","created_at":"`) ||
				!strings.Contains(text, emailID) {
				t.Errorf("forwarded %s, want %s of %s", text, typ, emailID)
			}
			if !strings.HasPrefix(got.header.Get("Service-Event-Id"), "evt_") {
				t.Errorf("headers %v", got.header)
			}
		case err := <-ended:
			t.Fatalf("listen failed with %v\n%s", err, log.String())
		case <-time.After(expect.Patience):
			t.Fatalf("no %s was forwarded\n%s", typ, log.String())
		}
	}
	harness.Eventually(t, "both events to be printed", func() bool {
		return strings.Contains(out.String(), "email.sent") && strings.Contains(out.String(), "email.delivered") &&
			strings.Contains(out.String(), "-> 200 OK")
	})
	stop()
	if err := <-ended; err != nil {
		t.Errorf("after a stop, listen returned %v, want no error", err)
	}
	err := follow.Run(t.Context(), follow.Request{BaseURL: app.BaseURL, APIKey: "svc_wrong", Out: &out, Log: &log})
	if err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a wrong key returned %v", err)
	}
}
