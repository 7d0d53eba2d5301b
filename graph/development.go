package graph

import (
	"github.com/postrider/postrider/graph/model"
)

// ModuleDevelopment is not a product module: its fields exist only in development mode.
const ModuleDevelopment = "development"

// Seeds returns the data that development mode seeded, or nil if there is none yet.
type Seeds interface {
	SeedData() *SeedData
}

// SeedData is the data for a first request. A field is empty if its module is disabled.
type SeedData struct {
	APIKey, InboxURL, InboundURL, Domain string
	Failures                             []string // local parts at Domain
}

func toDevelopment(s *SeedData) *model.Development {
	if s == nil {
		return nil
	}
	return &model.Development{APIKey: s.APIKey, InboxURL: nilIfEmpty(s.InboxURL), InboundURL: nilIfEmpty(s.InboundURL),
		Domain: nilIfEmpty(s.Domain), Failures: append([]string{}, s.Failures...)}
}
