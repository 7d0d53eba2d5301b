package track

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/postrider/postrider/runtime/web/theme"
)

// words are the texts of the pages in one language, from words/<language>.json.
type words struct {
	NotFound       string `json:"not_found"`
	NotFoundAdvice string `json:"not_found_advice"`
	Withheld       string `json:"withheld"`
	WithheldAdvice string `json:"withheld_advice"`
	Failed         string `json:"failed"`
	FailedAdvice   string `json:"failed_advice"`
}

//go:embed words/*.json
var wordFiles embed.FS

var translations = theme.LoadWords[words](wordFiles)

const noticeStyle = "body { padding: 16px; } main { max-width: 480px; margin: 8vh auto 0; padding: 28px; } h1 { margin-bottom: 8px; }\n"

var (
	noticePolicy = "default-src 'none'; style-src " + theme.Source(theme.Style+noticeStyle) +
		"; base-uri 'none'; frame-ancestors 'none'"

	noticeLayout = template.Must(template.New("notice").Parse(`<!doctype html>
<html lang="{{.Language}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<main class="card"><h1>{{.Title}}</h1><p>{{.Advice}}</p></main>
</body>
</html>
`))
)

// writeNotice writes a page without links, in the language that the client prefers.
func (l links) writeNotice(w http.ResponseWriter, r *http.Request, status int,
	choose func(*words) (title, advice string)) {
	name := theme.MatchLanguage(strings.Join(r.Header.Values("Accept-Language"), ","))
	title, advice := choose(translations[name])
	var out bytes.Buffer
	if err := noticeLayout.Execute(&out, map[string]any{"Language": name, "Title": title, "Advice": advice,
		"Style": template.CSS(theme.Style + noticeStyle)}); err != nil { //nolint:gosec // our own files
		panic("track: " + err.Error()) // the template and its data are ours
	}
	setPrivacyHeaders(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", name)
	w.Header().Set("Vary", "Accept-Language")
	w.Header().Set("Content-Security-Policy", noticePolicy)
	w.WriteHeader(status)
	l.write(w, r, out.Bytes())
}

func (l links) notFound(w http.ResponseWriter, r *http.Request) {
	l.writeNotice(w, r, http.StatusNotFound, func(s *words) (string, string) { return s.NotFound, s.NotFoundAdvice })
}

// answerWithheld responds to a click that must not redirect. The page does not show the reason.
func (l links) answerWithheld(w http.ResponseWriter, r *http.Request) {
	l.writeNotice(w, r, http.StatusForbidden, func(s *words) (string, string) { return s.Withheld, s.WithheldAdvice })
}

func (l links) answerUnavailable(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "30")
	l.writeNotice(w, r, http.StatusServiceUnavailable,
		func(s *words) (string, string) { return s.Failed, s.FailedAdvice })
}
