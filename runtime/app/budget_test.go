package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/test/harness"
)

// unheld lists the routes whose responses may be large without being held by the budget, with the reason.
// Any other route that sends more than a few KB outside the budget fails the test.
var unheld = map[string]string{
	"GET /api/docs":                    "shared: one text a day",
	"GET /api/docs/{part}":             "shared: one text a day",
	"GET /api/openapi.json":            "shared: one text a day",
	"GET /api/openapi.yaml":            "shared: one text a day",
	"GET /api/openapi-3.0.json":        "shared: one text a day",
	"GET /api/openapi-3.0.yaml":        "shared: one text a day",
	"GET /api/schemas/automation.json": "shared: one text",
	"GET /graphql/schema.graphql":      "shared: one text",
	"GET /llms.txt":                    "shared: one text",
	"GET /llms-full.txt":               "shared: one text",
	"GET /llms/{page}":                 "shared: one text for each page",
	"GET /favicon.ico":                 "shared: one picture",
	"GET /favicon.svg":                 "shared: one picture",
	"/":                                "shared: the files of the dashboard",
	"/sign-in/":                        "shared: the style and the script of the pages",

	"GET /api/emails/export":            "streamed: each page is counted while it is written",
	"GET /api/suppressions/export":      "streamed: each page is counted while it is written",
	"GET /api/audit-log/export":         "streamed: each page is counted while it is written",
	"GET /api/events/export":            "streamed: each page is counted while it is written",
	"GET /api/event-log/stream":         "streamed: each event is counted while it is written",
	"GET /api/received-emails/{id}":     "streamed from contents that the budget holds",
	"GET /api/received-emails/{id}/raw": "streamed from contents that the budget holds",
}

// Every route of the process uses the budget: request bodies reserve space in it, and responses above a few
// KB are held by it or listed above. The routes come from the process itself, so new ones are covered
// automatically.
func TestEveryRouteUsesTheBudget(t *testing.T) {
	t.Parallel()
	var routes *app.Routes
	var budget *intake.Budget
	app := harness.StartWith(t, nil, func(o *app.Options) { o.More = append(o.More, fx.Populate(&routes, &budget)) })
	for i := range 60 { // so that lists are large
		app.Send(t,
			fmt.Sprintf(`{"from":"ada@dev.test","to":"reader%d@readers.test","subject":"A subject of some length for the list","text":"Hello","tags":{"kind":"list"}}`, i))
	}
	session := "Cookie: " + app.SignedIn(t, app.Owner.Email, app.Owner.Password).Cookies(t)[0].String()
	tried, read, large := 0, 0, map[string]bool{}
	for _, pattern := range routes.List() {
		method, path, given := strings.Cut(pattern, " ")
		methods := []string{method}
		if !given {
			methods, path = []string{http.MethodGet, http.MethodPost}, pattern
		}
		for _, method := range methods {
			for _, as := range []string{"Authorization: Bearer " + app.APIKey, session} {
				tried++
				r := request{t: t, app: app, pattern: pattern, method: method, path: examplePath(path), as: as}
				if method != http.MethodGet && r.readsBody(budget) {
					read++
				}
				if method == http.MethodGet && r.isLarge(budget) {
					large[pattern] = true
				}
			}
		}
	}
	if len(routes.List()) < 150 || read < 100 || !large["GET /api/emails"] {
		t.Errorf("%d routes: %d requests sent, %d read their body, %d had a large response; want most routes covered and GET /api/emails among the large ones", len(routes.List()), tried, read, len(large))
	}
	for pattern := range unheld {
		if !slices.Contains(routes.List(), pattern) {
			t.Errorf("%s is not served and needs no exemption", pattern)
		}
	}
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// examplePath returns a path that matches a pattern. The records that its parameters name need not exist.
func examplePath(pattern string) string {
	path := parameter.ReplaceAllString(pattern, "x")
	if strings.HasSuffix(path, "/") && path != "/" {
		path += "x/y"
	}
	return path
}

type request struct {
	t                         *testing.T
	app                       *harness.App
	pattern, method, path, as string
}

func (r request) begin(more string) net.Conn {
	r.t.Helper()
	host := strings.TrimPrefix(r.app.BaseURL, "http://")
	c, err := net.Dial("tcp", host)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(expect.Patience)); err != nil {
		r.t.Fatal(err)
	}
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\n%s\r\nAccept: text/html, */*\r\n%s", r.method, r.path,
		host, r.app.BaseURL, r.as, more)
	return c
}

// readsBody reports whether the route reads a body. If so, the body must be reserved in the budget.
func (r request) readsBody(budget *intake.Budget) bool {
	r.t.Helper()
	media := "application/json"
	if !strings.HasPrefix(r.path, "/api/") && r.path != "/graphql" {
		media = "application/x-www-form-urlencoded"
	}
	c := r.begin("Content-Type: " + media + "\r\nContent-Length: 1000\r\n\r\n{")
	defer func() {
		c.Close()
		expect.Eventually(r.t, r.method+" "+r.path+" releases its reservation",
			func() bool { return budget.Usage().Bodies == 0 })
	}()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		// A rejection before the body is read is sent immediately, or closes the connection.
		bufio.NewReader(c).ReadByte()
	}()
	held := false
	expect.Eventually(r.t,
		fmt.Sprintf("%s %s as %.8s… reads its body within the budget, or responds without reading it", r.method, r.path,
			r.as), func() bool {
			select {
			case <-answered:
				return true
			default:
				held = budget.Usage().Bodies > 0
				return held
			}
		})
	return held
}

// isLarge reports whether the response was large. If so, it must be held by the budget or be exempt.
func (r request) isLarge(budget *intake.Budget) bool {
	r.t.Helper()
	before := budget.LargeResponses()
	c := r.begin("Connection: close\r\n\r\n")
	defer c.Close()
	reader := bufio.NewReader(c)
	answer, err := http.ReadResponse(reader, &http.Request{Method: r.method})
	if err != nil {
		r.t.Errorf("%s %s: no response: %v", r.method, r.path, err)
		return false
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") == "text/event-stream" {
		c.Close() // the stream does not end
		return false
	}
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		r.t.Errorf("%s %s: the response ended with %v", r.method, r.path, err)
	}
	if n <= 8<<10 {
		return false
	}
	after, exempt := budget.LargeResponses(), unheld[r.pattern]
	for way, count := range after {
		if count > before[way] && way != "held" && !strings.HasPrefix(exempt, way) {
			r.t.Errorf("%s sent %d bytes that are %s; want them held by the budget, or an exemption with a reason",
				r.pattern, n, way)
		}
	}
	if after["held"]+after["streamed"]+after["shared"] == before["held"]+before["streamed"]+before["shared"] {
		r.t.Errorf("%s sent %d bytes outside the budget", r.pattern, n)
	}
	return true
}
