package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/postrider/postrider/runtime/base/id"
)

// socketClient is a client of the protocol graphql-transport-ws.
type socketClient struct {
	conn *websocket.Conn
}

// dial connects with header fields.
func (s *testServer) dial(t *testing.T, header http.Header) *socketClient {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), s.url, &websocket.DialOptions{HTTPHeader: header,
		Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &socketClient{conn}
}

func (c *socketClient) send(t *testing.T, message string) {
	t.Helper()
	if err := c.conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
		t.Fatalf("%s cannot be sent: %v", message, err)
	}
}

// next returns the next message, or the code with which the server closed the connection.
func (c *socketClient) next(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, text, err := c.conn.Read(ctx)
		switch {
		case err != nil && websocket.CloseStatus(err) != -1:
			return fmt.Sprint(int(websocket.CloseStatus(err)))
		case err != nil:
			t.Fatal(err)
		case string(text) != `{"type":"ping"}`:
			return string(text)
		}
	}
}

func (c *socketClient) want(t *testing.T, what, want string) {
	t.Helper()
	if got := c.next(t); got != want {
		t.Errorf("%s got %s, want %s", what, got, want)
	}
}

// open authenticates a connection with a key.
func (s *testServer) open(t *testing.T, key string) *socketClient {
	t.Helper()
	c := s.dial(t, nil)
	c.send(t, `{"type":"connection_init","payload":{"Authorization":"Bearer `+key+`"}}`)
	c.want(t, "connection_init", `{"type":"connection_ack"}`)
	return c
}

func subscribe(operationID, query string) string {
	text, _ := json.Marshal(query)
	return `{"id":"` + operationID + `","type":"subscribe","payload":{"query":` + string(text) + `}}`
}

func TestOperationsOverWebSocket(t *testing.T) {
	t.Parallel()
	rest := &fakeREST{status: 200, answer: `{"id":"msg_001","status":"sent"}`}
	s := newServer(t, setup{emails: 1, rest: rest})
	c := s.open(t, "svc_full")
	c.send(t, `{"type":"ping"}`)
	c.want(t, "ping", `{"type":"pong"}`)
	for query, want := range map[string]string{
		`{ viewer { can } email(id: "msg_001") { id content { text } } }`: "",
		`mutation { sendEmail(email: {to: "x"}) { id } }`:                 `{"data":{"sendEmail":{"id":"msg_001"}}}`,
	} {
		if want == "" {
			want = s.ask(t, query, nil).body
		}
		c.send(t, subscribe("a", query))
		c.want(t, query, `{"id":"a","type":"next","payload":`+want+`}`)
		c.want(t, query, `{"id":"a","type":"complete"}`)
	}
	if len(rest.seen) != 1 || rest.last.Get("Authorization") != "Bearer svc_full" {
		t.Errorf("the REST API got %v with %v, want one call with the key", rest.seen, rest.last)
	}
	c.send(t, subscribe("b", `subscription { events(after: "`+id.Since(id.Fact, day.Add(-time.Hour))+`") { type } }`))
	c.want(t, "the first event", `{"id":"b","type":"next","payload":{"data":{"events":{"type":"email.sent"}}}}`)
	c.want(t, "the second event", `{"id":"b","type":"next","payload":{"data":{"events":{"type":"email.delivered"}}}}`)
	c.send(t, `{"id":"b","type":"complete"}`)
	c.send(t, subscribe("c", `{ __typename }`))
	c.want(t, "a query after the subscription", `{"id":"c","type":"next","payload":{"data":{"__typename":"Query"}}}`)
}

// Operations are refused as those of a POST.
func TestOperationsOverWebSocketAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for query, code := range map[string]string{
		`{ emails(first: 100) { nodes { content { html text } } } }`: "query_too_complex",
		`{ none }`: "validation_error",
		`subscription { events(types: ["x"]) { id } }`:    "validation_error",
		`subscription { events { id } b: events { id } }`: "validation_error",
	} {
		c := s.open(t, "svc_full")
		c.send(t, subscribe("a", query))
		if got := c.next(t); !strings.HasPrefix(got, `{"id":"a","type":"error","payload":[{`) ||
			!strings.Contains(got, `"code":"`+code+`"`) {
			t.Errorf("%s got %s, want an error with the code %s", query, got, code)
		}
	}
	c := s.open(t, "svc_sending")
	c.send(t, subscribe("a", `subscription { events { id } }`))
	if got := c.next(t); !strings.Contains(got, "insufficient_scope") {
		t.Errorf("a subscription with a sending key got %s, want insufficient_scope", got)
	}
	limited := newServer(t, setup{rate: &oneThenNone{}}).open(t, "svc_full")
	limited.send(t, subscribe("a", `{ __typename }`))
	if got := limited.next(t); !strings.Contains(got, "rate_limit_exceeded") {
		t.Errorf("an operation over the rate got %s, want rate_limit_exceeded", got)
	}
}

