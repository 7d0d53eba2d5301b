package devinbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/emersion/go-smtp"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Keep is the number of emails that are kept of each tenant; MaxSize is the maximum size of an email, in bytes.
const (
	Keep    = 1000
	MaxSize = 150 << 20
)

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config  Config `optional:"true"`
	DB      *db.DB
	Cursors *page.Codec `optional:"true"` // nil: test tenants have no list of their mail
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Service is the sink with its captured mail.
type Service struct {
	db      *db.DB
	cursors *page.Codec
	log     *slog.Logger
	sink    sink
	trimmed trimCounter
	waits   waits
	stage   simulator
	reports *reports
	tasks   *worker.Tasks
}

// sink is the SMTP server.
type sink struct {
	listener net.Listener
	server   *smtp.Server
	served   chan struct{}
	password string // of connections with mail of test mode
}

// New listens on a free loopback port. The sink does not respond before Start.
func New(p Params) (*Service, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("test inbox: %w", err)
	}
	s := &Service{db: p.DB, cursors: p.Cursors, log: p.Logger, sink: sink{listener: listener, served: make(chan struct{}),
		password: newPassword()}, waits: waits{draining: make(chan struct{})},
		stage: newStage(p.Config), reports: newReports(), tasks: worker.NewTasks(p.Logger, p.Workers)}
	s.sink.server = newServer(s)
	return s, nil
}

// Addr returns the host:port of the sink.
func (s *Service) Addr() string { return s.sink.listener.Addr().String() }

// Start starts receiving mail.
func (s *Service) Start(context.Context) error {
	go func() {
		defer close(s.sink.served)
		if err := s.sink.server.Serve(s.sink.listener); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			s.log.Error("the development inbox stopped unexpectedly", telemetry.KeyError, err)
		}
	}()
	s.tasks.Start(s.reportTask())
	return nil
}

// IsOpen reports whether the sink accepts mail that does not belong to test mode, as development mode sends it.
func (s *Service) IsOpen() bool { return s.stage.Open }

// Stop stops the sink. Deliveries must have stopped before.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	s.stage.stop()
	err := s.sink.server.Close()
	<-s.sink.served
	if err != nil && !errors.Is(err, smtp.ErrServerClosed) {
		return fmt.Errorf("development inbox: %w", err)
	}
	return nil
}

// Get returns one email as received.
func (s *Service) Get(ctx context.Context, id int64) (*ent.CapturedMail, error) {
	found, err := s.db.Ent.CapturedMail.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("captured mail", fmt.Sprint(id))
	}
	if err != nil {
		return nil, fmt.Errorf("get captured mail: %w", err)
	}
	if err := s.loadParts(ctx, found); err != nil {
		return nil, fmt.Errorf("get captured mail: %w", err)
	}
	return found, nil
}

// Clear deletes all mail and text messages.
func (s *Service) Clear(ctx context.Context) error {
	if _, err := s.db.Ent.CapturedMail.Delete().Exec(ctx); err != nil {
		return fmt.Errorf("clear captured mail: %w", err)
	}
	if err := s.clearTexts(ctx); err != nil {
		return fmt.Errorf("clear captured text messages: %w", err)
	}
	return nil
}
