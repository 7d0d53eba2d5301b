package sms

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Settings is the part of the settings of accounts that these operations use.
type Settings interface {
	Settings(ctx context.Context, accountID string) (settings.Settings, error)
	SetSettings(ctx context.Context, accountID string, c settings.Change) (settings.Settings, error)
}

// Messages is the part of stored messages that these operations use.
type Messages interface {
	List(ctx context.Context, accountID string, f sms.Filter) (page.Page[*ent.SMSMessage], error)
	Get(ctx context.Context, accountID, messageID string) (sms.StoredMessage, error)
}

var (
	_ Settings = (*settings.Service)(nil)
	_ Messages = (*sms.Service)(nil)
)

type settingsRecord struct {
	Provider  string                        `json:"provider" enum:"operator,none,twilio,http" doc:"The configured provider. operator: the provider of the operator of this service."`
	Usable    bool                          `json:"usable" doc:"Whether a provider is available."`
	Carrier   *string                       `json:"carrier" enum:"capture,twilio,http" doc:"Provider that sends the messages; null if there is none. capture keeps them in the development inbox."`
	From      *string                       `json:"from" doc:"The sender of messages that do not set one."`
	Twilio    wire.Optional[twilioSettings] `json:"twilio" doc:"The settings for Twilio. null for other providers."`
	HTTP      wire.Optional[httpSettings]   `json:"http" doc:"The settings for the HTTP gateway. null for other providers."`
	Countries []string                      `json:"countries" nullable:"false" doc:"Countries that messages can be sent to. If empty, no messages are sent."`
	DailyCap  int                           `json:"daily_cap" doc:"Maximum number of messages per day (UTC)."`
	ReplyURL  *string                       `json:"reply_url" doc:"The URL that your provider must post replies to, so that STOP takes effect. Keep it secret. null if the caller cannot change the settings."`
	UpdatedAt wire.OptionalTime             `json:"updated_at" doc:"When the settings were last changed; null if never."`
}

type twilioSettings struct {
	AccountSID   string  `json:"account_sid" doc:"The SID of the account."`
	BaseURL      *string `json:"base_url" doc:"Base URL of the API; null for Twilio's own."`
	HasAuthToken bool    `json:"has_auth_token" doc:"Whether an auth token is stored."`
}

type httpSettings struct {
	URL         string   `json:"url" example:"https://sms.example.com/send?key=********" doc:"The URL of the gateway. Values in the query are shown as ********."`
	HeaderNames []string `json:"header_names" nullable:"false" doc:"The names of the header fields. Their values are never shown."`
	ContentType *string  `json:"content_type" doc:"The media type of the requests. null for the default."`
	Body        *string  `json:"body" doc:"The template of the request body. Fixed values, which can be passwords, are shown as ********."`
	IDPath      *string  `json:"id_path" doc:"The path of the message ID in the gateway's JSON response. null if none is set."`
	Idempotent  bool     `json:"idempotent" doc:"Whether the gateway deduplicates by Idempotency-Key."`
}

type settingsAnswer struct {
	Settings settingsRecord `json:"sms_settings" doc:"The SMS settings of the account."`
}

func newSettings(s settings.Settings) settingsAnswer {
	out := settingsRecord{Provider: s.Provider, Usable: s.Usable, Carrier: wire.OrNull(s.Carrier),
		From: wire.OrNull(s.Config.From), Countries: wire.List(s.Countries), DailyCap: s.DailyCap,
		ReplyURL: wire.OrNull(s.ReplyURL), UpdatedAt: wire.OptionalTime{At: s.UpdatedAt}}
	switch s.Provider {
	case "twilio":
		out.Twilio = wire.FromPointer(&twilioSettings{AccountSID: s.Config.AccountSID,
			BaseURL:      wire.OrNull(s.Config.BaseURL),
			HasAuthToken: s.HasSecret})
	case "http":
		out.HTTP = wire.FromPointer(&httpSettings{URL: s.Config.URL, HeaderNames: wire.List(s.Config.HeaderNames),
			ContentType: wire.OrNull(s.Config.ContentType), Body: wire.OrNull(s.Config.Body),
			IDPath: wire.OrNull(s.Config.IDPath), Idempotent: s.Config.Idempotent})
	}
	return settingsAnswer{out}
}

