package automations

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/base/fault"
)

// members are the fields of a definition, as received. The service validates them, so error paths refer to the
// definition.
type members struct{ given map[string]json.RawMessage }

func (m *members) setMember(name string, value json.RawMessage) {
	if m.given == nil {
		m.given = map[string]json.RawMessage{}
	}
	m.given[name] = value
}

// member reads one of the fields.
type member struct {
	*members

	name   string
	schema func(body.Components) *huma.Schema
}

// Read implements body.Type.
func (m member) Read(d *body.Decoder, path string, v body.Value) {
	value := d.ReadPlain(path, v)
	if d.HasErrors() {
		return
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		d.Refuse(path, "cannot be read")
		return
	}
	m.setMember(m.name, encoded)
}

// Schema implements body.Type.
func (m member) Schema(c body.Components) *huma.Schema { return m.schema(c) }

func memberFields(m *members, need body.Need, none func(name string) func()) []body.Field {
	text := func(name string) member {
		return member{m, name, func(body.Components) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }}
	}
	return []body.Field{
		{Name: "name", Type: text("name"), Need: need, About: "A human-readable name.", Example: "Welcome"},
		{Name: "description", Type: text("description"), Null: none("description"), About: "A human-readable description."},
		{Name: "trigger", Type: member{m, "trigger", triggerSchema}, Need: need,
			About: "`event`, the name of the events that start a run; `conditions`, a CEL expression; `cancel_on_events`, names or objects with `event` and `conditions`; `re_entry`: " +
				"`every_time`, `once`, `after_completion` or `{\"at_most_every\": \"P7D\"}`."},
		{Name: "steps", Type: member{m, "steps", stepsSchema}, Need: need,
			About: "1 to 50 steps. Each has a `type`, a `key` that identifies it, and the fields of its type. A target is `continue`, `end`, `fail` or `{\"goto\": key}`, forward only."},
		{Name: "goal", Type: member{m, "goal", goalSchema}, Null: none("goal"),
			About:   "What the automation is meant to achieve: `event`, a custom event, and `within_days`, 1 to 90. A run converts if its person has the event in time. A run keeps the goal of its version.",
			Example: exampleGoal()},
		{Name: "timezone", Type: text("timezone"), Null: none("timezone"), About: "An IANA time zone, such as " +
			"Europe/Berlin. Defaults to UTC.", Example: "Europe/Berlin"},
	}
}

func newBody(m *members) body.Object {
	return body.Object{Name: "CreateAutomation",
		Fields: memberFields(m, body.RequiredByService, func(string) func() { return nil }),
		Check: func(d *body.Decoder) {
			if document, err := json.Marshal(m.given); err == nil && !d.HasErrors() {
				if m.given == nil {
					document = []byte("{}")
				}
				_, wrong := automations.ParseDefinition(document)
				d.AddErrors(wrong)
			}
		}}
}

func changeBody(m *members) body.Object {
	return body.Object{Name: "UpdateAutomation", Change: true,
		Fields: memberFields(m, body.Optional,
			func(name string) func() { return func() { m.setMember(name, json.RawMessage("null")) } })}
}

// action is the request to act on an automation.
type action struct {
	Action  string
	Version *int
	Runs    string
}

// earlierVersion is the version to go back to; 0: none.
func (a action) earlierVersion() int {
	if a.Version == nil {
		return 0
	}
	return *a.Version
}

// The actions.
const (
	actionActivate  = "activate"
	actionPause     = "pause"
	actionArchive   = "archive"
	actionDuplicate = "duplicate"
)

var actions = []string{actionActivate, actionPause, actionArchive, actionDuplicate}

// The effects of a pause or an activation on live runs.
const (
	runsHold     = "hold"
	runsContinue = "continue"
	runsCancel   = "cancel"
)

// runsOf lists the choices of each action. The first one is the default.
var runsOf = map[string][]string{actionPause: {runsHold, runsContinue}, actionActivate: {runsContinue, runsCancel}}

func numberField(to *int) body.IntegerType { return body.Integer(to).AtLeast(1) }

