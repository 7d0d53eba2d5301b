package automations

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Service is the part of automations that these operations use.
type Service interface {
	Create(ctx context.Context, accountID string, document []byte,
		keep automations.StoreChangeResponse) (*ent.Automation, error)
	List(ctx context.Context, accountID string, f automations.Filter) (page.Page[*ent.Automation], error)
	Get(ctx context.Context, accountID, automationID string) (*ent.Automation, error)
	Change(ctx context.Context, accountID, automationID string, members map[string]json.RawMessage,
		hash string) (*ent.Automation, error)
	Delete(ctx context.Context, accountID, automationID string) error
	Duplicate(ctx context.Context, accountID, automationID string,
		keep automations.StoreChangeResponse) (*ent.Automation, error)
	Activate(ctx context.Context, caller accounts.Caller, automationID string,
		in automations.Activation) (automations.ActionResult, error)
	Pause(ctx context.Context, accountID, automationID string, hold bool,
		keep automations.StoreActionResponse) (automations.ActionResult, error)
	Archive(ctx context.Context, accountID, automationID string,
		keep automations.StoreActionResponse) (automations.ActionResult, error)
	Check(ctx context.Context, caller accounts.Caller, automationID string) ([]automations.Problem, error)
	Versions(ctx context.Context, accountID, automationID string) ([]*ent.AutomationVersion, error)
	Version(ctx context.Context, accountID, automationID string, number int) (*ent.AutomationVersion, error)

	Runs(ctx context.Context, accountID string, f automations.RunFilter) (page.Page[*ent.AutomationRun], error)
	Run(ctx context.Context, accountID, runID string) (automations.RunDetail, error)
	Cancel(ctx context.Context, accountID, runID string, keep automations.KeepRun) (automations.RunDetail, error)
	Retry(ctx context.Context, accountID, runID string, keep automations.KeepRun) (automations.RunDetail, error)
	RetryFailed(ctx context.Context, accountID, automationID string, in automations.Failed) (int, error)

	WebhookSecret(accountID string) secret.String

	Post(ctx context.Context, p ingest.Post) (ingest.Result, error)
	RunTrial(ctx context.Context, caller accounts.Caller, in automations.Trial) (automations.TrialResult, error)
	Events(ctx context.Context, accountID string, f automations.EventFilter) (page.Page[*ent.CustomEvent], error)
	Event(ctx context.Context, accountID, eventID string) (*ent.CustomEvent, error)
}

var _ Service = (*automations.Service)(nil)

// BodyLimit allows for a definition with escaped characters.
const BodyLimit = 1 << 20

