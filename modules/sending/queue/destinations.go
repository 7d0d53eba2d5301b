package queue

import (
	"context"

	"github.com/postrider/postrider/runtime/mail/bounce"
)

// Destinations is the Summary of the whole queue for the operator of the installation. The diagnostics have
// personal names removed.
func (s *Service) Destinations(ctx context.Context, limit int) ([]Backlog, error) {
	list, err := s.Summary(ctx, Selection{}, limit)
	for i := range list {
		list[i].Diagnostic = bounce.RedactRecipient(list[i].Diagnostic)
	}
	return list, err
}
