// Package dashboard serves the web dashboard: the page for every path that no other handler serves, and its
// assets. The sources of the app are in src, and its build is in dist, which is not committed. Without a build, a small
// page explains how to create one.
package dashboard

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/static"
	"github.com/postrider/postrider/runtime/web/theme"
)

var (
	//go:embed all:dist
	dist embed.FS
	//go:embed documents.json
	documents []byte
	//go:embed absent.html
	absentPage string
)

// Documents are the dashboard's GraphQL queries by their SHA-256 in hexadecimal.
func Documents() (map[string]string, error) {
	var texts map[string]string
	if err := json.Unmarshal(documents, &texts); err != nil {
		return nil, fmt.Errorf("dashboard: documents.json: %w", err)
	}
	return texts, nil
}

// Link is a link on the page that is shown without a build.
type Link struct{ Path, Name, Line string }

// Options of New.
type Options struct {
	Version string
	Dev     bool // development mode
	Links   []Link
	Door    Door           // admits previews
	Budget  *intake.Budget // likewise
	GraphQL http.Handler   // answers the queries whose results the page contains; nil: it contains none
	Images  string         // URL prefix of the images of templates, which previews show
	Logger  *slog.Logger
}

// Assets is the prefix of the files that the page loads. Their names contain a hash of their content.
const Assets = "/assets/"

// New returns the handler of the page, of Assets and of Preview. It responds to any path,
// because only the app knows its pages.
func New(o Options) (http.Handler, error) {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return newApp(built, o)
}

func newApp(built fs.FS, o Options) (*app, error) {
	page, err := fs.ReadFile(built, "index.html")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	absent, err := template.New("absent").Parse(absentPage)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	links, err := readPreloads(built)
	if err != nil {
		return nil, err
	}
	parts, err := cutPage(page)
	return &app{Options: o, assets: assets{built: built},
		preview: &preview{o.Door, o.Budget, newPreviewTurns(), o.Images}, absent: absent, preloads: links, page: parts}, err
}

// app serves the page.
type app struct {
	Options

	assets   assets
	preview  *preview
	preloads preloads
	page     [][]byte // the parts between what each request inserts; empty without a build
	absent   *template.Template
}

// insertions are the texts of the page after or before which a request inserts something.
var insertions = []struct {
	mark  string
	after bool
}{
	{"<html", true}, // the theme
	{`<meta name="style-nonce" content="`, true},
	{"</head>", false}, // links
	{"</body>", false}, // data
}

// cutPage splits the page at the positions that differ between requests.
func cutPage(page []byte) (parts [][]byte, err error) {
	if len(page) == 0 {
		return nil, nil
	}
	for _, x := range insertions {
		at := bytes.Index(page, []byte(x.mark))
		if at < 0 {
			return nil, errors.New("dashboard: dist/index.html is not a page of the build")
		}
		if x.after {
			at += len(x.mark)
		}
		parts, page = append(parts, page[:at]), page[at:]
	}
	return append(parts, page), nil
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	if r.URL.Path == Preview {
		a.preview.ServeHTTP(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Method not allowed: use GET", http.StatusMethodNotAllowed)
		return
	}
	if name, is := strings.CutPrefix(r.URL.Path, Assets); is {
		a.assets.serve(w, r, name)
		return
	}
	// Programs get a 404 for a missing file; browsers get the app, which shows its own message.
	if r.URL.Path != "/" && !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.NotFound(w, r)
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "same-origin")
	if len(a.page) == 0 {
		a.serveAbsent(w, r)
		return
	}
	// A few libraries insert style elements. They need a nonce, because the policy blocks all other styles.
	nonce := rand.Text()
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+
		"'; style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; worker-src 'self'; frame-src 'self' blob:; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	inserted := [][]byte{[]byte(themeOf(r)), []byte(nonce), []byte(a.preloads.linksFor(r.URL.Path)), a.dataFor(w, r), nil}
	var page bytes.Buffer
	for i, part := range a.page {
		page.Write(part)
		page.Write(inserted[i])
	}
	a.write(w, r, static.Encode(header, r.Header.Get("Accept-Encoding"), page.Bytes()))
}

// themeOf returns the attribute for the theme that the user has chosen, so that the page does not first appear in
// another one.
func themeOf(r *http.Request) string {
	if cookie, err := r.Cookie("postrider-theme"); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		return ` data-theme="` + cookie.Value + `"`
	}
	return ""
}

const absentStyle = `body { display: grid; place-items: center; min-height: 100vh; }
main { display: grid; gap: 16px; width: 100%; max-width: 560px; padding: 24px; }
h1 { display: flex; gap: 10px; align-items: center; }
ul { padding: 0; list-style: none; }
li { padding: 10px 16px; border-top: 1px solid var(--color-line-soft); }
li:first-child { border-top: 0; }
`

var absentPolicy = "default-src 'none'; img-src 'self'; style-src " + theme.Source(theme.Style+absentStyle) +
	"; base-uri 'none'; frame-ancestors 'none'"

// absence is the page that is shown without a build.
type absence struct {
	Options

	Style template.CSS
}

// serveAbsent responds that the dashboard was not built.
func (a *app) serveAbsent(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", absentPolicy)
	if r.URL.Path != "/" {
		w.WriteHeader(http.StatusNotFound)
	}
	if err := a.absent.Execute(w, absence{a.Options, template.CSS(theme.Style + absentStyle)}); err != nil { //nolint:gosec // both are part of our build
		a.logDisconnect(r, err)
	}
}

func (a *app) write(w http.ResponseWriter, r *http.Request, content []byte) {
	if _, err := w.Write(content); err != nil { //nolint:gosec // the page of our build, with a nonce
		a.logDisconnect(r, err)
	}
}

func (a *app) logDisconnect(r *http.Request, err error) {
	a.Logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
}
