// Package explorer serves GraphiQL, an editor for GraphQL queries, to signed-in users and, in development mode,
// to any visitor. The program contains all of its files.
package explorer

import (
	"bytes"
	_ "embed" // the files
	"fmt"
	"html/template"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/web/static"
)

// Path is the path of the page.
const Path = "/explorer"

// The files of GraphiQL and React are compressed. .ci/explorer writes them.
var (
	//go:embed graphiql.js.gz
	graphiqlJS []byte
	//go:embed graphiql.css.gz
	graphiqlCSS []byte
	//go:embed react.js.gz
	reactJS []byte
	//go:embed explorer.js
	startJS []byte
	//go:embed explorer.css
	pageCSS []byte
	//go:embed explorer.html
	pageHTML string
)

// policy allows the files of the page, requests to this installation, and the style attributes of the editor. The
// editor draws its icons from data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; " +
	"img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Door authenticates requests.
type Door interface {
	Authenticate(r *http.Request) (accounts.Caller, error)
}

var _ Door = (*admission.Authenticator)(nil)

// Paths are the paths of the handler.
func Paths() []string { return []string{"GET " + Path, "GET " + Path + "/{file}"} }

// New returns the handler of Paths. If open is set, it requires neither a session nor an API key.
func New(door Door, open bool) (http.Handler, error) {
	parsed, err := template.New("explorer").Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	var page bytes.Buffer
	if err := parsed.Execute(&page, struct{ Open bool }{open}); err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	mux := http.NewServeMux()
	shown := static.New(page.Bytes(), headerOf("text/html; charset=utf-8"))
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		if _, err := door.Authenticate(r); err != nil && !open {
			http.Redirect(w, r, signin.PagePath(Path, nil), http.StatusSeeOther)
			return
		}
		shown.ServeHTTP(w, r)
	})
	const script, style = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
	for name, file := range map[string]http.Handler{
		"graphiql.js":  static.NewPacked(nil, graphiqlJS, headerOf(script)),
		"graphiql.css": static.NewPacked(nil, graphiqlCSS, headerOf(style)),
		"react.js":     static.NewPacked(nil, reactJS, headerOf(script)),
		"explorer.js":  static.New(startJS, headerOf(script)),
		"explorer.css": static.New(pageCSS, headerOf(style)),
	} {
		mux.Handle("GET "+Path+"/"+name, file)
	}
	return mux, nil
}

func headerOf(media string) http.Header {
	return http.Header{"Content-Type": {media}, "Content-Security-Policy": {policy},
		"X-Content-Type-Options": {"nosniff"}, "Referrer-Policy": {"same-origin"},
		"Cross-Origin-Opener-Policy": {"same-origin"}, "Cache-Control": {"no-cache"}}
}
