package storage

import "context"

// ReturnExpired returns the allowances of dead processes.
func (s *Service) ReturnExpired(ctx context.Context) error { return s.returnExpired(ctx) }

// MeasureDue measures the accounts with a due measurement.
func (s *Service) MeasureDue(ctx context.Context) error { return s.measureDue(ctx) }

// Report reports the allowances that were used.
func (s *Service) Report(ctx context.Context) error { return s.report(ctx) }

// PageStatements returns, by table, the statement that measures a page.
func PageStatements() map[string]string {
	statements := map[string]string{}
	for _, t := range tables {
		statements[t.name] = t.pageSQL()
	}
	return statements
}
