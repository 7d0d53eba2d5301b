package events

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/work/event"
)

// The components of an event: as webhook endpoints receive it, and as the event log lists it. Both are unions that the
// field type discriminates.
const (
	delivered = "WebhookEvent"
	logged    = "LoggedEvent"
)

// DeliveredSchema refers to the schema of an event as webhook endpoints receive it, which Describe adds.
func DeliveredSchema() *huma.Schema { return refer(delivered) }

// LoggedSchema refers to the schema of an entry of the event log, which Describe adds.
func LoggedSchema() *huma.Schema { return refer(logged) }

func refer(component string) *huma.Schema {
	return &huma.Schema{Ref: "#/components/schemas/" + component}
}

// Describe adds the schemas of the possible events to a document. It can be called repeatedly.
func Describe(d *huma.OpenAPI, offer event.Offer) {
	r := d.Components.Schemas
	schemas := r.Map()
	if schemas[delivered] != nil {
		return
	}
	r.RegisterTypeAlias(reflect.TypeFor[event.Time](), reflect.TypeFor[wire.Time]())
	whole := &huma.Schema{Description: "An event. Its type determines its fields.", Discriminator: newDiscriminator()}
	entries := &huma.Schema{Description: "An event log entry. Its type determines its " +
		"fields.", Discriminator: newDiscriminator()}
	for _, entry := range offer.Entries() {
		name := componentOf(entry.Type)
		schemas[name] = describeEvent(r, entry)
		addAlternative(whole, entry.Type, name)
		name = logged + goName(entry.Type)
		schemas[name] = withID(describeEvent(r, entry))
		addAlternative(entries, entry.Type, name)
	}
	schemas[delivered], schemas[logged] = whole, entries
}

func newDiscriminator() *huma.Discriminator {
	return &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}
}

func addAlternative(union *huma.Schema, t event.Type, component string) {
	ref := refer(component)
	union.OneOf = append(union.OneOf, ref)
	union.Discriminator.Mapping[string(t)] = ref.Ref
}

// withID adds the id that events have in the log. Validators would refuse it in an allOf with the union of events.
func withID(s *huma.Schema) *huma.Schema {
	s.Required = append([]string{"id"}, s.Required...)
	s.Properties["id"] = &huma.Schema{Type: huma.TypeString, Examples: []any{sampleID},
		Description: "The ID of the event, as in the webhook header " + headerEvent + "."}
	return s
}

// describeEvent returns the schema of an event of one type.
func describeEvent(r huma.Registry, entry event.Entry) *huma.Schema {
	at := wire.Time{}.Schema(r)
	at.Description = "When the event occurred."
	data := r.Schema(reflect.TypeOf(entry.Sample), true, "")
	data.Description = "The payload of the event."
	return &huma.Schema{Type: huma.TypeObject, Description: entry.When + ".",
		Required: []string{"type", "created_at", "data"},
		Properties: map[string]*huma.Schema{
			"type":       {Type: huma.TypeString, Enum: []any{string(entry.Type)}, Description: "The type of the event."},
			"mode":       {Type: huma.TypeString, Enum: []any{"test"}, Description: "Present only in test mode."},
			"created_at": at,
			"data":       data,
		}}
}

// componentOf returns the component name of an event type, such as EmailDeliveredEvent.
func componentOf(t event.Type) string { return goName(t) + "Event" }
