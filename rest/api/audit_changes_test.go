package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAuditChangesHaveOldAndNewValues(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	before := object{"id": "wh_1", "url": "https://a.example", "enabled": true, "updated_at": "1", "signing_secret": "a", "events": []any{}}
	after := object{"id": "wh_1", "url": "https://b.example", "enabled": true, "updated_at": "2", "signing_secret": "b", "events": []any{"email.sent"}}
	long := strings.Repeat("x", maxChangeText+1)
	for name, c := range map[string]struct{ before, after, want object }{
		"created": {nil, object{"id": "dom_1", "name": "example.com", "status": "pending"}, object{"name": "example.com"}},
		"deleted": {object{"id": "dom_1", "name": "example.com"}, nil, object{"name": "example.com"}},
		"nothing": {before, before, object{"url": "https://a.example"}},
		"updated": {before, after, object{"url": object{"from": "https://a.example", "to": "https://b.example"},
			"events": object{"from": []any{}, "to": []any{"email.sent"}}}},
		"another object": {before, object{"id": "wh_2", "url": "https://c.example"}, object{"url": "https://c.example"}},
		"long text": {object{"id": "tpl_1", "name": "a", "html": "y"}, object{"id": "tpl_1", "name": "a", "html": long},
			object{"name": "a", "html": object{"from": "y", "to": long[1:] + "… (201 characters)"}}},
	} {
		if diff := cmp.Diff(c.want, auditChanges(c.before, c.after)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAuditObjectIsTheOneInTheResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer any
		want   map[string]any
	}{
		{nil, nil},
		{map[string]any{"ok": true}, nil},
		{map[string]any{"id": "a"}, map[string]any{"id": "a"}},
		{map[string]any{"domain": map[string]any{"id": "a"}, "count": 1}, map[string]any{"id": "a"}},
	} {
		if diff := cmp.Diff(c.want, auditObject(c.answer)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.answer, diff)
		}
	}
}
