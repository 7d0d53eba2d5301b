package insight

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/ingest"
	play "github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/rest/api/body"
	restautomations "github.com/postrider/postrider/rest/automations"
)

// simulation is the request to simulate a run.
type simulation struct {
	Event    *event
	EventID  string
	At       *time.Time
	Then     []laterEvent
	Draft    bool
	Version  *int
	Outcomes map[string]any
}

// event is the event that starts a run.
type event struct {
	Name, UserID, Email string
	Data                map[string]any
}

// laterEvent is an event after the first one.
type laterEvent struct {
	After string
	Name  string
	Data  map[string]any
}

func simulationBody(s *simulation) body.Object {
	return body.Object{Name: "SimulateAutomation", Fields: []body.Field{
		{Name: "event", Type: body.Pointer(&s.Event, simulatedEvent), About: "The event that starts the run. Either " +
			"event or event_id is required."},
		{Name: "event_id", Type: body.Text(&s.EventID), About: "ID of a stored event to use instead.", Example: "ae_01kf0m4w7he6x8q2v5b3n9c1ta"},
		{Name: "at", Type: body.Pointer(&s.At, body.Time), About: "When the event happens. Defaults to now, or to the " +
			"time of the stored event."},
		{Name: "then", Type: body.List(&s.Then, laterBody).Count(0, automations.MaxLater), About: "Later events of the same person."},
		{Name: "draft", Type: body.Boolean(&s.Draft), About: "Whether to simulate the draft. Defaults to the active " +
			"version, or the draft if there is none."},
		{Name: "version", Type: body.Pointer(&s.Version, func(n *int) body.IntegerType { return body.Integer(n).AtLeast(1) }), About: "Simulate this version."},
		{Name: "outcomes", Type: body.AnyObject(&s.Outcomes), Example: map[string]any{"hello": "suppressed"},
			About: "Outcomes of steps by key: `suppressed` (a recipient is suppressed) or `error` (the message is " +
				"refused, or the URL does not respond). Other steps succeed."},
	}, Check: func(d *body.Decoder) {
		switch {
		case s.Event == nil && s.EventID == "" && !d.HasErrors():
			d.Refuse("event", "is required unless event_id is given")
		case s.Event != nil && s.EventID != "":
			d.Refuse("event_id", "cannot be combined with event")
		}
		if s.Draft && s.Version != nil {
			d.Refuse("version", "cannot be combined with draft")
		}
		for key, outcome := range s.Outcomes {
			if _, is := outcome.(string); !is {
				d.Refuse(body.Join("outcomes", body.PrintableName(key)), "must be %s or %s", play.OutcomeSuppressed,
					play.OutcomeError)
			}
		}
		for i, l := range s.Then {
			if _, err := afterOf(l.After); err != nil {
				d.Refuse(fmt.Sprintf("then[%d].after", i), "%s", err)
			}
		}
	}}
}

func simulatedEvent(e *event) body.Object {
	return body.Object{Name: "SimulatedEvent", Fields: []body.Field{
		{Name: "name", Type: body.Text(&e.Name), About: "The name of the event. Defaults to the name of the trigger.", Example: "user.created"},
		{Name: "user_id", Type: body.Text(&e.UserID).Length(0, ingest.MaxUserID), About: "The ID that identifies the person.", Example: "user-17"},
		{Name: "email", Type: body.Text(&e.Email), About: "The email address of the person.", Example: "bob@example.net"},
		{Name: "data", Type: body.AnyObject(&e.Data), About: "The payload of the event, at most 256 KB."},
	}}
}

func laterBody(l *laterEvent) body.Object {
	return body.Object{Name: "LaterEvent", Fields: []body.Field{
		{Name: "after", Type: body.Text(&l.After), About: "A duration after the first event, for example PT3H. " +
			"Defaults to 0.", Example: "PT3H"},
		{Name: "name", Type: body.Text(&l.Name), Need: body.Required, About: "The name of the event.", Example: "user.verified"},
		{Name: "data", Type: body.AnyObject(&l.Data), About: "The payload of the event, at most 256 KB."},
	}}
}

func afterOf(text string) (clock.Duration, error) {
	if text == "" {
		return clock.Duration{}, nil
	}
	return clock.ParseDuration(text)
}

// toInput converts it to the input of the service.
func (s simulation) toInput() (automations.SimulationInput, error) {
	in := automations.SimulationInput{Draft: s.Draft, EventID: s.EventID, At: s.At, Outcomes: map[string]string{}}
	if s.Version != nil {
		in.Version = *s.Version
	}
	for key, outcome := range s.Outcomes {
		in.Outcomes[key], _ = outcome.(string) // the body was checked
	}
	if e := s.Event; e != nil {
		data, err := restautomations.Data(e.Data)
		if err != nil {
			return in, err
		}
		in.Event = &ingest.Post{Name: e.Name, UserID: e.UserID, Email: e.Email, Data: data, Source: "api"}
	}
	for _, l := range s.Then {
		after, err := afterOf(l.After)
		if err != nil {
			return in, err
		}
		data, err := restautomations.Data(l.Data)
		if err != nil {
			return in, err
		}
		in.Later = append(in.Later, automations.LaterEvent{After: after, Post: ingest.Post{Name: l.Name, Data: data}})
	}
	return in, nil
}
