package development

import (
	"sync/atomic"

	"go.uber.org/fx"

	"github.com/postrider/postrider/graph"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/runtime/base/setting"
)

// SeedStore exposes the seeded data to GraphQL.
type SeedStore struct {
	latest atomic.Pointer[graph.SeedData]
}

// Shown provides the seeded data to GraphQL.
var Shown = fx.Provide(func() *SeedStore { return &SeedStore{} },
	fx.Annotate(func(s *SeedStore) graph.ServiceSet {
		return graph.ServiceSet{Module: graph.ModuleDevelopment, Set: func(p *graph.Parts) { p.Seeds = s }}
	}, fx.ResultTags(`group:"graph"`)))

var _ graph.Seeds = (*SeedStore)(nil)

// SeedData returns the seeded data, or nil if seeding has not finished.
func (s *SeedStore) SeedData() *graph.SeedData { return s.latest.Load() }

func (s *SeedStore) store(r Ready, cfg setting.Values) {
	out := &graph.SeedData{APIKey: r.APIKey}
	if r.InboxURL != nil {
		out.InboxURL = *r.InboxURL
	}
	if r.InboundAddr != nil {
		out.InboundURL = "smtp://" + *r.InboundAddr
	}
	if r.VerifiedDomain != nil {
		out.Domain = *r.VerifiedDomain
	}
	if len(playedConfig(cfg).Domains) > 0 && r.InboxURL != nil {
		out.Failures = devinbox.ScenarioAddresses()
	}
	s.latest.Store(out)
}
