package automate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

// Simulate says what is played.
type Simulate struct {
	Server

	Name  string // of the automation
	Input string // the file with the body of the operation; "": an event without a person
}

// Simulated is what the server says, and how the run ended.
type Simulated struct {
	Whole  json.RawMessage
	Status string
}

// Run plays a run of the draft, unless the input names a version. The error is that of the file, of
// the server, or a wrong field.
func (s Simulate) Run(ctx context.Context) (out Simulated, err error) {
	if err := s.Validate(); err != nil {
		return out, err
	}
	input := map[string]any{"event": map[string]any{}}
	if s.Input != "" {
		content, err := os.ReadFile(s.Input)
		if err != nil {
			return out, err
		}
		if input, err = decode(content); err != nil {
			return out, fmt.Errorf("%s: %w", s.Input, err)
		}
	}
	if _, given := input["version"]; !given {
		input["draft"] = true
	}
	list, err := s.all(ctx)
	if err != nil {
		return out, err
	}
	a, err := named(list, s.Name)
	if err != nil || a == nil {
		return out, orMissing(s.Name, err)
	}
	var answer struct{ Simulation json.RawMessage }
	if err := s.call(ctx, http.MethodPost, "/automations/"+a.ID+"/simulate", input, &answer); err != nil {
		return out, fmt.Errorf("simulate: %w", err)
	}
	var ended struct {
		Status string `json:"status"`
	}
	if err := json.Unmarshal(answer.Simulation, &ended); err != nil {
		return out, fmt.Errorf("the simulation cannot be read: %w", err)
	}
	return Simulated{answer.Simulation, ended.Status}, nil
}

// List gives the automations of the account, without those that are archived.
func (s Server) List(ctx context.Context) ([]Automation, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s.all(ctx)
}
