package graph

import (
	"github.com/postrider/postrider/graph/model"
)

// ModuleDevelopment is no module of the product: its fields are there in development mode.
const ModuleDevelopment = "development"

// Seeds tells what development mode has seeded; nil: nothing yet.
type Seeds interface {
	Seeded() *Seeded
}

// Seeded is what a first request needs. Empty fields: that part is off.
type Seeded struct {
	APIKey, InboxURL, InboundURL, Domain string
	Failures                             []string // local parts at Domain
}

func toDevelopment(s *Seeded) *model.Development {
	if s == nil {
		return nil
	}
	return &model.Development{APIKey: s.APIKey, InboxURL: filled(s.InboxURL), InboundURL: filled(s.InboundURL), Domain: filled(s.Domain), Failures: append([]string{}, s.Failures...)}
}
