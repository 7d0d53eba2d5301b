package bounces

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Mail looks up and updates the emails that reports are about.
type Mail interface {
	Addressee(ctx context.Context, emailID string, recipientID int64) (records.Addressee, bool, error)
	LockAddressee(ctx context.Context, tx db.Execer, emailID string, recipientID int64) (records.Addressee, bool, error)
	RecipientAt(ctx context.Context, accountID, emailID, address string) (recipientID int64, known bool, err error)
	OwnerOf(ctx context.Context, emailID string) (owner records.EmailOwner, known bool, err error)
	BounceLate(ctx context.Context, tx db.Execer, b records.LateBounce) (changed bool, err error)
	Announce(ctx context.Context, tx db.Execer, notices ...records.Notice) (known int, err error)
}

// Accounts looks up accounts.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Bus delivers committed facts.
type Bus interface{ Wake() }

// Mark identifies the recipient and email of a return path.
type Mark = returnpath.Mark

// Errors of Accepts other than a failed lookup.
var (
	ErrNotOurs = returnpath.ErrNotReturnPath // not a return path
	ErrForged  = returnpath.ErrForged
	ErrExpired = returnpath.ErrExpired
	ErrGone    = errors.New("the recipient of the return path is no longer stored")
)

// Params contains the parameters of New.
type Params struct {
	fx.In

	DB          *db.DB
	Mail        Mail
	Bus         Bus
	ReturnPaths *returnpath.Signer
	Accounts    Accounts
	Origins     *origins.Service `optional:"true"` // nil: no account has moved
	Budget      *intake.Budget   // for incoming reports
	Logger      *slog.Logger
}

// Service receives reports.
type Service struct {
	db       *db.DB
	mail     Mail
	bus      Bus
	paths    *returnpath.Signer
	accounts Accounts
	origins  *origins.Service
	client   *http.Client // for forwarded reports
	budget   *intake.Budget
	logger   *slog.Logger
}

// New returns a new Service.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("bounces: Budget is required")
	}
	return &Service{db: p.DB, mail: p.Mail, bus: p.Bus, paths: p.ReturnPaths, accounts: p.Accounts,
		origins: p.Origins, client: newForwardClient(), budget: p.Budget, logger: p.Logger}, nil
}

// MarkOf returns the mark of an address that accepts reports. Errors: ErrNotOurs, ErrForged, ErrExpired,
// ErrGone, or a failed lookup.
func (s *Service) MarkOf(ctx context.Context, address string) (Mark, error) {
	mark, err := s.paths.Parse(address, time.Now())
	if err == nil {
		var known bool
		if _, known, err = s.mail.Addressee(ctx, mark.EmailID, mark.RecipientID); err == nil && !known {
			err = ErrGone
		}
	}
	if errors.Is(err, ErrForged) || errors.Is(err, ErrGone) {
		return s.movedMark(ctx, address, err)
	}
	if err != nil {
		return Mark{}, err
	}
	return mark, nil
}
