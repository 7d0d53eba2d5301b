package events

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/work/event"
)

// Data is the payload of an event of any type, as it is stored.
type Data json.RawMessage

// MarshalJSON implements json.Marshaler.
func (d Data) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// component is the name of the schema of Data.
const component = "EventData"

// Schema implements huma.SchemaProvider. It refers to the payloads of the catalog.
func (Data) Schema(r huma.Registry) *huma.Schema {
	if schemas := r.Map(); schemas[component] == nil {
		r.RegisterTypeAlias(reflect.TypeFor[event.Time](), reflect.TypeFor[wire.Time]())
		var payloads []*huma.Schema
		for _, entry := range event.Catalog() {
			payload := payloadOf(r, entry)
			if !slices.ContainsFunc(payloads, func(s *huma.Schema) bool { return s.Ref == payload.Ref }) {
				payloads = append(payloads, payload)
			}
		}
		schemas[component] = &huma.Schema{AnyOf: payloads, Description: "The payload of an event. Its type says which."}
	}
	return &huma.Schema{Ref: "#/components/schemas/" + component}
}

func payloadOf(r huma.Registry, entry event.Entry) *huma.Schema {
	return r.Schema(reflect.TypeOf(entry.Sample), true, "")
}
