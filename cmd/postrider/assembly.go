package main

import (
	"time"

	runtime "github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/config"
)

// assembly is what the commands call; tests of the command line replace it.
type assembly struct {
	run           func(s *session, cfg config.Config, readyFile string) error
	migrate       func(s *session, cfg config.Config) error
	openAPI       func(cfg config.Config, format string) ([]byte, error)
	modules       func() string
	createAccount func(s *session, cfg config.Config, c *accountCreateCommand) (id string, err error)
	listAccounts  func(s *session, cfg config.Config) ([]runtime.AccountView, error)
	showAccount   func(s *session, cfg config.Config, account string) (runtime.AccountView, error)
	updateAccount func(s *session, cfg config.Config, account string, c runtime.AccountChange) (runtime.AccountView, error)
	createKey     func(s *session, cfg config.Config, c *keyCreateCommand) (id, secret string, err error)
	revokeKey     func(s *session, cfg config.Config, c *keyRevokeCommand) (at time.Time, err error)
	listQueue     func(s *session, cfg config.Config, in runtime.QueueSelection, after int64, limit int) ([]runtime.QueuedView, error)
	sumUpQueue    func(s *session, cfg config.Config, in runtime.QueueSelection, limit int) ([]runtime.BacklogView, error)
	changeQueue   func(s *session, cfg config.Config, in runtime.QueueChange) (runtime.QueueResult, error)
	checkDomain   func(s *session, cfg config.Config, c *domainCheckCommand) (table string, sound bool, err error)

	setSmarthost    func(s *session, cfg config.Config, in runtime.SmarthostInput) (runtime.SmarthostView, error)
	listSmarthosts  func(s *session, cfg config.Config, account string) ([]runtime.SmarthostView, error)
	removeSmarthost func(s *session, cfg config.Config, id string) error
	addSource       func(s *session, cfg config.Config, in runtime.SourceInput) (runtime.SourceView, error)
	listSources     func(s *session, cfg config.Config) ([]runtime.SourceView, error)
	pauseSource     func(s *session, cfg config.Config, addressOrID string, pause bool) (runtime.SourceView, error)
	removeSource    func(s *session, cfg config.Config, addressOrID string) error
	tlsReports      func(s *session, cfg config.Config, q runtime.TLSReportQuery) ([]runtime.TLSReport, error)
}

// assembled is the real one.
func assembled() assembly {
	return assembly{
		run: func(s *session, cfg config.Config, readyFile string) error {
			return runtime.Run(s.ctx, cfg, runtime.Options{Version: s.version, ReadyFile: readyFile, Out: s.out, Log: s.log})
		},
		migrate: func(s *session, cfg config.Config) error {
			return runtime.Migrate(s.ctx, cfg)
		},
		openAPI: runtime.OpenAPI,
		modules: runtime.ModuleTable,
		createAccount: func(s *session, cfg config.Config, c *accountCreateCommand) (string, error) {
			return runtime.CreateAccount(s.ctx, cfg, runtime.AccountInput{Name: c.Name, Email: c.Email, Plan: c.Plan,
				ProductionUnlocked: c.ProductionUnlocked, Unmetered: c.Unmetered})
		},
		listAccounts: func(s *session, cfg config.Config) ([]runtime.AccountView, error) {
			return runtime.ListAccounts(s.ctx, cfg)
		},
		showAccount: func(s *session, cfg config.Config, account string) (runtime.AccountView, error) {
			return runtime.ShowAccount(s.ctx, cfg, account)
		},
		updateAccount: func(s *session, cfg config.Config, account string, c runtime.AccountChange) (runtime.AccountView, error) {
			return runtime.UpdateAccount(s.ctx, cfg, account, c)
		},
		revokeKey: func(s *session, cfg config.Config, c *keyRevokeCommand) (time.Time, error) {
			return runtime.RevokeKey(s.ctx, cfg, c.Account, c.Key)
		},
		createKey: func(s *session, cfg config.Config, c *keyCreateCommand) (string, string, error) {
			return runtime.CreateKey(s.ctx, cfg, runtime.KeyInput{AccountID: c.Account, Name: c.Name, Scope: c.Scope,
				DomainIDs: c.DomainID, ExpiresAt: c.ExpiresAt})
		},
		listQueue: func(s *session, cfg config.Config, in runtime.QueueSelection, after int64, limit int) ([]runtime.QueuedView, error) {
			return runtime.ListQueue(s.ctx, cfg, in, after, limit)
		},
		sumUpQueue: func(s *session, cfg config.Config, in runtime.QueueSelection, limit int) ([]runtime.BacklogView, error) {
			return runtime.SumUpQueue(s.ctx, cfg, in, limit)
		},
		changeQueue: func(s *session, cfg config.Config, in runtime.QueueChange) (runtime.QueueResult, error) {
			return runtime.ChangeQueue(s.ctx, cfg, in)
		},
		checkDomain: func(s *session, cfg config.Config, c *domainCheckCommand) (string, bool, error) {
			return runtime.CheckDomain(s.ctx, cfg, runtime.DomainCheck{Name: c.Name, Selector: c.Selector, AccountID: c.Account, DNSOnly: c.DNSOnly})
		},
		setSmarthost: func(s *session, cfg config.Config, in runtime.SmarthostInput) (runtime.SmarthostView, error) {
			return runtime.SetSmarthost(s.ctx, cfg, in)
		},
		listSmarthosts: func(s *session, cfg config.Config, account string) ([]runtime.SmarthostView, error) {
			return runtime.ListSmarthosts(s.ctx, cfg, account)
		},
		removeSmarthost: func(s *session, cfg config.Config, id string) error { return runtime.RemoveSmarthost(s.ctx, cfg, id) },
		addSource: func(s *session, cfg config.Config, in runtime.SourceInput) (runtime.SourceView, error) {
			return runtime.AddSource(s.ctx, cfg, in)
		},
		listSources: func(s *session, cfg config.Config) ([]runtime.SourceView, error) {
			return runtime.ListSources(s.ctx, cfg)
		},
		pauseSource: func(s *session, cfg config.Config, addressOrID string, pause bool) (runtime.SourceView, error) {
			return runtime.PauseSource(s.ctx, cfg, addressOrID, pause)
		},
		removeSource: func(s *session, cfg config.Config, addressOrID string) error {
			return runtime.RemoveSource(s.ctx, cfg, addressOrID)
		},
		tlsReports: func(s *session, cfg config.Config, q runtime.TLSReportQuery) ([]runtime.TLSReport, error) {
			return runtime.TLSReports(s.ctx, cfg, q)
		},
	}
}
