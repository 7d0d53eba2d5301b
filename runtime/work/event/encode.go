package event

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
)

// Encode returns an event in the format of the API: with an id for the event log, its streams and the
// export, and without one as the body of a webhook. An event of a test tenant has a mode. It fails if data is not valid
// JSON.
func Encode(tenantID, eventID string, typ Type, at time.Time, data json.RawMessage) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // addresses contain angle brackets
	err := encoder.Encode(struct {
		ID        string          `json:"id,omitempty"`
		Type      Type            `json:"type"`
		Mode      string          `json:"mode,omitempty"`
		CreatedAt Time            `json:"created_at"`
		Data      json.RawMessage `json:"data"`
	}{eventID, typ, ModeOf(tenantID), NewTime(at), data})
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
}

// ModeOf returns "test" for a test tenant, and "" otherwise: objects of live mode have no mode.
func ModeOf(tenantID string) string {
	if id.IsTestTenant(tenantID) {
		return "test"
	}
	return ""
}