type edge struct {
	chosen Settings
	sms    Messages
}

// Routes returns the routes of text messages.
func Routes(chosen Settings, messages Messages) api.Routes {
	return api.NewRoutes("sms", func(a *api.API) {
		e := &edge{chosen: chosen, sms: messages}
		g := a.Tag("SMS", "Text messages sent by automation steps: the provider, the allowed countries, and the "+
			"outcome of each message. If the provider does not respond, the message is `unknown` and is not sent again.")
		one := map[string]any{"sms_settings": settingsExample()}
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/sms-settings", ID: "getSMSSettings", Needs: rights.Read, Unlogged: true,
			Summary: "Retrieve the settings of text messages", Description: "Returns the settings. Provider secrets " +
				"are replaced by `********`.", Example: one,
		}, e.getSettings)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPut, Path: "/sms-settings", ID: "putSMSSettings", Needs: rights.Write,
			Stores: api.StoresNothing, Private: true,
			Summary: "Replace the settings of text messages",
			Description: "Replaces all settings: omitted fields get their default. Secrets are encrypted and never " +
				"returned. A secret that you omit or send as its mask `********` is kept as long as the provider, " +
				"its account and its address do not change. A URL must be `https` and lead to a public address. No " +
				"country is allowed by default, because fraudsters can earn from messages to numbers of their " +
				"choice.",
			Body: &api.Body{About: "The settings.", Examples: map[string]any{
				"operator": map[string]any{"provider": "operator", "countries": []any{"DE", "AT", "CH"}},
				"twilio": map[string]any{"provider": "twilio", "from": "+15005550006", "countries": []any{"US"}, "daily_cap": 500,
					"twilio": map[string]any{"account_sid": "AC0123456789abcdef0123456789abcdef", "auth_token": "0123456789abcdef0123456789abcdef"}},
				"http": map[string]any{"provider": "http", "from": "Shop", "countries": []any{"DE"},
					"http": map[string]any{"url": "https://sms.example.com/send", "headers": map[string]any{"Authorization": "Bearer s3cret"},
						"body": `{"recipient": "{{to}}", "sender": "{{from}}", "message": "{{text}}", "dlr": "{{receipt_url}}"}`, "id_path": "messages.0.id", "idempotent": false}}}},
			Example: one,
		}, changeBody, e.putSettings)
		e.addMessages(g)
	})
}

func (e *edge) getSettings(ctx context.Context, c *api.Call, _ *api.None) (settingsAnswer, error) {
	out, err := api.As(newSettings)(e.chosen.Settings(ctx, c.AccountID))
	if c.Authorize(rights.Write) != nil { // a client with the URL can post replies for the account
		out.Settings.ReplyURL = nil
	}
	return out, err
}

func (e *edge) putSettings(ctx context.Context, c *api.Call, _ *api.None,
	change settings.Change) (settingsAnswer, error) {
	return api.As(newSettings)(e.chosen.SetSettings(ctx, c.AccountID, change))
}

func changeBody(c *settings.Change) body.Object {
	return body.Object{Name: "PutSMSSettings", Fields: []body.Field{
		{Name: "provider", Type: body.Choice(&c.Provider, "operator", "none", "twilio", "http"), Need: body.Required,
			About: "Provider that sends the messages."},
		{Name: "countries", Type: body.List(&c.Countries, countryField).Count(0, 300), Need: body.Required,
			About: "Countries that messages can be sent to: two-letter ISO 3166 codes in capitals; `001` for numbers without a country.", Example: []any{"DE"}},
		{Name: "daily_cap", Type: body.Integer(&c.DailyCap).AtLeast(1).UpTo(settings.MaxDailyCap), Default: 100,
			About: "Maximum number of messages per day (UTC). A number receives at most 10 per hour."},
		{Name: "from", Type: body.Text(&c.From).Length(0, 34),
			About: "The sender of messages that do not set one, if you use your own provider: a number, a short code, an alphanumeric sender ID of at most 11 characters, or a Twilio messaging service."},
		{Name: "twilio", Type: body.Pointer(&c.Twilio, twilioBody), About: "With `twilio`: the account at Twilio or a compatible provider."},
		{Name: "http", Type: body.Pointer(&c.HTTP, httpBody), About: "With `http`: a gateway that accepts each message as a POST request."},
	}}
}

