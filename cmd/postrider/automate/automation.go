package automate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/cmd/postrider/client"
)

// Automation is an automation as the API returns it.
type Automation struct {
	ID                    string          `json:"id"`
	Name                  string          `json:"name"`
	Description           *string         `json:"description"`
	Status                string          `json:"status"`
	Version               *int            `json:"version"`
	HasUnpublishedChanges bool            `json:"has_unpublished_changes"`
	Trigger               json.RawMessage `json:"trigger"`
	Steps                 json.RawMessage `json:"steps"`
	Timezone              *string         `json:"timezone"`

	Goal *json.RawMessage `json:"goal"`
}

const statusArchived = "archived"

// List lists the automations of the account, newest first, except archived ones.
func List(ctx context.Context, s client.Server) (out []Automation, err error) {
	err = s.List(ctx, "/automations", "automations", nil, 0, func(item json.RawMessage) error {
		var a Automation
		if err := json.Unmarshal(item, &a); err != nil {
			return err
		}
		if a.Status != statusArchived {
			out = append(out, a)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list automations: %w", err)
	}
	return out, nil
}

// findByName returns the automation with a name, or nil if no automation has it. If two automations have the name,
// findByName returns an error.
func findByName(list []Automation, name string) (found *Automation, err error) {
	for i := range list {
		switch {
		case list[i].Name != name:
		case found != nil:
			return nil, fmt.Errorf("the account has two automations with the name %q (%s, %s): rename or archive one",
				name, found.ID, list[i].ID)
		default:
			found = &list[i]
		}
	}
	return found, nil
}
