package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// isRecorded reports whether the audit log records the operation: if it changes the account, and its service does not
// record it. New operations are recorded by default.
func (op Operation) isRecorded() bool {
	if op.Public || op.Audited || op.Quiet || op.Method == http.MethodGet {
		return false
	}
	switch op.Needs {
	case rights.Read, rights.ReadSent, rights.ReadAccount, rights.ReadBilling, rights.Send:
		return false
	}
	return true
}

// keepAnswer keeps the response of a recorded operation, which contains the object that it changed.
func (c *Call) keepAnswer(op Operation, answer any) {
	if c.api.audit != nil && op.isRecorded() {
		c.answer = answer
	}
}

// readBefore returns the object that a recorded operation is about to change or delete; nil if it cannot be read.
func (a *API) readBefore(ctx context.Context, c *Call, op Operation, target string) map[string]any {
	read := a.readers[op.Path]
	if a.audit == nil || read == nil || !op.isRecorded() || op.Method == http.MethodPost || op.Of.Check(target) != nil {
		return nil
	}
	found, err := read(ctx, c.AccountID, target)
	if err != nil {
		return nil // the operation reports it
	}
	return auditObject(found)
}

// record writes a recorded operation that succeeded to the audit log.
func (a *API) record(ctx context.Context, c *Call, op Operation, status int, target string, before map[string]any) {
	if a.audit == nil || !op.isRecorded() || status < http.StatusOK || status >= http.StatusMultipleChoices {
		return
	}
	after := auditObject(c.answer)
	if made, _ := after["id"].(string); target == "" {
		target = made
	}
	err := a.audit.Record(context.WithoutCancel(ctx), c.Caller, op.ID, target, auditChanges(before, after))
	if err != nil {
		a.log.ErrorContext(ctx, "audit log entry lost", "operation", op.ID, telemetry.KeyRequestID, c.RequestID,
			telemetry.KeyError, err)
	}
}

// auditObject returns the object in a response, such as the domain in {"domain": {…}}; nil if there is none.
func auditObject(answer any) map[string]any {
	if answer == nil {
		return nil
	}
	encoded, err := wire.Marshal(answer)
	if err != nil {
		return nil
	}
	var members map[string]any
	if json.Unmarshal(encoded, &members) != nil {
		return nil
	}
	if _, has := members["id"].(string); has {
		return members
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if object, is := members[name].(map[string]any); is {
			if _, has := object["id"].(string); has {
				return object
			}
		}
	}
	return nil
}

// nameFields are the fields that name an object, the best one first.
var nameFields = []string{"name", "email", "url", "subject", "alias", "username"}

// Limits of an entry.
const (
	maxChanges    = 20
	maxChangeText = 200 // characters
)

// auditChanges returns the name of an object, and the old and the new value of each field that differs. A secret is
// only reported as changed.
func auditChanges(before, after map[string]any) map[string]any {
	changes := map[string]any{}
	for _, object := range []map[string]any{before, after} {
		for _, field := range nameFields {
			if name, _ := object[field].(string); name != "" {
				changes[field] = clipChange(name)
				break
			}
		}
	}
	if before == nil || after == nil || before["id"] != after["id"] {
		return changes
	}
	for _, field := range slices.Sorted(maps.Keys(after)) {
		old, is := before[field]
		if !is || reflect.DeepEqual(old, after[field]) || field == "updated_at" || isSecret(field) {
			continue
		}
		if len(changes) == maxChanges {
			break
		}
		changes[field] = map[string]any{"from": clipChange(old), "to": clipChange(after[field])}
	}
	return changes
}

func isSecret(field string) bool {
	return slices.ContainsFunc([]string{"secret", "token", "password", "private"}, func(part string) bool {
		return strings.Contains(field, part)
	})
}

// clipChange shortens a long value.
func clipChange(value any) any {
	text, is := value.(string)
	if !is {
		encoded, err := json.Marshal(value)
		if err != nil || utf8.RuneCount(encoded) <= maxChangeText {
			return value
		}
		text = string(encoded)
	}
	if n := utf8.RuneCountInString(text); n > maxChangeText {
		return fmt.Sprintf("%s… (%d characters)", string([]rune(text)[:maxChangeText]), n)
	}
	return text
}
