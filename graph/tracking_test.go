package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/engagement"
	"github.com/postrider/postrider/modules/tracking"
)

// fakeEngagements has a machine open and a human click for ada's msg_001 and for bob's msg_999, and no
// entry for others.
type fakeEngagements struct{ *calls }

func (f fakeEngagements) Counts(_ context.Context, accountID string,
	ids ...string) (map[string]tracking.Counts, error) {
	if err := f.call("Counts"); err != nil {
		return nil, err
	}
	out := map[string]tracking.Counts{}
	if id := visited[accountID]; slices.Contains(ids, id) {
		out[id] = tracking.Counts{Opens: 4, Clicks: 3, MachineOpens: 2, MachineClicks: 1}
	}
	return out, nil
}

func (f fakeEngagements) Engagements(_ context.Context, accountID string, first int,
	ids ...string) (map[string][]*ent.Engagement, error) {
	if err := f.call("Engagements"); err != nil {
		return nil, err
	}
	out := map[string][]*ent.Engagement{}
	if id := visited[accountID]; slices.Contains(ids, id) {
		link := "https://shop.example.com/a?b=1"
		all := []*ent.Engagement{
			{EmailID: id, Kind: engagement.KindClick, URL: &link, IP: "192.0.2.7", UserAgent: "Mozilla/5.0", CreatedAt: day.Add(time.Minute)},
			{EmailID: id, Kind: engagement.KindOpen, Machine: "privacy_proxy", CreatedAt: day},
		}
		out[id] = all[:min(first, len(all))]
	}
	return out, nil
}

var visited = map[string]string{ada: "msg_001", bob: "msg_999"}

const engagementQuery = `{ engagement { opens clicks machineOpens machineClicks } engagements { kind url ip userAgent machine at } }`

func TestEngagementOfAnEmail(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 2})
	a := s.ask(t, `{ seen: email(id: "msg_001") `+engagementQuery+` unseen: email(id: "msg_002") `+engagementQuery+` }`,
		nil)
	if len(a.Errors) != 0 {
		t.Fatal(a.body)
	}
	same(t, "seen", map[string]any{
		"engagement": map[string]any{"opens": 4.0, "clicks": 3.0, "machineOpens": 2.0, "machineClicks": 1.0},
		"engagements": []any{
			map[string]any{"kind": "CLICK", "url": "https://shop.example.com/a?b=1", "ip": "192.0.2.7",
				"userAgent": "Mozilla/5.0", "machine": nil, "at": "2026-01-15T09:31:00.007Z"},
			map[string]any{"kind": "OPEN", "url": nil, "ip": nil, "userAgent": nil, "machine": "privacy_proxy",
				"at": "2026-01-15T09:30:00.007Z"},
		},
	}, a.Data["seen"])
	same(t, "unseen", map[string]any{"engagement": map[string]any{"opens": 0.0, "clicks": 0.0, "machineOpens": 0.0,
		"machineClicks": 0.0}, "engagements": []any{}},
		a.Data["unseen"])
	// Bob himself sees them, so the previous check is meaningful.
	b := s.askAs(t, "svc_bob", `{ email(id: "msg_999") { engagement { opens } engagements { kind } } }`, nil)
	same(t, "bob's", map[string]any{"engagement": map[string]any{"opens": 4.0},
		"engagements": []any{map[string]any{"kind": "CLICK"}, map[string]any{"kind": "OPEN"}}}, b.Data["email"])
}

func TestEngagementsOfAPageAreAskedForOnceEach(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 3})
	a := s.ask(t,
		`{ emails { nodes { id engagement { opens } one: engagements(first: 1) { kind } all: engagements { kind } } } }`, nil)
	if len(a.Errors) != 0 {
		t.Fatal(a.body)
	}
	same(t, "calls", map[string]int{"List": 1, "Counts": 1, "Engagements": 2}, s.calls.counted())
	node := a.Data["emails"].(map[string]any)["nodes"].([]any)[2]
	same(t, "the one that was visited", map[string]any{"id": "msg_001", "engagement": map[string]any{"opens": 4.0},
		"one": []any{map[string]any{"kind": "CLICK"}}, "all": []any{map[string]any{"kind": "CLICK"}, map[string]any{"kind": "OPEN"}}}, node)
}

func TestHowManyEngagementsIsChecked(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for _, first := range []int{0, 101, -1} {
		a := s.ask(t, fmt.Sprintf(`{ email(id: "msg_001") { engagements(first: %d) { kind } } }`, first), nil)
		if a.codes() != "validation_error" || a.Errors[0].Extensions.Details["first"] == "" {
			t.Errorf("first: %d: %s", first, a.body)
		}
	}
	for _, first := range []string{"1", "100", "null"} {
		if a := s.ask(t, `{ email(id: "msg_001") { engagements(first: `+first+`) { kind } } }`,
			nil); len(a.Errors) != 0 {
			t.Errorf("first: %s: %s", first, a.body)
		}
	}
}

func TestEngagementsThatFailLeakNothing(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Counts", "Engagements"} {
		s := newServer(t, setup{emails: 1,
			hook: map[string]func() error{method: func() error { return errors.New("pq: secret detail") }}})
		a := s.ask(t, `{ email(id: "msg_001") { engagement { opens } engagements { kind } } }`, nil)
		if a.codes() != "internal_error" || strings.Contains(a.body, "secret detail") {
			t.Errorf("when %s fails the answer is %d %s, want internal_error without the secret detail", method,
				a.status, a.body)
		}
	}
}

func TestEngagementIsAbsentWithoutItsModule(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1, on: []string{"accounts", "domains", "sending"}})
	for _, field := range []string{"engagement { opens }", "engagements { kind }"} {
		if a := s.ask(t, `{ email(id: "msg_001") { id `+field+` } }`, nil); len(a.Errors) == 0 ||
			a.Data["email"] != nil {
			t.Errorf("%s without its module got %s, want an error and no email", field, a.body)
		}
	}
}
