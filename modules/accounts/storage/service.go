package storage

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/diskroom"
	"github.com/postrider/postrider/runtime/storage/db"
)

// DataKind is the kind of stored data.
type DataKind string

// The kinds. Mail and Received are still accepted when the disk is too full for Other.
const (
	Mail     DataKind = "mail"
	Received DataKind = "received"
	Other    DataKind = "other"
)

// RowBytes is the cost of a row in addition to its contents: its fixed columns, indexes and events.
const RowBytes = 1 << 10

// Accounts returns an account with its plan.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Disk reports how full the disk of the database is.
type Disk interface {
	// Level is the fill level of the disk. Use announces bytes that are about to be written.
	Level() diskroom.Level
	Use(bytes int64)
}

// Intervals of the background work.
const (
	reportInterval  = 10 * time.Second
	measureInterval = 5 * time.Second
	idleAfter       = 30 * time.Second // after which an unused allowance is returned
)

// Config configures the service; zero fields use the defaults.
type Config struct {
	// RemeasureAfter is the minimum time between two measurements of an account: 1 min.
	RemeasureAfter time.Duration
}

func (c Config) withDefaults() Config {
	c.RemeasureAfter = cmp.Or(c.RemeasureAfter, time.Minute)
	return c
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config   Config `optional:"true"`
	DB       *db.DB
	Accounts Accounts
	Disk     Disk `optional:"true"` // nil if the disk is not monitored
	Logger   *slog.Logger
	Registry prometheus.Registerer `optional:"true"`
	Workers  *worker.Metrics       `optional:"true"`
}

// Service charges accounts for the bytes they store. It is safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	accounts Accounts
	disk     Disk
	holder   string // identifies this process as a borrower
	refused  *prometheus.CounterVec
	tasks    *worker.Tasks

	mutex      sync.Mutex
	allowances map[string]*allowance
	refills    sync.WaitGroup
}

// New returns a service that can charge immediately; Start runs its background work.
func New(p Params) (*Service, error) {
	s := &Service{config: p.Config.withDefaults(), db: p.DB, accounts: p.Accounts, disk: p.Disk,
		holder: id.New(id.Fact), allowances: map[string]*allowance{},
		tasks: worker.NewTasks(p.Logger, p.Workers),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Subsystem: "storage",
			Name: "refused_total",
			Help: "Writes rejected because of a byte quota or a full disk."}, []string{"reason"})}
	for _, reason := range []string{capStored, capDaily, refusedShare, refusedDisk} {
		s.refused.WithLabelValues(reason) // initialized, so that it is reported as 0
	}
	return s, telemetry.Register(p.Registry, s.refused)
}

// Start starts reporting allowances and measuring.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(
		worker.Every("allowances of stored bytes", reportInterval, s.report),
		worker.Every("expired allowances of stored bytes", time.Minute, s.returnExpired),
		worker.Every("measurement of stored bytes", measureInterval, s.measureDue),
	)
	return nil
}

// Stop returns the allowances of this process.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	s.refills.Wait()
	s.mutex.Lock()
	held := make([]*allowance, 0, len(s.allowances))
	for _, a := range s.allowances {
		held = append(held, a)
	}
	s.mutex.Unlock()
	var errs []error
	for _, a := range held {
		errs = append(errs, s.giveBack(ctx, a))
	}
	return errors.Join(errs...)
}

// Charge counts bytes that an account is about to store. It returns Limit if a quota is exhausted, and
// Unavailable if the disk is too full or the counter could not be read; nothing is counted in these cases.
// Refund bytes that were not stored after all.
func (s *Service) Charge(ctx context.Context, accountID string, kind DataKind, bytes int64) error {
	if accountID == "" || bytes <= 0 {
		return nil
	}
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return err
	}
	if account.System {
		return nil
	}
	if err := s.checkDisk(account, kind, bytes); err != nil {
		return err
	}
	quota := account.ByteQuota()
	if quota.IsUnlimited() {
		return nil
	}
	a := s.allowanceOf(accountID)
	if a.spend(bytes) {
		if a.isLow() {
			s.refill(a, quota)
		}
		return nil
	}
	return s.borrowAndSpend(ctx, a, account.Plan.Name, quota, bytes)
}

// Refund reverts a charge of bytes that were not stored.
func (s *Service) Refund(ctx context.Context, accountID string, bytes int64) {
	if accountID == "" || bytes <= 0 {
		return
	}
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil || account.System || account.ByteQuota().IsUnlimited() {
		return // the next measurement corrects the counter
	}
	s.allowanceOf(accountID).left.Add(bytes)
}

// Debit counts bytes that are stored regardless of the quota: consequences of an accepted write.
func (s *Service) Debit(ctx context.Context, accountID string, bytes int64) {
	s.Refund(ctx, accountID, -bytes)
}

// checkDisk rejects writes while the disk is nearly full: first those of free accounts, then everything
// except mail, then everything.
func (s *Service) checkDisk(account accounts.Account, kind DataKind, bytes int64) error {
	if s.disk == nil {
		return nil
	}
	level := s.disk.Level()
	if level == diskroom.Full || level >= diskroom.MailOnly && kind == Other || level >= diskroom.PaidOnly &&
		account.Plan.Sandboxed {
		s.refused.WithLabelValues(refusedDisk).Inc()
		return diskFullError()
	}
	s.disk.Use(bytes)
	return nil
}

const diskRetry = 30 * time.Second

var errDiskFull = errors.New("the disk of the database is nearly full")

// IsDiskFull reports whether a write was rejected because of the disk.
func IsDiskFull(err error) bool { return errors.Is(err, errDiskFull) }

func diskFullError() error {
	refused := &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: diskRetry,
		Message: "The service is low on disk space and cannot store this now; retry with the same Idempotency-Key"}
	return refused.WithCause(errDiskFull)
}
