package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
)

// GatewayConfig says how a gateway takes messages.
type GatewayConfig struct {
	URL         string
	Headers     []shape.Header // may hold secrets
	ContentType string         // "": JSON
	Body        string         // Liquid; "": an object with id, to, from, text and receipt_url
	From        string         // for messages that name no sender
	IDPath      string         // where the provider's id stands in a JSON answer, as messages.0.id; "": nowhere
	Idempotent  bool           // a request that is made again sends nothing twice
}

// Gateway hands a message over by one POST, as its owner describes it.
type Gateway struct {
	config GatewayConfig
	body   *Body
	client *http.Client
}

// NewGateway makes a gateway. The error says what is wrong with the body.
func NewGateway(c GatewayConfig, client *http.Client) (*Gateway, error) {
	body, err := NewBody(c.ContentType, c.Body)
	if err != nil {
		return nil, err
	}
	return &Gateway{config: c, body: body, client: client}, nil
}

// Name implements Provider.
func (*Gateway) Name() string { return "http" }

// Idempotent implements Provider.
func (g *Gateway) Idempotent() bool { return g.config.Idempotent }

// Submit implements Provider.
func (g *Gateway) Submit(ctx context.Context, m Message) Answer {
	if m.From == "" {
		m.From = g.config.From
	}
	body, err := g.body.Fill(ctx, m)
	if err != nil {
		return Answer{Outcome: Failed, Code: CodeSettings, Reason: storable("the body of the gateway cannot be filled: " + err.Error())}
	}
	header := http.Header{}
	for _, h := range g.config.Headers {
		header.Set(h.Name, h.Value)
	}
	header.Set("Content-Type", g.body.ContentType)
	if g.config.Idempotent {
		header.Set("Idempotency-Key", m.ID)
	}
	x := do(ctx, g.client, http.MethodPost, g.config.URL, body, header)
	a := x.judge()
	if a.Outcome == Sent && g.config.IDPath != "" {
		a.ProviderID = find(x.body, g.config.IDPath)
	}
	return a
}

// find gives the text or number at a path of a JSON answer; "": there is none.
func find(answer []byte, path string) string {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	var at any
	if err := decoder.Decode(&at); err != nil {
		return ""
	}
	for part := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return ""
			}
			at = v[i]
		default:
			return ""
		}
	}
	switch v := at.(type) {
	case string:
		return storable(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// Basic gives the value of the header Authorization for a user and a password.
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
