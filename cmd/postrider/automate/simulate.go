package automate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/postrider/postrider/cmd/postrider/client"
)

// Simulate runs a draft on the server's virtual clock.
type Simulate struct {
	Server client.Server

	Name  string // name of the automation
	Input string // file with the request body; if empty, an event without a person
}

// Simulated is the response of the server, and the status in which the run ended.
type Simulated struct {
	Whole  json.RawMessage
	Status string
}

// Run simulates a run of the draft, unless the input specifies a version. The error reports an invalid field,
// the file or a response of the server.
func (s Simulate) Run(ctx context.Context) (out Simulated, err error) {
	if err := s.Server.Validate(); err != nil {
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
	list, err := List(ctx, s.Server)
	if err != nil {
		return out, err
	}
	a, err := findByName(list, s.Name)
	if err != nil || a == nil {
		return out, orMissing(s.Name, err)
	}
	var answer struct{ Simulation json.RawMessage }
	if err := s.Server.Do(ctx, client.Request{Method: http.MethodPost, Path: "/automations/" + a.ID + "/simulate",
		Body: input}, &answer); err != nil {
		return out, fmt.Errorf("simulate: %w", err)
	}
	var ended struct {
		Status string `json:"status"`
	}
	if err := json.Unmarshal(answer.Simulation, &ended); err != nil {
		return out, fmt.Errorf("decode the simulation: %w", err)
	}
	return Simulated{answer.Simulation, ended.Status}, nil
}
