// Package harness runs a complete Postrider inside a test: with its own database, real sockets, a scripted
// DNS server and a scripted mail server. Only the peers are test doubles.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/dkim/dkimtest"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// App is a running Postrider in development mode that delivers to the MX hosts of the scripted DNS.
// Everything ends with the test.
type App struct {
	development.Ready

	DNS *dnsxtest.Server
	MX  *smtptest.Server // receives the mail of the test's domains
	Log *expect.Log
	Out *expect.Log // the banner

	Account string // sent in Postrider-Account, unless empty

	settings setting.RawValues
	stop     func() error
}

// Start runs Postrider. change, which may be nil, adjusts the settings.
func Start(t testing.TB, change func(setting.RawValues)) *App {
	t.Helper()
	return StartTraced(t, change, nil)
}

// StartTraced is Start with spans that go to the test's tracing.
func StartTraced(t testing.TB, change func(setting.RawValues), tracing *telemetry.Tracing) *App {
	t.Helper()
	return StartWith(t, change, func(o *app.Options) { o.Tracing = tracing })
}

// StartWith is Start with options; with may be nil.
func StartWith(t testing.TB, change func(setting.RawValues), with func(*app.Options)) *App {
	t.Helper()
	a := &App{DNS: dnsxtest.New(t), MX: smtptest.New(t, smtptest.Config{}), Log: &expect.Log{}, Out: &expect.Log{}}
	settings := setting.RawValues{"POSTRIDER_HTTP_ADDR": "127.0.0.1:0", "POSTRIDER_OUTBOUND": "mx",
		"POSTRIDER_DNS":     a.DNS.Addr(),
		"POSTRIDER_MX_PORT": strconv.Itoa(a.MX.Port()), "POSTRIDER_MX_ALLOW": "127.0.0.0/8", "POSTRIDER_HOSTNAME": "postrider.test",
		"POSTRIDER_DATA_DIR": t.TempDir()}
	if change != nil {
		change(settings)
	}
	if settings["DATABASE_URL"] == "" {
		settings["DATABASE_URL"] = dbtest.URL(t)
	}
	a.settings = settings
	a.run(t, with)
	return a
}

// StartPeer starts another process on the database of the app, with the same settings except for the change.
func (a *App) StartPeer(t testing.TB, change func(setting.RawValues), with func(*app.Options)) *App {
	t.Helper()
	other := &App{DNS: a.DNS, MX: a.MX, Log: &expect.Log{}, Out: &expect.Log{}, settings: maps.Clone(a.settings)}
	change(other.settings)
	other.run(t, with)
	return other
}

func (a *App) run(t testing.TB, with func(*app.Options)) {
	t.Helper()
	cfg, err := config.Load(setting.Dev, "", a.settings)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan development.Ready, 1), make(chan error, 1)
	options := app.Options{Version: "test", Out: a.Out, Log: a.Log,
		ReadyFile: filepath.Join(config.DataDir.Get(cfg), "ready.json"),
		OnReady:   func(r development.Ready) { ready <- r },
		More:      []fx.Option{fx.Supply(signing.Generate(dkimtest.Key))}}
	if with != nil {
		with(&options)
	}
	go func() {
		err := app.Run(ctx, cfg, options)
		// on a stalled machine a statement can time out
		for tries := 1; err != nil && strings.Contains(err.Error(), "i/o timeout") && tries < 3; tries++ {
			err = app.Run(ctx, cfg, options)
		}
		ended <- err
	}()
	a.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := a.stop(); err != nil {
			t.Errorf("postrider exited with: %v", err)
		}
		if t.Failed() {
			t.Logf("log of postrider:\n%s", a.Log)
		}
	})
	select {
	case a.Ready = <-ready:
	case err := <-ended:
		a.stop = func() error { return nil }
		t.Fatalf("postrider did not start: %v", err)
	case <-time.After(expect.Patience):
		t.Fatal("postrider was not ready in time")
	}
}

// Stop drains the app and returns the error of Run.
func (a *App) Stop() error { return a.stop() }

// MailDomain publishes the scripted MX as the mail host of a domain.
func (a *App) MailDomain(t testing.TB, domain string) {
	t.Helper()
	a.DNS.Add(t, domain+". 60 IN MX 10 mx."+domain+".", "mx."+domain+". 60 IN A "+a.MX.Host())
}

// Answer is the response to an HTTP request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON decodes the body into a value.
func (r Answer) JSON(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(r.Body, into); err != nil {
		t.Fatalf("response %d is not the expected JSON: %v\n%s", r.Status, err, r.Body)
	}
}

// Do calls the API with the development key; body may be nil, a string or a value to encode.
func (a *App) Do(t testing.TB, method, path string, body any, headers ...string) Answer {
	t.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = bytes.NewBufferString(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, a.BaseURL+path, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.APIKey)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.Account != "" {
		req.Header.Set("Postrider-Account", a.Account)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: got}
}

// Send posts an email for immediate delivery and returns its id.
func (a *App) Send(t testing.TB, body string) string {
	t.Helper()
	answer := a.Do(t, http.MethodPost, "/api/emails", body)
	var receipt struct{ ID, Status string }
	answer.JSON(t, &receipt)
	if answer.Status != http.StatusOK || receipt.Status != "sent" || !strings.HasPrefix(receipt.ID, "msg_") {
		t.Fatalf("POST /emails returned %d %s", answer.Status, answer.Body)
	}
	return receipt.ID
}

// Query runs a GraphQL query and decodes `data`; errors fail the test.
func (a *App) Query(t testing.TB, query string, into any) {
	t.Helper()
	var answer struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	a.Do(t, http.MethodPost, "/graphql", map[string]string{"query": query}).JSON(t, &answer)
	if answer.Errors != nil {
		t.Fatalf("graphql: %s", answer.Errors)
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		t.Fatal(err)
	}
}

// Eventually is expect.Eventually.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	expect.Eventually(t, what, holds)
}
