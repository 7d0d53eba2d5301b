package graph

import (
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
)

func TestQueueAnswersEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ queue(first: 2) `+everything(t, "QueueConnection")+` queueByDestination `+
		everything(t, "QueueBacklog")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of the queue got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "queue.json", indented(t, a.body))
}

func TestQueueIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for filter, want := range map[string][]any{
		`{state: HELD}`:                                   {"9"},
		`{destination: "example.net"}`:                    {"7"},
		`{email: "msg_002"}`:                              {"8", "9"},
		`{email: "msg_002", state: DEFERRED}`:             {},
		`{email: null, state: null, destination: "none"}`: {},
	} {
		a := s.ask(t, `{ queue(filter: `+filter+`) { nodes { id } } }`, nil)
		got := []any{}
		for _, n := range a.Data["queue"].(map[string]any)["nodes"].([]any) {
			got = append(got, n.(map[string]any)["id"])
		}
		same(t, filter, want, got)
	}
	first := s.ask(t, `{ queue(first: 2) { pageInfo { endCursor } } }`, nil)
	cursor := first.Data["queue"].(map[string]any)["pageInfo"].(map[string]any)["endCursor"]
	rest := s.ask(t, `query($after: String) { queue(after: $after) { nodes { id } pageInfo { hasNextPage } } }`,
		map[string]any{"after": cursor})
	same(t, "the rest", map[string]any{"nodes": []any{map[string]any{"id": "9"}},
		"pageInfo": map[string]any{"hasNextPage": false}}, rest.Data["queue"])
	if a := s.askAs(t, "svc_bob", `query($after: String) { queue(after: $after) { nodes { id } } }`,
		map[string]any{"after": cursor}); a.codes() != "validation_error" {
		t.Errorf("another account's cursor: %s", a.body)
	}
	same(t, "nothing waits", []any{},
		s.ask(t, `{ queueByDestination(filter: {destination: "nothing.example"}) { destination } }`, nil).
			Data["queueByDestination"])
}