func TestWebSocketsAreAuthenticated(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	cookie := http.Header{"Cookie": {"postrider=owner"}}
	own := http.Header{"Cookie": {"postrider=owner"}, "Origin": {ownOrigin}}
	foreign := http.Header{"Cookie": {"postrider=owner"}, "Origin": {"https://evil.example"}}
	for name, c := range map[string]struct {
		header http.Header
		first  string
		want   string
	}{
		"a key":                    {nil, `{"type":"connection_init","payload":{"authorization":"Bearer svc_read","x":1}}`, `{"type":"connection_ack"}`},
		"a key of a foreign page":  {foreign, `{"type":"connection_init","payload":{"Authorization":"Bearer svc_read"}}`, `{"type":"connection_ack"}`},
		"a key in the header":      {http.Header{"Authorization": {"Bearer svc_read"}}, `{"type":"connection_init"}`, `{"type":"connection_ack"}`},
		"a session":                {own, `{"type":"connection_init"}`, `{"type":"connection_ack"}`},
		"a session of no page":     {cookie, `{"type":"connection_init"}`, "4403"},
		"a session, foreign page":  {foreign, `{"type":"connection_init"}`, "4403"},
		"an unknown key":           {own, `{"type":"connection_init","payload":{"Authorization":"Bearer none"}}`, "4401"},
		"no credential":            {nil, `{"type":"connection_init","payload":null}`, "4401"},
		"an operation first":       {own, subscribe("a", "{ __typename }"), "4401"},
		"a number as a credential": {own, `{"type":"connection_init","payload":{"Authorization":1}}`, "4400"},
		"no object":                {own, `[]`, "4400"},
		"too long":                 {own, `{"type":"connection_init","payload":{"x":"` + strings.Repeat("x", 10<<10) + `"}}`, "1009"},
	} {
		client := s.dial(t, c.header)
		client.send(t, c.first)
		client.want(t, name, c.want)
	}
}

func TestMistakesEndAWebSocket(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	const endless = `subscription { events { id } }`
	for name, c := range map[string]struct {
		messages []string
		want     string
	}{
		"a second init":   {[]string{`{"type":"connection_init"}`}, "4429"},
		"an unknown type": {[]string{`{"type":"start"}`}, "4400"},
		"no id":           {[]string{subscribe("", endless)}, "4400"},
		"a long id":       {[]string{subscribe(strings.Repeat("x", 200), endless)}, "4400"},
		"one id twice":    {[]string{subscribe("a", endless), subscribe("a", endless)}, "4409"},
		"a large message": {[]string{subscribe("a", strings.Repeat(" ", 300<<10))}, "1009"},
	} {
		client := s.open(t, "svc_full")
		for _, message := range c.messages {
			client.send(t, message)
		}
		client.want(t, name, c.want)
	}
}

func TestOperationsAndConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	blocked := make(chan struct{})
	defer close(blocked)
	s := newServer(t, setup{hook: map[string]func() error{"domains.List": func() error { <-blocked; return nil }}})
	c := s.open(t, "svc_full")
	const most = 20
	for i := range most + 1 {
		c.send(t, subscribe(fmt.Sprint(i), `{ domains { nodes { id } } }`))
	}
	if got := c.next(t); !strings.HasPrefix(got, fmt.Sprintf(`{"id":"%d","type":"error"`, most)) ||
		!strings.Contains(got, "rate_limit_exceeded") {
		t.Errorf("operation %d got %s, want rate_limit_exceeded", most+1, got)
	}
	const connections = 50
	for range connections - 1 {
		s.open(t, "svc_full")
	}
	full := s.dial(t, nil)
	full.send(t, `{"type":"connection_init","payload":{"Authorization":"Bearer svc_full"}}`)
	full.want(t, "one connection too many", "1013")
	s.open(t, "svc_bob") // a key of another account
}

func TestRevokedKeysLoseTheirWebSockets(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	s := newServer(t, setup{auth: fakeAuth{revoked: &revoked}})
	idle, busy, asking := s.open(t, "svc_full"), s.open(t, "svc_full"), s.open(t, "svc_full")
	busy.send(t, subscribe("a", `subscription { events { id } }`))
	revoked.Store(true)
	asking.send(t, subscribe("a", `{ __typename }`))
	asking.want(t, "an operation", "4401")
	idle.want(t, "an idle connection", "4401")
	busy.want(t, "a subscription", "4401")
}

func TestWebSocketsRequireTheProtocol(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	r := get(t, s, "svc_full", nil)
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-Websocket-Version": "13", "Sec-Websocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-Websocket-Protocol": "graphql-ws"} {
		r.Header.Set(name, value)
	}
	if a := s.send(t, r); a.status != 400 || a.codes() != "" && a.codes() != "validation_error" {
		t.Errorf("another protocol got %d %s, want 400", a.status, a.body)
	}
}
