package templates

import (
	"log/slog"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/page"
)

// Params of New.
type Params struct {
	fx.In

	DB      *db.DB
	Cursors *page.Codec
	Logger  *slog.Logger
}

// Service answers for templates. Safe for concurrent use.
type Service struct {
	db      *db.DB
	cursors *page.Codec
	log     *slog.Logger
}

// New makes the service. It runs nothing in the background.
func New(p Params) (*Service, error) {
	return &Service{db: p.DB, cursors: p.Cursors, log: p.Logger}, nil
}
