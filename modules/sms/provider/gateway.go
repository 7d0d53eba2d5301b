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

// GatewayConfig describes the requests that a gateway accepts.
type GatewayConfig struct {
	URL         string
	Headers     []shape.Header // may contain secrets
	ContentType string         // empty: JSON
	Body        string         // Liquid; empty: an object with id, to, from, text and receipt_url
	From        string         // for messages without a sender
	IDPath      string         // path of the provider's ID in a JSON response, such as messages.0.id; empty: none
	Idempotent  bool           // repeating a request does not send the message twice
}

// Gateway submits a message with one POST, as configured by its owner.
type Gateway struct {
	config GatewayConfig
	body   *Body
	client *http.Client
}

// NewGateway returns a new Gateway. The error explains what is wrong with the body.
func NewGateway(c GatewayConfig, client *http.Client) (*Gateway, error) {
	body, err := NewBody(c.ContentType, c.Body)
	if err != nil {
		return nil, err
	}
	return &Gateway{config: c, body: body, client: client}, nil
}

// Name implements Provider.
func (*Gateway) Name() string { return "http" }

// IsIdempotent implements Provider.
func (g *Gateway) IsIdempotent() bool { return g.config.Idempotent }

// Submit implements Provider.
func (g *Gateway) Submit(ctx context.Context, m Message) SendResult {
	if m.From == "" {
		m.From = g.config.From
	}
	body, err := g.body.Fill(ctx, m)
	if err != nil {
		return SendResult{Outcome: Failed, Code: CodeSettings,
			Reason: sanitizeText("cannot render the body of the gateway: " + err.Error())}
	}
	header := http.Header{}
	for _, h := range g.config.Headers {
		header.Set(h.Name, h.Value)
	}
	header.Set("Content-Type", g.body.ContentType)
	if g.config.Idempotent {
		header.Set("Idempotency-Key", m.ID)
	}
	x := doRequest(ctx, g.client, http.MethodPost, g.config.URL, body, header)
	a := x.answerOf()
	if a.Outcome == Sent && g.config.IDPath != "" {
		a.ProviderID = findPath(x.body, g.config.IDPath)
	}
	return a
}

// findPath returns the text or number at a path of a JSON response, or an empty string if it has none.
func findPath(answer []byte, path string) string {
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
		return sanitizeText(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// Basic returns the Authorization header for a user name and a password.
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