func actionBody(a *action) body.Object {
	return body.Object{Name: "AutomationAction", Fields: []body.Field{
		{Name: "action", Type: body.Choice(&a.Action, actions...), Need: body.Required, About: "The action."},
		{Name: "version", Type: body.Pointer(&a.Version, numberField), About: "For activate: return to this " +
			"version instead of creating one from the draft."},
		{Name: "runs", Type: body.Choice(&a.Runs, runsHold, runsContinue, runsCancel),
			About: "For pause: hold (the default) starts no further steps of live runs, continue lets them proceed. " +
				"For activate: continue (the default) releases held runs, cancel cancels all live runs."},
	}, Check: func(d *body.Decoder) {
		if !slices.Contains(actions, a.Action) {
			d.Refuse("action", "must be one of %s", strings.Join(actions, ", "))
		}
		switch {
		case a.Version != nil && a.Action != actionActivate:
			d.Refuse("version", "requires the action activate")
		case a.Version != nil && *a.Version < 1:
			d.Refuse("version", "must be 1 or more")
		}
		choices := runsOf[a.Action]
		switch {
		case a.Runs != "" && choices == nil:
			d.Refuse("runs", "requires the action pause or activate")
		case a.Runs != "" && !slices.Contains(choices, a.Runs):
			d.Refuse("runs", "must be %s with %s", strings.Join(choices, " or "), a.Action)
		}
	}}
}

// event is a custom event in a request.
type event struct {
	Name, Type, UserID, Email string
	Data                      map[string]any
	DryRun, TestSend          *bool
	AutomationID              *string
}

func eventBody(e *event) body.Object {
	return body.Object{Name: "CustomEventInput", Fields: []body.Field{
		{Name: "name", Type: body.Text(&e.Name), Need: body.RequiredByService, About: "The name of the event: 1 to 200 characters.", Example: "user.created"},
		{Name: "type", Means: "name", Type: body.Text(&e.Type)},
		{Name: "user_id", Type: body.Text(&e.UserID).Length(0, 255), About: "The ID that identifies the person.", Example: "user-17"},
		{Name: "email", Type: body.Text(&e.Email), About: "The address that emails are sent to. It also identifies " +
			"the person if there is no user_id.", Example: "bob@example.net"},
		{Name: "data", Type: body.AnyObject(&e.Data), About: "At most 256 KB. Conditions and texts can use it as " +
			"event.data."},
		{Name: "dry_run", Type: body.Pointer(&e.DryRun, body.Boolean), About: "Simulates automation_id and returns what it would send." + sessionOnlyAbout},
		{Name: "test_send", Type: body.Pointer(&e.TestSend, body.Boolean), About: "Runs automation_id and sends its " +
			"messages, without its delays and waits. A test also runs while the automation is paused. Pausing, " +
			"activating and archiving do not hold or cancel it." + sessionOnlyAbout},
		{Name: "automation_id", Type: body.Pointer(&e.AutomationID, body.Text), About: "ID of the automation to test, " +
			"which can be a draft or paused." + sessionOnlyAbout},
	}, Check: func(d *body.Decoder) {
		switch {
		case e.Name == "" && e.Type == "" && !d.HasErrors():
			d.Refuse("name", "is required")
		case e.Name != "" && e.Type != "" && e.Name != e.Type:
			d.Refuse("type", "is an alias of name; send only one")
		}
		if e.Name == "" {
			e.Name = e.Type
		}
	}}
}

const sessionOnlyAbout = " Only for sessions of the dashboard; refused with an API key."

// isTrial reports whether the event tests an automation. Errors: Invalid for fields that an API key cannot send, and
// for fields that cannot be combined.
func (e *event) isTrial(person bool) (bool, error) {
	wrong := fault.Fields{}
	for name, given := range map[string]bool{"dry_run": e.DryRun != nil, "test_send": e.TestSend != nil,
		"automation_id": e.AutomationID != nil} {
		if given && !person {
			wrong.Add(name, "requires a session of the dashboard and cannot be used with an API key")
		}
	}
	dry, send := e.DryRun != nil && *e.DryRun, e.TestSend != nil && *e.TestSend
	switch {
	case len(wrong) > 0:
	case dry && send:
		wrong.Add("test_send", "cannot be combined with dry_run")
	case (dry || send) && e.AutomationID == nil:
		wrong.Add("automation_id", "is required with dry_run and test_send")
	case e.AutomationID != nil && !dry && !send:
		wrong.Add("automation_id", "requires dry_run or test_send")
	}
	return dry || send, wrong.Err()
}
