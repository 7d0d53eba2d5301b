package apilog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Filter narrows a list of requests. Zero fields match everything.
type Filter struct {
	Methods     []string
	PathPrefix  string // for example /api/emails
	StatusFrom  int
	StatusBelow int // exclusive
	APIKeyID    string
	UserID      string
	RequestID   string
	EmailID     string
	Since       time.Time
	Until       time.Time // exclusive
}

// Methods lists the methods that the log can contain.
func Methods() []string {
	return []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete,
		http.MethodHead}
}

// Validate reports every invalid field of the filter.
func (f Filter) Validate() error {
	wrong := fault.Fields{}
	for _, method := range f.Methods {
		if !slices.Contains(Methods(), method) {
			wrong.Add("method", "must be one of %s", strings.Join(Methods(), ", "))
			break
		}
	}
	if f.PathPrefix != "" && f.PathPrefix[0] != '/' {
		wrong.Add("path", "must begin with /")
	}
	for field, status := range map[string]int{"status_from": f.StatusFrom, "status_below": f.StatusBelow} {
		if status != 0 && (status < 100 || status > 600) {
			wrong.Add(field, "must be between 100 and 600")
		}
	}
	if f.StatusFrom != 0 && f.StatusBelow != 0 && f.StatusFrom >= f.StatusBelow && wrong.Err() == nil {
		wrong.Add("status_below", "must be more than status_from")
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		wrong.Add("until", "must be after since")
	}
	for field, text := range map[string]string{"path": f.PathPrefix, "api_key_id": f.APIKeyID, "user_id": f.UserID,
		"request_id": f.RequestID, "email_id": f.EmailID} {
		if len(text) > maxPath || text != cleanText(text, maxPath) {
			wrong.Add(field, "must be valid text of at most %d bytes", maxPath)
		}
	}
	return wrong.Err()
}

const columnsSQL = `n, request_id, account_id, method, path, operation, status, duration_ms, api_key_id, user_id, ip, request_body, request_octets, response_body, response_octets, email_id, created_at`

func (r *LoggedRequest) columns() []any {
	return []any{&r.n, &r.ID, &r.AccountID, &r.Method, &r.Path, &r.Operation, &r.Status, &r.DurationMS, &r.APIKeyID,
		&r.UserID, &r.IP, &r.RequestBody,
		&r.RequestOctets, &r.ResponseBody, &r.ResponseOctets, &r.EmailID, &r.CreatedAt}
}

// failedSQL is the condition of the index of failures.
const failedSQL = ` AND status >= 400`

// query builds the statement for one page of an account's requests.
func (f Filter) query(columns, accountID string, beside int64, back bool, limit int) *db.Query {
	q := &db.Query{}
	var text strings.Builder
	text.WriteString(`SELECT ` + columns + ` FROM api_requests WHERE account_id = ` + q.Arg(accountID))
	and := func(condition string, value any) { text.WriteString(" AND " + condition + q.Arg(value)) }
	order := `DESC`
	switch {
	case back:
		order = `ASC`
		and(`n > `, beside)
	case beside > 0:
		and(`n < `, beside)
	}
	if len(f.Methods) > 0 {
		text.WriteString(` AND method = ANY(` + q.Arg(db.Array(f.Methods)) + `)`)
	}
	if f.PathPrefix != "" {
		and(`path >= `, f.PathPrefix)
		and(`path < `, f.PathPrefix+"\U0010FFFF")
	}
	if f.StatusFrom >= http.StatusBadRequest {
		text.WriteString(failedSQL)
	}
	for _, c := range []struct {
		condition, value string
	}{{`api_key_id <> '' AND api_key_id = `, f.APIKeyID}, {`user_id <> '' AND user_id = `, f.UserID},
		{`request_id = `, f.RequestID},
		{`email_id <> '' AND email_id = `, f.EmailID}} {
		if c.value != "" {
			and(c.condition, c.value)
		}
	}
	if f.StatusFrom != 0 {
		and(`status >= `, f.StatusFrom)
	}
	if f.StatusBelow != 0 {
		and(`status < `, f.StatusBelow)
	}
	if !f.Since.IsZero() {
		and(`created_at >= `, f.Since)
	}
	if !f.Until.IsZero() {
		and(`created_at < `, f.Until)
	}
	text.WriteString(` ORDER BY n ` + order + ` LIMIT ` + q.Arg(limit))
	q.Text = text.String()
	return q
}

// List returns one page of an account's requests, newest first. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, f Filter,
	r page.Request) (page.Page[LoggedRequest], error) {
	list := page.List{Name: "api_requests", AccountID: accountID}
	at, err := s.cursors.Open(list, r.OrDefault())
	if err != nil {
		return page.Page[LoggedRequest]{}, err
	}
	if err := f.Validate(); err != nil {
		return page.Page[LoggedRequest]{}, err
	}
	var beside int64
	if at.ID != "" {
		var ok bool
		if beside, ok = s.cursors.Reveal(list, at.ID); !ok {
			return page.Page[LoggedRequest]{},
				fault.InvalidField("cursor", "is not a cursor of this list; use next_cursor of an earlier response")
		}
	}
	q := f.query(columnsSQL, accountID, beside, at.Back, at.Rows())
	rows, err := db.All(ctx, s.db.SQL, (*LoggedRequest).columns, q.Text, q.Args...)
	if err != nil {
		return page.Page[LoggedRequest]{}, fmt.Errorf("list API requests: %w", err)
	}
	return page.FromRows(s.cursors, list, rows, at, func(r LoggedRequest) string { return s.cursors.Hide(list, r.n) }),
		nil
}

// Count returns the number of requests that match the filter, at most up to a limit. Error: Invalid.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	if err := f.Validate(); err != nil {
		return 0, err
	}
	q := f.query(`n`, accountID, 0, false, most)
	found, err := db.One(ctx, s.db.SQL, db.Value[int], `SELECT count(*) FROM (`+q.Text+`) found`, q.Args...)
	return found, err
}

// Get returns the account's newest request with the id. Error: NotFound.
func (s *Service) Get(ctx context.Context, accountID, id string) (LoggedRequest, error) {
	if !IsID(id) {
		return LoggedRequest{}, fault.NoSuch("API request", cleanText(id, maxID))
	}
	q := Filter{RequestID: id}.query(columnsSQL, accountID, 0, false, 1)
	r, err := db.One(ctx, s.db.SQL, (*LoggedRequest).columns, q.Text, q.Args...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return LoggedRequest{}, fault.NoSuch("API request", id)
	case err != nil:
		return LoggedRequest{}, fmt.Errorf("read API request: %w", err)
	}
	return r, nil
}
