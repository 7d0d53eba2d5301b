package assembly

import (
	"context"
	"log/slog"
	"time"

	"github.com/mjl-/mox/tlsrpt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/secret"
)

// What the commands take.
type (
	// SourceInput is a source address to add.
	SourceInput = outbound.SourceInput
	// TLSReportQuery says which reports to print.
	TLSReportQuery = outbound.TLSReportQuery
	// TLSReport is one report of RFC 8460.
	TLSReport = tlsrpt.ReportJSON
)

// SmarthostInput is what `postrider smarthost set` takes.
type SmarthostInput struct {
	Account, Domain, Use string
	URL, Password        string // secret
}

// SmarthostView is a smarthost as `postrider smarthost` prints it.
type SmarthostView struct {
	ID        string    `json:"id"`
	AccountID string    `json:"account_id"`
	DomainID  *string   `json:"domain_id"` // null: all mail of the account
	URL       string    `json:"url"`       // without the password
	Password  bool      `json:"password"`  // whether there is one
	Use       string    `json:"use"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SourceView is a source address as `postrider source` prints it.
type SourceView struct {
	ID        string      `json:"id"`
	Address   string      `json:"address"`
	Hostname  string      `json:"hostname"`
	Pool      string      `json:"pool"`
	AccountID *string     `json:"account_id"`
	WarmUp    *WarmUpView `json:"warm_up"` // null: warm
	PausedAt  *time.Time  `json:"paused_at"`
	CreatedAt time.Time   `json:"created_at"`
}

// WarmUpView is how far a warm-up has come.
type WarmUpView struct {
	StartedAt  time.Time `json:"started_at"`
	Day        int       `json:"day"`        // from 1
	Allowance  int64     `json:"allowance"`  // of today
	Deliveries int64     `json:"deliveries"` // of today
}

func smarthostView(h *ent.Smarthost) SmarthostView {
	return SmarthostView{ID: h.ID, AccountID: h.AccountID, DomainID: h.DomainID, URL: outbound.SmarthostURL(h), Password: outbound.HasPassword(h), Use: string(h.Use),
		CreatedAt: h.CreatedAt.UTC(), UpdatedAt: h.UpdatedAt.UTC()}
}

func sourceView(s outbound.SourceState) SourceView {
	view := SourceView{ID: s.ID, Address: s.Address, Hostname: s.Hostname, Pool: string(s.Pool), AccountID: s.AccountID, CreatedAt: s.CreatedAt.UTC()}
	if s.PausedAt != nil {
		at := s.PausedAt.UTC()
		view.PausedAt = &at
	}
	if !s.Warm {
		view.WarmUp = &WarmUpView{StartedAt: s.WarmupStartedAt.UTC(), Day: s.Day, Allowance: s.Limit, Deliveries: s.Used}
	}
	return view
}

// SetSmarthost stores a smarthost.
func SetSmarthost(ctx context.Context, cfg config.Config, given SmarthostInput) (view SmarthostView, err error) {
	in := outbound.SmarthostInput{Account: given.Account, Domain: given.Domain, Use: given.Use, URL: secret.New(given.URL), Password: secret.New(given.Password)}
	// Before the database is touched; and a password that nothing else can open is
	// worth nothing.
	if err := in.Validate(); err != nil {
		return view, err
	}
	if !findKeys(&cfg) {
		return view, config.Mistakes{{Setting: "POSTRIDER_MASTER_KEY", Problem: "is required: the service's own, which seals passwords"}}
	}
	err = withOutbound(ctx, cfg, func(s *outbound.Service) error {
		stored, err := s.SetSmarthost(ctx, in)
		if err == nil {
			view = smarthostView(stored)
		}
		return err
	})
	return view, err
}

// ListSmarthosts gives those of an account, or all when it is empty.
func ListSmarthosts(ctx context.Context, cfg config.Config, account string) ([]SmarthostView, error) {
	list := []SmarthostView{}
	err := withOutbound(ctx, cfg, func(s *outbound.Service) error {
		rows, err := s.Smarthosts(ctx, account)
		for _, row := range rows {
			list = append(list, smarthostView(row))
		}
		return err
	})
	return list, err
}

// RemoveSmarthost deletes a smarthost.
func RemoveSmarthost(ctx context.Context, cfg config.Config, id string) error {
	return withOutbound(ctx, cfg, func(s *outbound.Service) error { return s.RemoveSmarthost(ctx, id) })
}

// AddSource stores a source address.
func AddSource(ctx context.Context, cfg config.Config, in SourceInput) (SourceView, error) {
	if err := in.Validate(); err != nil {
		return SourceView{}, err
	}
	return sourceAfter(ctx, cfg, func(s *outbound.Service) (*ent.Source, error) { return s.AddSource(ctx, in) })
}

// PauseSource takes the source with the address or the id out of use, or back.
func PauseSource(ctx context.Context, cfg config.Config, addressOrID string, pause bool) (SourceView, error) {
	return sourceAfter(ctx, cfg, func(s *outbound.Service) (*ent.Source, error) { return s.PauseSource(ctx, addressOrID, pause) })
}

// sourceAfter shows how a source stands once something was done to it.
func sourceAfter(ctx context.Context, cfg config.Config, do func(*outbound.Service) (*ent.Source, error)) (view SourceView, err error) {
	err = withOutbound(ctx, cfg, func(s *outbound.Service) error {
		changed, err := do(s)
		if err != nil {
			return err
		}
		all, err := s.Sources(ctx)
		for _, state := range all {
			if state.ID == changed.ID {
				view = sourceView(state)
			}
		}
		return err
	})
	return view, err
}

// ListSources gives all source addresses.
func ListSources(ctx context.Context, cfg config.Config) ([]SourceView, error) {
	list := []SourceView{}
	err := withOutbound(ctx, cfg, func(s *outbound.Service) error {
		all, err := s.Sources(ctx)
		for _, state := range all {
			list = append(list, sourceView(state))
		}
		return err
	})
	return list, err
}

// RemoveSource deletes the source with the address or the id.
func RemoveSource(ctx context.Context, cfg config.Config, addressOrID string) error {
	return withOutbound(ctx, cfg, func(s *outbound.Service) error { return s.RemoveSource(ctx, addressOrID) })
}

// TLSReports gives what receiving domains would be told of TLS on a day.
func TLSReports(ctx context.Context, cfg config.Config, q TLSReportQuery) (reports []TLSReport, err error) {
	err = withOutbound(ctx, cfg, func(s *outbound.Service) error {
		reports, err = s.TLSReports(ctx, q)
		return err
	})
	return reports, err
}

func withOutbound(ctx context.Context, cfg config.Config, do func(*outbound.Service) error) error {
	resolver, err := newResolver(cfg, slog.New(slog.DiscardHandler)) // nothing is looked up
	if err != nil {
		return err
	}
	defer resolver.Close()
	return tool(ctx, cfg, func(_ context.Context, s *store, log *slog.Logger) error {
		pages := newPages(s.box)
		holders, err := accounts.New(accounts.Params{DB: s.db, Logger: log, Cursors: pages})
		if err != nil {
			return err
		}
		names, err := domains.New(domains.Params{Config: domainsConfig(cfg), DB: s.db, Bus: bus.New(s.db, log, bus.Options{}), Accounts: holders,
			Resolver: resolver, Box: s.box, Cursors: pages, Logger: log})
		if err != nil {
			return err
		}
		service, err := outbound.New(outbound.Params{DB: s.db, Accounts: holders, Domains: names, Box: s.box, Logger: log})
		if err != nil {
			return err
		}
		return do(service)
	})
}
