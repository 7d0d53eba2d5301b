package api_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestRotateAnswers(t *testing.T) {
	t.Parallel()
	one := "/api/domains/" + domainID + "/dkim/rotate"
	waits := fault.Conflictf(fault.CodeConflict, "The key pr1new of example.com waits for its record already").
		With("selector", "pr1new")
	for name, c := range map[string]struct {
		request request
		fail    error
		status  int
	}{
		"dkim_rotated":        {request: request{method: "POST", path: one}, status: 200},
		"dkim_rotate_waits":   {request: request{method: "POST", path: one}, fail: waits, status: 409},
		"dkim_rotate_unknown": {request: request{method: "POST", path: "/api/domains/dom_x/dkim/rotate"}, status: 404},
		"dkim_rotate_scope":   {request: request{method: "POST", path: one, key: "sending"}, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, c.request.path)
			b.domains.fail = c.fail
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestRotateOncePerIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/domains")
	ask := request{method: "POST", path: "/api/domains/" + domainID + "/dkim/rotate",
		header: map[string]string{"Idempotency-Key": "rotate-1"}}
	first, again := b.do(t, ask), b.do(t, ask)
	if first.status != 200 || first.body != again.body || again.header.Get("Idempotent-Replayed") != "true" ||
		b.domains.rotations != 1 {
		t.Errorf("%d, %d rotations, replayed %q", first.status, b.domains.rotations,
			again.header.Get("Idempotent-Replayed"))
	}
}
