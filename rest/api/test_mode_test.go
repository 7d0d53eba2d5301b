package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeInbox has one captured email.
type fakeInbox struct{}

const capturedID = "tml_Yk3v9QpA1mW5rT8yB2nC4w"

func capturedMail() *ent.CapturedMail {
	return &ent.CapturedMail{ID: 1, From: "Ada <ada@example.com>", RcptTo: []string{"bob@example.net"}, Subject: "Hello",
		MailFrom: "bounce+abc@rp.example.com", MessageID: "msg_1@example.com", Size: 100,
		ReceivedAt: time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)}
}

func (fakeInbox) PublicID(*ent.CapturedMail) string { return capturedID }

func (fakeInbox) Page(_ context.Context, tenant, _ string, _ page.Request) (p page.Page[devinbox.Line], _ error) {
	if tenant == id.TestTenantOf(accountID) {
		p.Items = []devinbox.Line{{CapturedMail: capturedMail(), Snippet: "Hello Bob"}}
	}
	return p, nil
}

func (fakeInbox) Head(_ context.Context, tenant, publicID string) (*ent.CapturedMail, error) {
	if tenant != id.TestTenantOf(accountID) || publicID != capturedID {
		return nil, fault.NoSuch("captured email", publicID)
	}
	return capturedMail(), nil
}

func (fakeInbox) LatestHead(_ context.Context, q devinbox.LatestQuery) (*ent.CapturedMail, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return fakeInbox{}.Head(context.Background(), q.Tenant, capturedID)
}

func (fakeInbox) Load(_ context.Context, m *ent.CapturedMail) error {
	m.Raw = []byte("From: Ada <ada@example.com>\r\nTo: bob@example.net\r\nSubject: Hello\r\n\r\n" +
		"Hello Bob, see https://example.com/a, and https://example.com/a.\r\n")
	return nil
}

func TestCapturedEmailsAreShown(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/test/inbox")
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"captured":             {"/api/test/inbox/" + capturedID, 200},
		"captured_list":        {"/api/test/inbox?to=bob%2B1@example.net", 200},
		"captured_latest":      {"/api/test/inbox/latest?to=bob@example.net&subject=Hello&wait=1s", 200},
		"captured_latest_wait": {"/api/test/inbox/latest?wait=2m", 400},
		"captured_unknown":     {"/api/test/inbox/tml_x", 404},
	} {
		got := b.do(t, request{method: "GET", path: c.path})
		if got.status != c.status {
			t.Errorf("%s got %d %s, want %d", c.path, got.status, got.body, c.status)
		}
		expect.Golden(t, "answers/"+name+".json", got.body)
	}
	if got := b.do(t, request{method: "GET", path: "/api/test/inbox", live: true}); got.status != http.StatusForbidden ||
		!strings.Contains(got.body, "svc_test_") {
		t.Errorf("a live key got %d %s, want 403 with the prefix of test keys", got.status, got.body)
	}
}

// The file lists, for each operation, the modes in which a key of scope full and an owner can use it. It is written
// from the answers, so that a new operation appears in its diff.
func TestModesAllowTheListedOperations(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	list := operations(t, b)
	slices.SortFunc(list, func(a, b operation) int { return strings.Compare(a.id, b.id) })
	var lines strings.Builder
	for _, op := range list {
		if op.public {
			continue
		}
		if _, decided := rights.TestAccessOf(strings.TrimPrefix(op.path, "/api"), rights.Read); !decided && len(op.scopes) > 0 {
			t.Errorf("it is not decided how %s works in test mode: add its path to package rights", op.id)
		}
		var modes []string
		for _, mode := range []string{"live", "test"} {
			owner := as("owner", op.method, op.path+"?zzz=1", "", "Postrider-Mode", mode)
			owner.live = true
			for who, q := range map[string]request{"owner": owner, "key": {method: op.method, path: op.path + "?zzz=1", live: true,
				key: strings.TrimPrefix(mode+"_full", "live_")}} {
				got := b.do(t, q)
				may := got.status == http.StatusBadRequest && strings.Contains(got.body, "zzz")
				if may && who == "key" {
					modes = append(modes, mode)
				}
				if !may && got.status != http.StatusForbidden {
					t.Errorf("%s in %s mode by the %s got %d %s, want 403", op.id, mode, who, got.status, got.body)
				}
			}
		}
		line := op.id + ": " + strings.Join(modes, ", ")
		lines.WriteString(strings.TrimSpace(line) + "\n")
	}
	expect.Golden(t, "test_mode.txt", lines.String())
}
