package app

import (
	"maps"
	"slices"

	"go.uber.org/fx"

	"github.com/postrider/postrider/graph"
	"github.com/postrider/postrider/rest/api"
)

// Module is a row of the registry: everything that the assembly, the tests and `postrider modules` know
// about a domain module. To add a module, add its folder, its edge files in rest and graph, and a row here.
type Module struct {
	Name     string
	Line     string   // a description in one line
	Requires []string // must be enabled too
	Uses     []string // used if enabled
	Always   bool     // cannot be disabled
	Dev      bool     // exists in development mode only
	Option   fx.Option
	// Routes are its REST routes. Constructed without services, they still describe the same operations for
	// the OpenAPI document.
	Routes []route
	// RoutesWith contains additional REST routes that require another enabled module, by the name of that module.
	RoutesWith map[string][]route
	// Graph are the services that resolve its GraphQL fields.
	Graph []part
	// Edges are its other parts: pages, links, and lines of GET /readyz.
	Edges fx.Option
}

// routes returns the constructors of its REST routes for the enabled modules.
func (m Module) routes(on []string) []route {
	all := slices.Clone(m.Routes)
	for _, other := range slices.Sorted(maps.Keys(m.RoutesWith)) {
		if slices.Contains(on, other) {
			all = append(all, m.RoutesWith[other]...)
		}
	}
	return all
}

// options returns all parts of the row for Fx, for the enabled modules.
func (m Module) options(on []string) fx.Option {
	all := []fx.Option{m.Option}
	for _, r := range m.routes(on) {
		all = append(all, fx.Provide(fx.Annotate(r.construct, fx.ResultTags(`group:"routes"`))))
	}
	for _, constructor := range m.Graph {
		all = append(all, fx.Provide(fx.Annotate(constructor(m.Name), fx.ResultTags(`group:"graph"`))))
	}
	if m.Edges != nil {
		all = append(all, m.Edges)
	}
	return fx.Options(all...)
}

// Operations returns its routes without services, for the enabled modules.
func (m Module) Operations(on []string) []api.Routes {
	var all []api.Routes
	for _, r := range m.routes(on) {
		all = append(all, r.describe(on))
	}
	return all
}

// part returns the constructor of a graph.Part for the named module.
type part func(name string) any

// provideGraph returns a part in which a service *S serves fields of the schema.
func provideGraph[S any](set func(*graph.Parts, *S)) part {
	return func(name string) any {
		return func(service *S) graph.ServiceSet {
			return graph.ServiceSet{Module: name, Set: func(p *graph.Parts) { set(p, service) }}
		}
	}
}
