package resend

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/postrider/postrider/rest/compat"
)

// The steps of automations differ too much to be translated. Use our own API or the dashboard to write them.
var refuseSteps = compat.Refuse("Automations with steps in the format of Resend are")

func automationRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/automations", Handle: refuseSteps},
		{Method: http.MethodGet, Path: "/automations", Handle: listAutomations},
		{Method: http.MethodGet, Path: "/automations/{id}", Handle: getAutomation},
		{Method: http.MethodPatch, Path: "/automations/{id}", Handle: updateAutomation},
		{Method: http.MethodDelete, Path: "/automations/{id}", Handle: removeItem("automations", "automation")},
		{Method: http.MethodPost, Path: "/automations/{id}/duplicate", Handle: duplicateAutomation},
		{Method: http.MethodPost, Path: "/automations/{id}/stop", Handle: stopAutomation},
		{Method: http.MethodGet, Path: "/automations/{id}/runs", Handle: listRuns},
		{Method: http.MethodGet, Path: "/automations/{id}/runs/{run}", Handle: getRun},
	}
}

// The status of an automation at Resend.
const (
	enabled  = "enabled"
	disabled = "disabled"
)

// automation is an automation of our own API.
type automation struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

type automationAnswer struct {
	Automation automation `json:"automation"`
}

type shownAutomation struct {
	Object    string `json:"object,omitempty"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func (a automation) show(object string) shownAutomation {
	status := disabled
	if a.Status == "active" {
		status = enabled
	}
	return shownAutomation{object, a.ID, a.Name, status, a.CreatedAt, a.UpdatedAt}
}

func listAutomations(c *compat.Call) (*compat.Response, error) {
	var keep func(automation) bool
	switch status := c.Query.Get("status"); status {
	case "":
	case enabled, disabled:
		keep = func(a automation) bool { return a.show("").Status == status }
	default:
		return nil, compat.Invalid("status", "must be one of enabled, disabled")
	}
	return answerList(c, compat.ListRequest{Path: "/automations", Member: "automations", Name: "automations"},
		func(a automation) string { return a.ID }, keep, func(a automation) shownAutomation { return a.show("") })
}

func getAutomation(c *compat.Call) (*compat.Response, error) {
	var found automationAnswer
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("automations", c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	return compat.OK(found.Automation.show("automation"))
}

func updateAutomation(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Name        *string         `json:"name"`
		Status      *string         `json:"status"`
		Steps       json.RawMessage `json:"steps"`
		Connections json.RawMessage `json:"connections"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if !isNull(in.Steps) || !isNull(in.Connections) {
		return refuseSteps(c)
	}
	action := ""
	if in.Status != nil {
		if action = map[string]string{enabled: "activate", disabled: "pause"}[*in.Status]; action == "" {
			return nil, compat.Invalid("status", "must be one of enabled, disabled")
		}
	}
	id, change := c.Param("id"), map[string]string{}
	if in.Name != nil {
		change["name"] = *in.Name
	}
	if err := c.Do(compat.Request{Method: http.MethodPatch, Path: joinPath("automations", id), Body: change},
		nil); err != nil {
		return nil, err
	}
	if action != "" {
		if _, err := actOn(c, action); err != nil {
			return nil, err
		}
	}
	return compat.OK(object{Object: "automation", ID: id})
}

func actOn(c *compat.Call, action string) (automation, error) {
	var done automationAnswer
	err := c.Do(compat.Request{Method: http.MethodPost, Path: joinPath("automations", c.Param("id")),
		Body: map[string]string{"action": action}}, &done)
	return done.Automation, err
}

func duplicateAutomation(c *compat.Call) (*compat.Response, error) {
	made, err := actOn(c, "duplicate")
	if err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "automation", ID: made.ID})
}

func stopAutomation(c *compat.Call) (*compat.Response, error) {
	if _, err := actOn(c, "pause"); err != nil {
		return nil, err
	}
	return compat.OK(struct {
		object

		Status string `json:"status"`
	}{object{Object: "automation", ID: c.Param("id")}, disabled})
}

// run is a run of our own API.
type run struct {
	ID           string  `json:"id"`
	AutomationID string  `json:"automation_id"`
	Status       string  `json:"status"`
	StartedAt    string  `json:"started_at"`
	EndedAt      *string `json:"ended_at"`
	Steps        []struct {
		Key       string          `json:"key"`
		Type      string          `json:"type"`
		Status    string          `json:"status"`
		Output    json.RawMessage `json:"output"`
		Error     *string         `json:"error"`
		StartedAt string          `json:"started_at"`
		EndedAt   string          `json:"ended_at"`
	} `json:"steps"`
}

type shownRun struct {
	ID          string  `json:"id"`
	Status      string  `json:"status"`
	StartedAt   string  `json:"started_at"`
	CompletedAt *string `json:"completed_at"`
	CreatedAt   string  `json:"created_at"`
}

func (r run) show() shownRun {
	status := r.Status
	if status == "waiting" {
		status = "running"
	}
	return shownRun{r.ID, status, r.StartedAt, r.EndedAt, r.StartedAt}
}

func listRuns(c *compat.Call) (*compat.Response, error) {
	var keep func(run) bool
	if wanted := c.Query.Get("status"); wanted != "" {
		statuses := strings.Split(wanted, ",")
		for _, status := range statuses {
			if !slices.Contains([]string{"running", "completed", "failed", "cancelled"}, status) {
				return nil, compat.Invalid("status", "must be one of running, completed, failed, cancelled")
			}
		}
		keep = func(r run) bool { return slices.Contains(statuses, r.show().Status) }
	}
	return answerList(c, compat.ListRequest{Path: joinPath("automations", c.Param("id"), "runs"),
		Member: "automation_runs",
		Name:   "automation runs"}, func(r run) string { return r.ID }, keep, run.show)
}

type shownStep struct {
	Key         string          `json:"key"`
	Type        string          `json:"type"`
	Status      string          `json:"status"`
	Output      json.RawMessage `json:"output"`
	Error       any             `json:"error"`
	StartedAt   string          `json:"started_at"`
	CompletedAt string          `json:"completed_at"`
	CreatedAt   string          `json:"created_at"`
}

func getRun(c *compat.Call) (*compat.Response, error) {
	var found struct {
		Run run `json:"automation_run"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("automation-runs", c.Param("run"))},
		&found); err != nil {
		return nil, err
	}
	if found.Run.AutomationID != c.Param("id") {
		return nil, compat.NotFound("automation run")
	}
	steps := []shownStep{}
	for _, s := range found.Run.Steps {
		shown := shownStep{Key: s.Key, Type: s.Type, Status: s.Status, Output: s.Output, StartedAt: s.StartedAt,
			CompletedAt: s.EndedAt, CreatedAt: s.StartedAt}
		if s.Error != nil {
			shown.Error = map[string]string{"message": *s.Error}
		}
		steps = append(steps, shown)
	}
	return compat.OK(struct {
		Object string `json:"object"`
		shownRun
		Steps []shownStep `json:"steps"`
	}{"automation_run", found.Run.show(), steps})
}
