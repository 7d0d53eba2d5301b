package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/loopback"
)

const (
	// dataWithin is how long the page waits for data. Without it, the app reads the data itself.
	dataWithin = 400 * time.Millisecond
	// maxData is the maximum size of a result that the page contains.
	maxData = 256 << 10
)

// pageQuery is a query of the app whose result the page contains, so that the app need not send it. The variables are
// those of the app, byte for byte.
type pageQuery struct{ name, variables string }

var (
	viewerQuery = pageQuery{"Viewer", `{}`}
	// latestEvent lets the app notice events between the page and the start of its event stream.
	latestEvent      = pageQuery{"LatestEvent", `{}`}
	developmentSeeds = pageQuery{"DevelopmentSeeds", `{}`}
	// routeQueries are the queries of a route without search parameters.
	routeQueries = map[string][]pageQuery{
		"/emails": {{"EmailList", `{"first":50,"q":null,"after":null}`}},
	}
)

// preloads are the links and the data in the page of a route.
type preloads struct {
	links     map[string]string // HTML by the pattern of a route, such as /emails/$id
	documents map[string]string // GraphQL document ids by the name of the operation
}

// readPreloads reads which files each route of a build needs.
func readPreloads(built fs.FS) (preloads, error) {
	p := preloads{links: map[string]string{}, documents: map[string]string{}}
	texts, err := Documents()
	if err != nil {
		return p, err
	}
	for hash, text := range texts {
		if found := operationName.FindStringSubmatch(text); found != nil {
			p.documents[found[1]] = "sha256:" + hash
		}
	}
	content, err := fs.ReadFile(built, "routes.json")
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("dashboard: %w", err)
	}
	var routes map[string][]string
	if err := json.Unmarshal(content, &routes); err != nil {
		return p, fmt.Errorf("dashboard: routes.json: %w", err)
	}
	for pattern, files := range routes {
		var links strings.Builder
		for _, file := range files {
			rel := "modulepreload"
			if strings.HasSuffix(file, ".css") {
				rel = "stylesheet"
			}
			links.WriteString(`<link rel="` + rel + `" crossorigin href="` + template.HTMLEscapeString(file) + "\">\n")
		}
		p.links[pattern] = links.String()
	}
	return p, nil
}

var operationName = regexp.MustCompile(`^query (\w+)`)

// linksFor returns the links to the files that the app needs for a path.
func (p preloads) linksFor(path string) string {
	if links, is := p.links[path]; is {
		return links
	}
	for pattern, links := range p.links {
		if matchesRoute(pattern, path) {
			return links
		}
	}
	return ""
}

// matchesRoute reports whether a path matches a pattern, in which $name matches one segment.
func matchesRoute(pattern, path string) bool {
	segments := strings.Split(path, "/")
	wanted := strings.Split(pattern, "/")
	if len(segments) != len(wanted) {
		return false
	}
	for i, segment := range wanted {
		if segment != segments[i] && (!strings.HasPrefix(segment, "$") || segments[i] == "") {
			return false
		}
	}
	return true
}

// pageData is the content of the page's data element.
type pageData struct {
	At      time.Time             `json:"at"` // by the clock of this server
	Results map[string]pageResult `json:"results"`
}

type pageResult struct {
	Variables json.RawMessage `json:"variables"`
	Data      json.RawMessage `json:"data"`
}

// dataFor returns the element with the data that the app needs first, for a signed-in user. It is empty if the data
// cannot be read in time. An element of this type is not run, and no text in it can end it, because JSON is written
// without angle brackets.
func (a *app) dataFor(w http.ResponseWriter, r *http.Request) []byte {
	if a.GraphQL == nil || len(r.Cookies()) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), dataWithin)
	defer cancel()
	asked := []pageQuery{viewerQuery, latestEvent}
	if a.Dev {
		asked = append(asked, developmentSeeds)
	}
	if r.URL.RawQuery == "" {
		asked = append(asked, routeQueries[r.URL.Path]...)
	}
	data := pageData{At: time.Now().UTC(), Results: map[string]pageResult{}}
	for i, q := range asked {
		result := a.runQuery(ctx, w, r, q)
		if result == nil && i == 0 {
			return nil // not signed in
		}
		if result != nil {
			data.Results[q.name] = pageResult{json.RawMessage(q.variables), result}
		}
	}
	text, err := json.Marshal(data) // escapes <, > and &
	if err != nil {
		return nil // the app reads the data itself
	}
	return slices.Concat([]byte(`<script type="application/json" id="preloaded">`), text, []byte("</script>\n"))
}

// clientFields identify the user of a page. The fields that say where a navigation comes from are not among them,
// because the page runs only queries that the app would run.
var clientFields = slices.DeleteFunc(slices.Clone(loopback.ClientFields), func(name string) bool {
	return name == "Authorization" || name == "Origin" || name == "Sec-Fetch-Site"
})

// runQuery returns the data of a query that the user of a request may run, or nil. It takes the same way as a request
// of the app, with the same authentication and limits.
func (a *app) runQuery(ctx context.Context, w http.ResponseWriter, r *http.Request, q pageQuery) json.RawMessage {
	body := &loopback.Buffer{Limit: maxData}
	response, err := loopback.Call{Client: loopback.CopyClient(r, clientFields...), Method: http.MethodGet, Path: "/graphql",
		RequestID: w.Header().Get(telemetry.RequestIDHeader),
		Query: url.Values{"documentId": {a.preloads.documents[q.name]}, "operationName": {q.name},
			"variables": {q.variables}}}.Do(ctx, a.GraphQL, body)
	var result struct {
		Data   json.RawMessage   `json:"data"`
		Errors []json.RawMessage `json:"errors"`
	}
	if err != nil || !response.IsSuccess() || json.Unmarshal(body.Content, &result) != nil || len(result.Errors) > 0 {
		return nil
	}
	return result.Data
}
