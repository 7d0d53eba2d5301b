package app

import (
	"net/http"
	"slices"
)

// Routes lists the HTTP routes of this process: patterns of http.ServeMux, and prefixes that end in a slash.
// Tests check each of them against the budget.
type Routes struct{ patterns []string }

func newRoutes() *Routes { return &Routes{} }

// List returns the patterns in the order in which they were declared.
func (r *Routes) List() []string { return slices.Clone(r.patterns) }

func (r *Routes) add(patterns ...string) { r.patterns = append(r.patterns, patterns...) }

// listedMux is a mux that records its patterns.
type listedMux struct {
	http.ServeMux

	routes *Routes
}

// Handle implements the method of http.ServeMux.
func (m *listedMux) Handle(pattern string, h http.Handler) {
	m.routes.add(pattern)
	m.ServeMux.Handle(pattern, h)
}

// HandleFunc implements the method of http.ServeMux.
func (m *listedMux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(h))
}
