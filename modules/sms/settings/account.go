package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/smssettings"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Settings are the settings of an account as shown to its users, with masks in place of secrets.
type Settings struct {
	Provider  string // operator, none, twilio or http
	Config    shape.SMSProvider
	Countries []string
	DailyCap  int
	UpdatedAt *time.Time // nil: never set

	HasSecret bool   // whether the account's own provider has a secret
	Usable    bool   // a message could be submitted
	Carrier   string // the kind of provider in use: capture, twilio or http; empty: none
	ReplyURL  string // for the provider
}

// DefaultDailyCap applies to accounts that have set no cap.
const DefaultDailyCap = 100

// credentials are the secrets of an account's own provider, sealed as JSON.
type credentials struct {
	AuthToken string            `json:"auth_token,omitempty"` // for twilio
	Headers   map[string]string `json:"headers,omitempty"`    // for http
	URL       string            `json:"url,omitempty"`        // for http, if sealed
	Body      string            `json:"body,omitempty"`       // for http, if sealed
}

func (c credentials) isEmpty() bool {
	return c.AuthToken == "" && len(c.Headers) == 0 && c.URL == ""
}

func sealedFor(accountID string) []byte { return []byte("sms/" + accountID + "/credentials") }

// Settings returns the settings of an account.
func (s *Service) Settings(ctx context.Context, accountID string) (Settings, error) {
	row, err := s.Row(ctx, s.db.SQL, accountID)
	if err != nil {
		return Settings{}, err
	}
	return s.settingsOf(accountID, row), nil
}

const rowSQL = `SELECT id, provider, config, credentials, countries, daily_cap, created_at, updated_at FROM sms_settings WHERE id = $1`

// Row returns the stored settings of an account, or nil if it has none. In a transaction, they are read on its
// connection, because transactions that wait for a second connection can deadlock.
func (*Service) Row(ctx context.Context, from db.Execer, accountID string) (*ent.SMSSettings, error) {
	type stored struct {
		ent.SMSSettings
		credentials, config, countries []byte
	}
	rows, err := db.All(ctx, from, func(r *stored) []any {
		return []any{&r.ID, &r.Provider, &r.config, &r.credentials, &r.countries, &r.DailyCap, &r.CreatedAt,
			&r.UpdatedAt}
	}, rowSQL, accountID)
	if err != nil {
		return nil, fmt.Errorf("read settings of text messages: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil //nolint:nilnil // no settings is not an error
	}
	row := rows[0].SMSSettings
	row.Credentials = &rows[0].credentials
	if err := errors.Join(json.Unmarshal(rows[0].config, &row.Config),
		json.Unmarshal(rows[0].countries, &row.Countries)); err != nil {
		return nil, fmt.Errorf("read settings of text messages: %w", err)
	}
	return &row, nil
}

func (s *Service) settingsOf(accountID string, row *ent.SMSSettings) Settings {
	out := Settings{Provider: string(smssettings.ProviderOperator), Countries: []string{}, DailyCap: DefaultDailyCap}
	if row != nil {
		out = Settings{Provider: string(row.Provider), Config: maskConfig(row.Config), Countries: row.Countries,
			DailyCap: row.DailyCap, UpdatedAt: &row.UpdatedAt, HasSecret: row.Credentials != nil &&
				len(*row.Credentials) > 0}
	}
	if route, err := s.RouteOf(accountID, row); err == nil && route.Provider != nil {
		out.Usable, out.Carrier = true, route.Provider.Name()
	}
	if out.Provider == KindTwilio || out.Provider == KindHTTP {
		out.ReplyURL = s.links.ReplyURL(accountID)
	}
	return out
}

// Route returns the route of an account's messages.
func (s *Service) Route(ctx context.Context, accountID string) (handover.Route, error) {
	row, err := s.Row(ctx, s.db.SQL, accountID)
	if err != nil {
		return handover.Route{}, err
	}
	return s.RouteOf(accountID, row)
}

// RouteOf creates the provider of an account from its settings. It fails if the secrets cannot be decrypted or
// the stored settings are no longer valid.
func (s *Service) RouteOf(accountID string, row *ent.SMSSettings) (handover.Route, error) {
	if row == nil || row.Provider == smssettings.ProviderOperator {
		return handover.Route{Provider: s.ways.operator}, nil
	}
	out := handover.Route{Own: true, Since: row.UpdatedAt}
	if row.Provider == smssettings.ProviderNone {
		return out, nil
	}
	held, err := s.open(accountID, row)
	if err != nil {
		return handover.Route{}, err
	}
	if row.Provider == smssettings.ProviderTwilio {
		out.Provider = &provider.Twilio{BaseURL: row.Config.BaseURL, AccountSID: row.Config.AccountSID,
			AuthToken: secret.New(held.AuthToken), From: row.Config.From, Client: s.ways.client}
		return out, nil
	}
	config := revealConfig(row.Config, held)
	c := provider.GatewayConfig{URL: config.URL, ContentType: config.ContentType, Body: config.Body, From: config.From,
		IDPath: config.IDPath, Idempotent: config.Idempotent}
	for _, name := range config.HeaderNames {
		c.Headers = append(c.Headers, shape.Header{Name: name, Value: held.Headers[name]})
	}
	gateway, err := provider.NewGateway(c, s.ways.client)
	if err != nil {
		return handover.Route{}, fmt.Errorf("gateway of an account: %w", err)
	}
	out.Provider = gateway
	return out, nil
}

// open decrypts the secrets of an account's own provider.
func (s *Service) open(accountID string, row *ent.SMSSettings) (held credentials, err error) {
	if row == nil || row.Credentials == nil || len(*row.Credentials) == 0 {
		return held, nil
	}
	opened, err := s.box.Open(*row.Credentials, sealedFor(accountID))
	if err != nil {
		return held, fmt.Errorf("open the secrets of an SMS provider: %w", err)
	}
	if err := json.Unmarshal(opened, &held); err != nil {
		return held, fmt.Errorf("read the secrets of an SMS provider: %w", err)
	}
	return held, nil
}
