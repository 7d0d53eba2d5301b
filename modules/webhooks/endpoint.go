package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/sqljson"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/webhook"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/web/webhooksig"
	"github.com/postrider/postrider/runtime/work/event"
)

// Reasons why an endpoint is disabled.
const (
	ReasonCaller  = "caller"  // the owner disabled it
	ReasonGone    = "gone"    // it responded with 410
	ReasonFailing = "failing" // its last 30 deliveries failed
)

// Limits per account and per endpoint.
const (
	MaxEndpoints = 50
	MaxRateLimit = 1000
)

// StoreResponse stores the caller's response in the transaction that changes an endpoint, so that both commit
// or neither does. Its error rolls back the transaction and is returned.
type StoreResponse func(ctx context.Context, tx idempotency.Execer, endpoint *ent.Webhook, secret secret.String) error

// NewEndpoint is the input of Create.
type NewEndpoint struct {
	URL         string
	Description string
	Events      []string             // empty: all types
	Filter      *shape.WebhookFilter // nil: all events of the types
	Headers     map[string]string    // of the requests
	RateLimit   *int                 // deliveries per second; nil: no limit
	Keep        StoreResponse        // optional
}

// EndpointChange is the input of Update. Nil fields stay unchanged.
type EndpointChange struct {
	URL         *string
	Description *string
	Events      *[]string            // empty list: all types
	Filter      *shape.WebhookFilter // without entries: all events of the types
	Headers     *map[string]string   // replaces all; a mask keeps the value; empty: none
	Enabled     *bool
	RateLimit   *int // 0: unlimited
}

// Events returns the event types that an endpoint receives.
func (s *Service) Events(endpoint *ent.Webhook) []string {
	if len(endpoint.Events) == 0 {
		return s.offer.Types()
	}
	return endpoint.Events
}

func (s *Service) checkEvents(wrong fault.Fields, events []string) []string {
	most := len(s.offer.Types())
	for i, name := range events {
		if reason := s.offer.Refusal(event.Type(name)); reason != "" {
			wrong.Add(fmt.Sprintf("events[%d]", i), "%s", reason)
		}
		if i > most { // any further entry must be a duplicate, and one error is enough
			break
		}
	}
	sorted := append([]string{}, events...)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func checkRate(wrong fault.Fields, rate *int) {
	if rate != nil && (*rate < 1 || *rate > MaxRateLimit) {
		wrong.Add("rate_limit", "must be between 1 and %d deliveries per second", MaxRateLimit)
	}
}

// MaxDescription is the maximum length of a description in bytes.
const MaxDescription = 500

func checkDescription(wrong fault.Fields, text string) {
	if len(text) > MaxDescription || strings.ContainsRune(text, 0) {
		wrong.Add("description", "must be at most %d bytes", MaxDescription)
	}
}

func (s *Service) checkAddress(ctx context.Context, wrong fault.Fields, text string) {
	if reason := s.poster.CheckURL(ctx, text); reason != "" {
		wrong.Add("url", "%s", reason)
	}
}

// Create creates an endpoint. Only this call returns the secret.
func (s *Service) Create(ctx context.Context, accountID string, in NewEndpoint) (*ent.Webhook, secret.String, error) {
	wrong := fault.Fields{}
	s.checkAddress(ctx, wrong, in.URL)
	events := s.checkEvents(wrong, in.Events)
	checkRate(wrong, in.RateLimit)
	checkDescription(wrong, in.Description)
	checkHeaders(wrong, in.Headers)
	for name, value := range in.Headers {
		if value == secret.Mask {
			wrong.Add("headers."+name, "is a mask (%s) in place of an unknown value; enter the value", secret.Mask)
		}
	}
	if err := s.checkFilter(ctx, wrong, accountID, in.Filter); err != nil {
		return nil, secret.String{}, err
	}
	if err := wrong.Err(); err != nil {
		return nil, secret.String{}, err
	}
	token := secret.New(webhooksig.NewSecret())
	var made *ent.Webhook
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := checkEndpointLimit(ctx, tx, accountID); err != nil {
			return err
		}
		endpointID := id.New(id.Webhook)
		create := tx.Webhook.Create().SetID(endpointID).SetAccountID(accountID).SetURL(in.URL).SetEvents(events).
			SetNillableRateLimit(in.RateLimit).SetDescription(in.Description).
			SetSecret(s.box.Seal([]byte(token.Reveal()), secretContext(endpointID)))
		if filter := orNil(in.Filter); filter != nil {
			create.SetFilter(filter)
		}
		sealed, names, err := s.sealHeaders(endpointID, in.Headers)
		if err != nil {
			return err
		}
		if sealed != nil {
			create.SetHeaders(sealed).SetHeaderNames(names)
		}
		made, err = create.Save(ctx)
		if err != nil || in.Keep == nil {
			return err
		}
		return in.Keep(ctx, tx, made, token)
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("create webhook: %w", err)
	}
	s.interest.MarkWanted(accountID)
	return made.Unwrap(), token, nil
}

