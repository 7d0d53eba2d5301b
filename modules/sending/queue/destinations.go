package queue

import (
	"context"

	"github.com/postrider/postrider/runtime/mail/bounce"
)

// Destinations is the Summary of the whole queue for who runs the installation: what the last attempts
// brought tells nobody whom mail is for.
func (s *Service) Destinations(ctx context.Context, limit int) ([]Backlog, error) {
	list, err := s.Summary(ctx, Selection{}, limit)
	for i := range list {
		list[i].Diagnostic = bounce.Nameless(list[i].Diagnostic)
	}
	return list, err
}
