package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/smssettings"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/modules/sms/textmsg"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Change contains all settings of an account.
type Change struct {
	Provider  string
	From      string
	Countries []string
	DailyCap  int // 0: DefaultDailyCap
	Twilio    *TwilioChange
	HTTP      *HTTPChange
}

// TwilioChange configures an account at Twilio or a compatible provider.
type TwilioChange struct {
	AccountSID string
	AuthToken  secret.String // empty keeps the current token if the rest of the account is unchanged
	BaseURL    string        // empty: Twilio
}

// HTTPChange configures a gateway.
type HTTPChange struct {
	URL         string
	Headers     map[string]string // nil keeps the current headers if the URL is unchanged
	ContentType string
	Body        string // a mask here or in the URL keeps the current value if the address is unchanged
	IDPath      string
	Idempotent  bool
}

// MaxDailyCap is the highest daily cap that an account can set.
const MaxDailyCap = 1_000_000

const (
	maxHeaders     = 20
	maxHeaderValue = 4096
)

var (
	pathForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,9}$`)
	sidForm  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// ownHeaders are headers that only the service sets.
var ownHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
	"content-type", "idempotency-key", "x-idempotency-key", "user-agent", "accept"}

// SetSettings replaces the settings of an account. The error is Invalid and lists every invalid field.
func (s *Service) SetSettings(ctx context.Context, accountID string, c Change) (Settings, error) {
	seals, err := s.canSeal(ctx)
	if err != nil {
		return Settings{}, fmt.Errorf("change settings of text messages: %w", err)
	}
	targets := s.checkTargets(ctx, c) // before the transaction, because it queries DNS
	var stored *ent.SMSSettings
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockSettings(ctx, tx, accountID); err != nil {
			return err
		}
		before, err := tx.SMSSettings.Query().Where(smssettings.ID(accountID)).Only(ctx)
		if err != nil && !ent.IsNotFound(err) {
			return err
		}
		kept, err := s.open(accountID, before)
		if err != nil {
			kept = credentials{} // secrets that cannot be decrypted can be replaced, but not kept
		}
		config, held, wrong := s.validateChange(c, before, kept)
		maps.Copy(wrong, targets)
		if err := wrong.Err(); err != nil {
			return err
		}
		if seals {
			if config, held, err = s.sealGateway(ctx, tx, config, held); err != nil {
				return err
			}
		}
		if err := s.store(ctx, tx, accountID, c, config, held); err != nil {
			return err
		}
		stored, err = tx.SMSSettings.Query().Where(smssettings.ID(accountID)).Only(ctx)
		return err
	})
	switch {
	case fault.KindOf(err) == fault.Invalid:
		return Settings{}, err
	case err != nil:
		return Settings{}, fmt.Errorf("change settings of text messages: %w", err)
	}
	return s.settingsOf(accountID, stored.Unwrap()), nil
}

// checkTargets returns the faults of the provider's URL and of its target address.
func (s *Service) checkTargets(ctx context.Context, c Change) fault.Fields {
	wrong := fault.Fields{}
	if c.Provider == string(smssettings.ProviderTwilio) && c.Twilio != nil && c.Twilio.BaseURL != "" {
		if problem := s.ways.targets.Problem(ctx, c.Twilio.BaseURL); problem != "" {
			wrong.Add("twilio.base_url", "%s", problem)
		}
	}
	if c.Provider == string(smssettings.ProviderHTTP) && c.HTTP != nil {
		if problem := s.ways.targets.Problem(ctx, c.HTTP.URL); problem != "" {
			wrong.Add("http.url", "%s", problem)
		}
	}
	return wrong
}

const storeSQL = `
INSERT INTO sms_settings (id, provider, config, credentials, countries, daily_cap, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, now(), clock_timestamp())
ON CONFLICT (id) DO UPDATE SET provider = $2, config = $3, credentials = $4, countries = $5, daily_cap = $6, updated_at = clock_timestamp()`

func (s *Service) store(ctx context.Context, tx db.Execer, accountID string, c Change, config shape.SMSProvider,
	held credentials) error {
	described, sealed, err := s.encodeColumns(accountID, config, held)
	if err != nil {
		return err
	}
	countries, err := json.Marshal(slices.Compact(slices.Sorted(slices.Values(c.Countries))))
	if err != nil {
		return err
	}
	if len(c.Countries) == 0 {
		countries = []byte("[]")
	}
	dailyCap := c.DailyCap
	if dailyCap == 0 {
		dailyCap = DefaultDailyCap
	}
	_, err = tx.ExecContext(ctx, storeSQL, accountID, c.Provider, described, sealed, string(countries), dailyCap)
	return err
}

// encodeColumns returns the columns config and credentials.
func (s *Service) encodeColumns(accountID string, config shape.SMSProvider,
	held credentials) (described string, sealed []byte, err error) {
	text, err := json.Marshal(config)
	if err != nil || held.isEmpty() {
		return string(text), nil, err
	}
	plain, err := json.Marshal(held) //nolint:gosec // sealed before it is stored
	return string(text), s.box.Seal(plain, sealedFor(accountID)), err
}

// validateChange validates a change and returns the values to store.
func (s *Service) validateChange(c Change, before *ent.SMSSettings,
	kept credentials) (config shape.SMSProvider, held credentials, wrong fault.Fields) {
	wrong = fault.Fields{}
	if err := smssettings.ProviderValidator(smssettings.Provider(c.Provider)); err != nil {
		wrong.Add("provider", "must be one of operator, none, twilio and http")
	}
	for i, region := range c.Countries {
		if !textmsg.IsRegion(region) && region != textmsg.NoRegion {
			wrong.Add(fmt.Sprintf("countries[%d]", i),
				"must be a two-letter ISO 3166 code in capitals, such as DE, or 001 for numbers that belong to no country")
		}
	}
	if c.DailyCap < 0 || c.DailyCap > MaxDailyCap {
		wrong.Add("daily_cap", "must be between 1 and %d", MaxDailyCap)
	}
	config.From = c.From
	if c.From != "" {
		if err := textmsg.CheckSender(c.From); err != nil {
			wrong.Add("from", "%s", err)
		}
	}
	if before == nil || string(before.Provider) != c.Provider {
		kept, before = credentials{}, &ent.SMSSettings{}
	}
	for kind, given := range map[string]bool{KindTwilio: c.Twilio != nil, KindHTTP: c.HTTP != nil} {
		switch {
		case c.Provider == kind && !given:
			wrong.Add(kind, "is required for this provider")
		case c.Provider != kind && given:
			wrong.Add(kind, "requires the provider %s", kind)
		}
	}
	switch {
	case c.Provider == KindTwilio && c.Twilio != nil:
		held = s.validateTwilio(c, &config, before.Config, kept, wrong)
	case c.Provider == KindHTTP && c.HTTP != nil:
		held = s.validateHTTP(*c.HTTP, &config, before.Config, kept, wrong)
	case c.From != "":
		wrong.Add("from", "requires an own provider: twilio or http")
	}
	return config, held, wrong
}

func (s *Service) validateTwilio(c Change, config *shape.SMSProvider, before shape.SMSProvider,
	kept credentials,
	wrong fault.Fields) (held credentials) {
	t := *c.Twilio
	config.AccountSID, config.BaseURL = t.AccountSID, strings.TrimSuffix(t.BaseURL, "/")
	if !sidForm.MatchString(t.AccountSID) {
		wrong.Add("twilio.account_sid", "must be the SID of the account, which consists of letters and digits")
	}
	if t.BaseURL != "" {
		if strings.Contains(t.BaseURL, "?") {
			wrong.Add("twilio.base_url", "cannot have a query (?…)")
		}
	}
	if c.From == "" {
		wrong.Add("from", "is required with twilio: a number, a word or a messaging service")
	}
	held.AuthToken = t.AuthToken.Reveal()
	switch {
	case held.AuthToken != "" && !egress.IsHeaderValue(held.AuthToken):
		wrong.Add("twilio.auth_token", "cannot contain spaces or control characters")
	case held.AuthToken == "" && (kept.AuthToken == "" || before.AccountSID != config.AccountSID ||
		before.BaseURL != config.BaseURL):
		wrong.Add("twilio.auth_token", "is required for a new account or address")
	case held.AuthToken == "":
		held.AuthToken = kept.AuthToken
	}
	return held
}

func (s *Service) validateHTTP(h HTTPChange, config *shape.SMSProvider, before shape.SMSProvider, kept credentials,
	wrong fault.Fields) (held credentials) {
	before = revealConfig(before, kept)
	unmaskGateway(&h, before, wrong)
	config.URL, config.Body, config.ContentType, config.IDPath, config.Idempotent = h.URL, h.Body, h.ContentType,
		h.IDPath, h.Idempotent
	if h.IDPath != "" && !pathForm.MatchString(h.IDPath) {
		wrong.Add("http.id_path", "must be names and indexes joined by dots, such as messages.0.id")
	}
	if _, err := provider.NewBody(h.ContentType, h.Body); err != nil && wrong["http.body"] == "" {
		wrong.Add("http.body", "%s", err)
	}
	held.Headers = h.Headers
	switch {
	case h.Headers == nil && before.URL == config.URL:
		held.Headers = kept.Headers
	case h.Headers == nil && len(kept.Headers) > 0:
		wrong.Add("http.headers", "is required: headers are not kept for another address")
	case len(h.Headers) > maxHeaders:
		wrong.Add("http.headers", "cannot have more than %d fields", maxHeaders)
	}
	for name, value := range h.Headers {
		path := "http.headers." + name
		switch {
		case !egress.IsHeaderName(name):
			wrong.Add("http.headers", "must have valid header names")
		case slices.Contains(ownHeaders, strings.ToLower(name)):
			wrong.Add(path, "cannot be set: the service sets this header")
		case len(value) > maxHeaderValue || !egress.IsHeaderValue(value):
			wrong.Add(path, "must be at most %d visible ASCII characters", maxHeaderValue)
		}
	}
	config.HeaderNames = slices.Sorted(maps.Keys(held.Headers))
	return held
}
