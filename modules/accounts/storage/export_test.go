package storage

import "context"

// ReturnExpired returns the allowances of processes that are gone.
func (s *Service) ReturnExpired(ctx context.Context) error { return s.returnExpired(ctx) }

// MeasureDue measures the accounts that are due.
func (s *Service) MeasureDue(ctx context.Context) error { return s.measureDue(ctx) }

// Report reports the allowances that were used.
func (s *Service) Report(ctx context.Context) error { return s.report(ctx) }

// PageStatements returns the statement that measures a page of each table.
func PageStatements() map[string]string {
	statements := map[string]string{}
	for _, t := range tables {
		statements[t.name] = t.pageSQL()
	}
	return statements
}