// OfAutomation is the noun for automation IDs.
var OfAutomation = api.Noun{Name: "automation", About: "ID of the automation.",
	Example: "aut_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is:      func(word string) bool { return id.Is(id.Automation, word) }}

type automationRecord struct {
	ID          string        `json:"id" doc:"The ID of the automation." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name        string        `json:"name" doc:"The name of the automation."`
	Description *string       `json:"description" doc:"A human-readable description. null if none is set."`
	Status      string        `json:"status" enum:"draft,active,paused,archived" doc:"The status of the automation. Only an active automation starts runs."`
	Trigger     storedTrigger `json:"trigger" doc:"The trigger of the draft."`
	Steps       storedSteps   `json:"steps" doc:"The steps of the draft."`
	Timezone    *string       `json:"timezone" doc:"The time zone of the draft; null for UTC."`

	Goal wire.Optional[storedGoal] `json:"goal" doc:"The goal of the draft; null if it has none. A run keeps the goal of its version."`

	Version               *int              `json:"version" doc:"The version that starts runs, or started them before the automation was paused; null if it was never activated."`
	HasUnpublishedChanges bool              `json:"has_unpublished_changes" doc:"Whether the draft differs from that version."`
	Draining              *string           `json:"draining" enum:"release,cancel" doc:"The work in progress. release: held runs continue. cancel: live runs are cancelled. null if there is none."`
	Etag                  string            `json:"etag" doc:"Version tag of the draft. Send it in If-Match to update only the state that you have read."`
	CreatedAt             wire.Time         `json:"created_at" doc:"When the automation was created."`
	UpdatedAt             wire.Time         `json:"updated_at" doc:"When the automation was last changed."`
	ActivatedAt           wire.OptionalTime `json:"activated_at" doc:"When the automation was last activated. null if it never was."`
}

type automationAnswer struct {
	Automation automationRecord `json:"automation" doc:"The automation."`
}

func newRecord(a *ent.Automation) automationRecord {
	var d struct {
		Trigger  storedTrigger `json:"trigger"`
		Steps    storedSteps   `json:"steps"`
		Timezone string        `json:"timezone"`
		Goal     *storedGoal   `json:"goal"`
	}
	_ = json.Unmarshal(a.Draft, &d) // it was written by the service
	return automationRecord{ID: a.ID, Name: a.Name, Description: wire.OrNull(a.Description), Status: string(a.Status),
		Trigger: d.Trigger, Steps: d.Steps, Timezone: wire.OrNull(d.Timezone), Goal: wire.FromPointer(d.Goal),
		Version: a.Version, HasUnpublishedChanges: a.VersionHash != a.DraftHash, Draining: (*string)(a.Draining),
		Etag: a.DraftHash, CreatedAt: wire.Time(a.CreatedAt), UpdatedAt: wire.Time(a.UpdatedAt),
		ActivatedAt: wire.OptionalTime{At: a.ActivatedAt}}
}

func newAnswer(a *ent.Automation) automationAnswer { return automationAnswer{newRecord(a)} }

// automationVersion is a version of an automation in a list.
type automationVersion struct {
	Number     int                               `json:"number" doc:"The number of the version, starting at 1."`
	Definition wire.JSONOf[automationDefinition] `json:"definition" doc:"The definition of the version."`
	CreatedAt  wire.Time                         `json:"created_at" doc:"When the version was created."`
}

func newVersion(v *ent.AutomationVersion) automationVersion {
	return automationVersion{Number: v.Number, Definition: wire.JSONOf[automationDefinition](v.Definition),
		CreatedAt: wire.Time(v.CreatedAt)}
}

type automationVersionsAnswer struct {
	Versions []automationVersion `json:"versions" nullable:"false" doc:"The latest hundred versions, newest first."`
}

type automationVersionAnswer struct {
	Version automationVersion `json:"version" doc:"The version."`
}

type automationProblem struct {
	Path     string `json:"path" doc:"The path of the field." example:"steps[2].template"`
	Severity string `json:"severity" enum:"error,warning" doc:"An error prevents activation."`
	Message  string `json:"message" doc:"A description of the problem, in one sentence."`
}

type automationCheckAnswer struct {
	Problems []automationProblem `json:"problems" nullable:"false" doc:"Everything that prevents activation. Empty if nothing does."`
}

type query struct {
	api.Page

	Status string `query:"status" enum:"draft,active,paused,archived" doc:"Return only automations with this status."`
	Event  string `query:"event" doc:"Return only automations that this event name starts."`
	Q      string `query:"q" doc:"Part of the name, ignoring case."`
}

type versionItem struct {
	api.Item

	Number int `path:"number" minimum:"1" doc:"Number of the version." example:"1"`
}

type changeItem struct {
	api.Item

	IfMatch string `header:"If-Match" doc:"The etag of the draft that you read. If it has changed since, the request fails with 409 conflict, with details.changed_at and details.changed_by (a display name)."`
}

const updateAutomation = "updateAutomation"

type edge struct {
	service Service
	turns   export.Turns
}

// Tag is the tag of these operations and those of package insight.
const Tag = "Automations"

// Routes returns the routes of automations, their runs and custom events.
func Routes(service Service, turns export.Turns) api.Routes {
	return api.NewRoutes("automations", func(a *api.API) {
		e := &edge{service, turns}
		g := a.Tag(Tag, "Sequences of steps, each started by a custom event for one person: send an email, wait, "+
			"decide, or call a URL. An automation is a draft until it is activated. A run keeps the version that it "+
			"started with. Step types: "+strings.Join(definition.Types(), ", ")+
			". The JSON Schema of a definition is at `"+api.Prefix+schemaPath+"`.")
		g.Bind(OfAutomation, service)
		serveSchema(a)
		e.addDefinitions(g)
		e.addActivation(g)
		e.addRuns(g)
		e.addEvents(g)
	})
}

func (e *edge) addDefinitions(g *api.TagGroup) {
	one := map[string]any{"automation": exampleAutomation()}
	api.OnceBody(g, api.Operation{
		Path: "/automations", ID: "createAutomation", Needs: rights.Write,
		Summary: "Create an automation",
		Description: "Creates a draft, which starts no runs until it is activated. For an invalid definition, " +
			"`details` contains the path of each wrong field. An account can have up to 1,000 automations.",
		Body: &api.Body{Limit: BodyLimit, About: "The definition.",
			Examples: map[string]any{"welcome": exampleDefinition()}},
		Example: one, Problems: []int{http.StatusConflict},
	}, newBody, e.createAutomation)
	api.ListBy(g, api.Operation{
		Path: "/automations", ID: "listAutomations", Needs: rights.Read,
		Summary: "List automations", Description: "Lists automations, newest first.", Example: exampleAutomation(),
	}, api.Plural{Member: "automations", Schema: "AutomationList"}, e.listAutomations, newRecord)
	api.Get(g, api.Operation{
		Path: "/automations/{id}", ID: "getAutomation", Needs: rights.Read,
		Summary: "Retrieve an automation", Description: "Returns an automation with its draft.", Example: one,
		Of: OfAutomation,
	}, e.service.Get, newAnswer)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/automations/{id}", ID: updateAutomation, Needs: rights.Write,
		Summary: "Change the draft of an automation",
		Description: "Updates the draft. Each field you send replaces that field of the draft. Runs and the active " +
			"version do not change until the draft is activated. An archived automation fails with 409.",
		Body: &api.Body{Limit: BodyLimit, About: "The fields to change.",
			Examples: map[string]any{"name": map[string]any{"name": "Welcome, twice"}}},
		Example: one, Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: OfAutomation,
	}, changeBody, e.changeAutomation)
	api.Delete(g, api.Operation{
		Path: "/automations/{id}", ID: "deleteAutomation", Needs: rights.Write,
		Summary: "Delete an automation", Description: "Deletes a draft, or an archived automation without live " +
			"runs; otherwise fails with 409. The history of its runs remains.", Of: OfAutomation,
		Problems: []int{http.StatusConflict},
	}, e.service.Delete)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/automations/{id}/check", ID: "checkAutomation", Needs: rights.Read,
		Summary: "Check the draft of an automation", Description: "Returns the problems that prevent activating the " +
			"draft with the current key, such as missing templates or senders, and warnings about what may change: " +
			"unpublished changes of a template, or a sender domain whose DNS records broke.",
		Example: map[string]any{"problems": []any{map[string]any{"path": "steps[0].template", "severity": "error",
			"message": "uses " +
				"a template that is not published; publish it first"}}},
		Of: OfAutomation, Problems: []int{http.StatusNotFound},
	}, e.checkAutomation)
	version := map[string]any{"number": 1, "definition": exampleDefinition(), "created_at": "2026-01-15T09:30:00.000Z"}
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/automations/{id}/versions", ID: "listAutomationVersions", Needs: rights.Read,
		Summary: "List the versions of an automation", Description: "Lists the versions of an automation. " +
			"Activating creates a version, which never changes.",
		Example: map[string]any{"versions": []any{version}}, Of: OfAutomation, Problems: []int{http.StatusNotFound},
	}, e.listVersions)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/automations/{id}/versions/{number}", ID: "getAutomationVersion",
		Needs:   rights.Read,
		Summary: "Retrieve a version of an automation", Description: "Returns a version of an automation as it was " +
			"activated.",
		Example: map[string]any{"version": version}, Of: OfAutomation, Problems: []int{http.StatusNotFound},
	}, e.getVersion)
}

func (e *edge) createAutomation(ctx context.Context, c *api.Call, _ *api.None, in members,
	keep api.StoreResponse) (automationAnswer, error) {
	document, err := json.Marshal(in.given)
	if err != nil {
		return automationAnswer{}, err
	}
	return api.As(newAnswer)(e.service.Create(ctx, c.AccountID, document, api.AdaptStore(keep, newAnswer)))
}

func (e *edge) listAutomations(ctx context.Context, c *api.Call, in *query) (page.Page[*ent.Automation], error) {
	return e.service.List(ctx, c.AccountID, automations.Filter{Request: in.Request(), Status: in.Status,
		Event: in.Event, Name: in.Q})
}

func (e *edge) changeAutomation(ctx context.Context, c *api.Call, in *changeItem, m members) (automationAnswer, error) {
	changed, err := e.service.Change(ctx, c.AccountID, in.ID, m.given, strings.Trim(in.IfMatch, `"`))
	return api.As(newAnswer)(changed, c.AddConflictName(ctx, updateAutomation, in.ID, err))
}

func (e *edge) checkAutomation(ctx context.Context, c *api.Call, in *api.Item) (automationCheckAnswer, error) {
	problems, err := e.service.Check(ctx, c.Caller, in.ID)
	return automationCheckAnswer{wire.ListOf(problems,
		func(p automations.Problem) automationProblem { return automationProblem(p) })}, err
}

func (e *edge) listVersions(ctx context.Context, c *api.Call, in *api.Item) (automationVersionsAnswer, error) {
	list, err := e.service.Versions(ctx, c.AccountID, in.ID)
	return automationVersionsAnswer{wire.ListOf(list, newVersion)}, err
}

func (e *edge) getVersion(ctx context.Context, c *api.Call, in *versionItem) (automationVersionAnswer, error) {
	return api.As(func(v *ent.AutomationVersion) automationVersionAnswer { return automationVersionAnswer{newVersion(v)} })(e.service.Version(ctx, c.AccountID, in.ID, in.Number))
}

func exampleDefinition() map[string]any {
	return map[string]any{"name": "Welcome", "trigger": map[string]any{"event": "user.created", "re_entry": "once"},
		"steps": []any{
			map[string]any{"key": "hello", "type": "send_email", "from": "Ada <ada@example.com>",
				"subject": "Welcome, {{event.data.name}}", "text": "Hello {{event.data.name}}."},
			map[string]any{"key": "pause", "type": "delay", "duration": "P1D"},
			map[string]any{"key": "tips", "type": "send_email", "from": "Ada <ada@example.com>",
				"template": map[string]any{"alias": "tips"}}}}
}

func exampleGoal() map[string]any { return map[string]any{"event": "order.paid", "within_days": 7} }

func exampleAutomation() map[string]any {
	d := exampleDefinition()
	return map[string]any{"id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "Welcome", "description": nil,
		"status": "active", "trigger": d["trigger"], "steps": d["steps"], "timezone": nil, "goal": nil,
		"version": 1, "has_unpublished_changes": false, "draining": nil,
		"etag":       "3f2a9c1b7d5e4f603f2a9c1b7d5e4f603f2a9c1b7d5e4f603f2a9c1b7d5e4f60",
		"created_at": "2026-01-15T09:30:00.000Z", "updated_at": "2026-01-15T09:30:00.000Z",
		"activated_at": "2026-01-15T09:31:00.000Z"}
}
