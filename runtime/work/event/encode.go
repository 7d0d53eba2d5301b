package event

import (
	"bytes"
	"encoding/json"
	"time"
)

// Encode returns an event in the format of the API: with an id for the event log, its streams and the
// export, and without one as the body of a webhook. It fails if data is not valid JSON.
func Encode(id string, typ Type, at time.Time, data json.RawMessage) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // addresses contain angle brackets
	err := encoder.Encode(struct {
		ID        string          `json:"id,omitempty"`
		Type      Type            `json:"type"`
		CreatedAt Time            `json:"created_at"`
		Data      json.RawMessage `json:"data"`
	}{id, typ, NewTime(at), data})
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
}