// secretContext binds a sealed secret to its endpoint.
func secretContext(webhookID string) []byte { return []byte("webhook secret/" + webhookID) }

// checkEndpointLimit returns an error if the account has reached its limit of endpoints. Concurrent creations
// in one account run one after the other.
func checkEndpointLimit(ctx context.Context, tx *ent.Tx, accountID string) error {
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('webhooks/' || $1, 0))`, accountID); err != nil {
		return err
	}
	n, err := tx.Webhook.Query().Where(webhook.AccountID(accountID)).Count(ctx)
	if err == nil && n >= MaxEndpoints {
		return fault.Conflictf(fault.CodeConflict, "An account can have %d webhook endpoints; delete one first",
			MaxEndpoints)
	}
	return err
}

// EndpointFilter narrows a list of endpoints. Empty fields match everything.
type EndpointFilter struct {
	Enabled *bool
	Event   string // an event type that it receives, such as email.bounced
}

// List returns one page of the account's endpoints, newest first. It returns Invalid if the page request is
// invalid.
func (s *Service) List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Webhook], error) {
	return s.ListFiltered(ctx, accountID, EndpointFilter{}, r)
}

// ListFiltered is like List, limited to the endpoints that match a filter.
func (s *Service) ListFiltered(ctx context.Context, accountID string, f EndpointFilter,
	r page.Request) (page.Page[*ent.Webhook], error) {
	query, err := s.queryEndpoints(accountID, f)
	if err != nil {
		return page.Page[*ent.Webhook]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "webhooks", AccountID: accountID}, r, query,
		func(w *ent.Webhook) string { return w.ID })
}

// Count counts the account's endpoints that match a filter, up to the limit most.
func (s *Service) Count(ctx context.Context, accountID string, f EndpointFilter, most int) (int, error) {
	query, err := s.queryEndpoints(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) queryEndpoints(accountID string, f EndpointFilter) (*ent.WebhookQuery, error) {
	query := s.db.Ent.Webhook.Query().Where(webhook.AccountID(accountID))
	if f.Enabled != nil {
		query.Where(webhook.Enabled(*f.Enabled))
	}
	if f.Event != "" {
		if reason := s.offer.Refusal(event.Type(f.Event)); reason != "" {
			return nil, fault.InvalidField("event", "%s", reason)
		}
		query.Where(func(s *sql.Selector) { // an empty list means all types
			s.Where(sql.Or(sqljson.ValueContains(webhook.FieldEvents, f.Event), sqljson.LenEQ(webhook.FieldEvents, 0)))
		})
	}
	return query, nil
}

// Get returns one endpoint.
func (s *Service) Get(ctx context.Context, accountID, webhookID string) (*ent.Webhook, error) {
	found, err := s.db.Ent.Webhook.Query().Where(webhook.ID(webhookID), webhook.AccountID(accountID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("webhook", webhookID)
	case err != nil:
		return nil, fmt.Errorf("get webhook: %w", err)
	}
	return found, nil
}

// GetMany returns the account's endpoints with the given ids, keyed by id.
func (s *Service) GetMany(ctx context.Context, accountID string,
	webhookIDs ...string) (map[string]*ent.Webhook, error) {
	rows, err := s.db.Ent.Webhook.Query().Where(webhook.AccountID(accountID), webhook.IDIn(webhookIDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	found := make(map[string]*ent.Webhook, len(rows))
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, nil
}

// SignedBy returns the id of the account's endpoint whose URL ends with path and whose secret signed body.
// signature is the value of the webhooksig.Header field. It is for receivers in this process. It returns
// NotFound if no endpoint has such a URL, and the errors of webhooksig.Verify.
func (s *Service) SignedBy(ctx context.Context, accountID, path, signature string, body []byte) (string, error) {
	rows, err := s.db.Ent.Webhook.Query().Where(webhook.AccountID(accountID), webhook.URLHasSuffix(path)).All(ctx)
	if err != nil {
		return "", fmt.Errorf("read webhooks: %w", err)
	}
	refused := error(fault.NoSuch("webhook", path))
	now := time.Now()
	for _, row := range rows {
		job := delivery{webhookID: row.ID, secret: row.Secret}
		if row.PreviousSecret != nil && row.PreviousSecretUntil != nil && now.Before(*row.PreviousSecretUntil) {
			job.previous = *row.PreviousSecret
		}
		secrets, err := s.openSecrets(job)
		if err != nil {
			return "", fmt.Errorf("open the secret of a webhook: %w", err)
		}
		for _, one := range secrets {
			if refused = webhooksig.Verify(one.Reveal(), signature, body, now); refused == nil {
				return row.ID, nil
			}
		}
	}
	return "", refused
}
