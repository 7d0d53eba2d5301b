package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// router combines two muxes, because net/http rejects two patterns if each is more specific in a different
// segment, such as /domains/claims/{id} and /domains/{id}/zone-file. Here the earlier literal wins.
type router struct {
	claims, all http.ServeMux
	patterns    []string
}

var _ humago.Mux = (*router)(nil)

const claimsPath = Prefix + "/domains/claims/"

// HandleFunc registers a pattern of method and path.
func (m *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.patterns = append(m.patterns, pattern)
	if _, path, _ := strings.Cut(pattern, " "); strings.HasPrefix(path, claimsPath) {
		m.claims.HandleFunc(pattern, handler)
		return
	}
	m.all.HandleFunc(pattern, handler)
}

// Pattern returns the pattern that would serve a request, or "".
func (m *router) Pattern(r *http.Request) string {
	_, pattern := m.muxOf(r).Handler(r)
	return pattern
}

func (m *router) muxOf(r *http.Request) *http.ServeMux {
	if _, pattern := m.claims.Handler(r); pattern != "" {
		return &m.claims
	}
	return &m.all
}

func (m *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.muxOf(r).ServeHTTP(w, r) }
