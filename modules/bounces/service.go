package bounces

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Mail knows the emails that reports are about.
type Mail interface {
	Addressee(ctx context.Context, emailID string, recipientID int64) (records.Addressee, bool, error)
	LockAddressee(ctx context.Context, tx db.Execer, emailID string, recipientID int64) (records.Addressee, bool, error)
	BounceLate(ctx context.Context, tx db.Execer, b records.LateBounce) (changed bool, err error)
	Announce(ctx context.Context, tx db.Execer, notices ...records.Notice) (known int, err error)
}

// Bus carries the facts that a commit has stored.
type Bus interface{ Wake() }

// Mark says which recipient of which email a return path was made for.
type Mark = returnpath.Mark

// What Accepts can say besides that it could not look.
var (
	ErrNotOurs = returnpath.ErrNotReturnPath // no return path at all
	ErrForged  = returnpath.ErrForged
	ErrExpired = returnpath.ErrExpired
	ErrGone    = errors.New("the recipient of the return path is stored no more")
)

// Params is what the module needs.
type Params struct {
	fx.In

	DB          *db.DB
	Mail        Mail
	Bus         Bus
	ReturnPaths *returnpath.Signer
	Budget      *intake.Budget // of reports that come in
	Logger      *slog.Logger
}

// Service receives reports.
type Service struct {
	db     *db.DB
	mail   Mail
	bus    Bus
	paths  *returnpath.Signer
	budget *intake.Budget
	logger *slog.Logger
}

// New makes the service.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("bounces: a budget is needed")
	}
	return &Service{db: p.DB, mail: p.Mail, bus: p.Bus, paths: p.ReturnPaths, budget: p.Budget, logger: p.Logger}, nil
}

// Accepts tells whether an address is a return path that reports are received at.
// Errors: ErrNotOurs, ErrForged, ErrExpired, ErrGone, or that it could not be looked up.
func (s *Service) Accepts(ctx context.Context, address string) (Mark, error) {
	mark, err := s.paths.Parse(address, time.Now())
	if err != nil {
		return Mark{}, err
	}
	_, known, err := s.mail.Addressee(ctx, mark.EmailID, mark.RecipientID)
	if err == nil && !known {
		err = ErrGone
	}
	return mark, err
}
