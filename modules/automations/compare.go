package automations

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/diff"
)

// Comparison is the difference between two versions of an automation, or between a version and the draft.
type Comparison struct {
	diff.Difference

	From, To *int // versions; nil: the draft
}

// Against selects the other side of a comparison.
type Against struct {
	Draft   bool
	Version int // 0 without Draft: the previous version
}

// Compare compares a version with another version or with the draft. The older one is From; the draft is newer
// than every version. By default, the other side is the previous version. It returns NotFound.
func (s *Service) Compare(ctx context.Context, accountID, automationID string, number int,
	against Against) (Comparison, error) {
	a, err := s.Get(ctx, accountID, automationID)
	if err != nil {
		return Comparison{}, err
	}
	one, err := s.Version(ctx, accountID, automationID, number)
	if err != nil {
		return Comparison{}, err
	}
	if against.Draft {
		return compareDefinitions(one.Definition, a.Draft, &number, nil)
	}
	other := against.Version
	if other == 0 {
		if other = number - 1; other == 0 {
			other = number // the first version has no predecessor, so it is compared with itself
		}
	}
	two, err := s.Version(ctx, accountID, automationID, other)
	if err != nil {
		return Comparison{}, err
	}
	if other > number {
		return compareDefinitions(one.Definition, two.Definition, &number, &other)
	}
	return compareDefinitions(two.Definition, one.Definition, &other, &number)
}

func compareDefinitions(before, after json.RawMessage, from, to *int) (out Comparison, err error) {
	var old, young definition.Definition
	if err := json.Unmarshal(before, &old); err != nil {
		return out, fmt.Errorf("read a definition: %w", err)
	}
	if err := json.Unmarshal(after, &young); err != nil {
		return out, fmt.Errorf("read a definition: %w", err)
	}
	return Comparison{diff.Compare(&old, &young), from, to}, nil
}