func countryField(to *string) body.Type { return body.Text(to).Length(2, 3) }

func twilioBody(t *settings.TwilioChange) body.Object {
	return body.Object{Name: "PutTwilioSettings", Fields: []body.Field{
		{Name: "account_sid", Type: body.Text(&t.AccountSID).Length(1, 64), Need: body.Required, About: "SID of the account."},
		{Name: "auth_token", Type: secretText{&t.AuthToken}, About: "Auth token of the account. If omitted, it does not change."},
		{Name: "base_url", Type: body.Text(&t.BaseURL).Length(0, 2048).Format("uri"),
			About:   "Base URL of a provider with a compatible API. Defaults to Twilio's.",
			Example: "https://api.twilio.com"},
	}}
}

func httpBody(h *settings.HTTPChange) body.Object {
	return body.Object{Name: "PutGatewaySettings", Fields: []body.Field{
		{Name: "url", Type: body.Text(&h.URL).Length(0, 2048).Format("uri"), Need: body.Required, About: "URL that messages are posted to."},
		{Name: "headers", Type: body.Texts(&h.Headers), About: "Header fields by name, such as the gateway's API key. Omitted fields do not change."},
		{Name: "content_type", Type: body.Text(&h.ContentType).Length(0, 100), Default: "application/json",
			About: "Media type of the requests: `application/json`, `application/x-www-form-urlencoded`, `application/xml` or `text/plain`."},
		{Name: "body", Type: body.Text(&h.Body).Length(0, 16<<10),
			About: "A Liquid template with `id`, `to`, `from`, `text`, `encoding`, `segments` and `receipt_url`. In JSON, the strings can contain Liquid; in a form (`to={{to}}&text={{text}}`), the " +
				"values. Values are encoded. Defaults to an object with `id`, `to`, `from`, `text` and `receipt_url`. The gateway can post a form or a JSON object to `receipt_url`, with `status` and " +
				"optionally `id`, `code` and `error`."},
		{Name: "id_path", Type: body.Text(&h.IDPath).Length(0, 200), About: "Path of the message ID in the gateway's JSON response.", Example: "messages.0.id"},
		{Name: "idempotent", Type: body.Boolean(&h.Idempotent), Default: false,
			About: "Whether the gateway deduplicates by `Idempotency-Key`, which is the message ID. Only then is a request without a response retried."},
	}}
}

// secretText reads a text that must not be shown.
type secretText struct{ to *secret.String }

// Read implements body.Type.
func (t secretText) Read(d *body.Decoder, path string, v body.Value) {
	if text, ok := d.Text(path, v); ok {
		*t.to = secret.New(text)
	}
}

// Schema implements body.Type.
func (secretText) Schema(body.Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "password"}
}

func settingsExample() map[string]any {
	return map[string]any{"provider": "twilio", "usable": true, "carrier": "twilio", "from": "+15005550006",
		"twilio": map[string]any{"account_sid": "AC0123456789abcdef0123456789abcdef", "base_url": nil, "has_auth_token": true}, "http": nil,
		"countries": []any{"CA", "US"}, "daily_cap": 500,
		"reply_url": "https://mail.example.com/s/i/acc_01kf0m4w7he6x8q2v5b3n9c1ta.Zk3v9QpA1mW5rT8yB2nC4x", "updated_at": "2026-01-15T09:30:00.000Z"}
}
