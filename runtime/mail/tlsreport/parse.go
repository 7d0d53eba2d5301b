package tlsreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/reportfile"
)

// The limits of a report.
const (
	MaxJSON     = 4 << 20       // bytes after decompression
	MaxPolicies = 100           // policies of a report
	MaxFailures = 10_000        // failures of all policies
	maxSessions = 1_000_000_000 // of one count, so that sums cannot overflow
	maxText     = 512           // bytes of one text
	maxPeriod   = 8 * 24 * time.Hour

	// MemoryToParse is an upper limit of the bytes that parsing one file takes: for several copies of the JSON.
	MemoryToParse = 32 << 20
)

// wireReport and the types below are the JSON of RFC 8460 section 4.4. Lists are decoded one element at a time,
// because a short element such as {} takes more memory than text.
type wireReport struct {
	Organization string          `json:"organization-name"`
	ID           string          `json:"report-id"`
	Policies     json.RawMessage `json:"policies"`
	Period       struct {
		Begin string `json:"start-datetime"`
		End   string `json:"end-datetime"`
	} `json:"date-range"`
}

type wirePolicy struct {
	Policy struct {
		Type   string `json:"policy-type"`
		Domain string `json:"policy-domain"`
	} `json:"policy"`
	Summary struct {
		Successful json.Number `json:"total-successful-session-count"`
		Failed     json.Number `json:"total-failure-session-count"`
	} `json:"summary"`
	Failures json.RawMessage `json:"failure-details"`
}

type wireFailure struct {
	Type     string      `json:"result-type"`
	Sessions json.Number `json:"failed-session-count"`
}

// Parse parses a report file. Its errors are of type *reportfile.RefusalError.
func Parse(file []byte) (Report, error) {
	text, err := reportfile.Open(file)
	if err != nil {
		return Report{}, err
	}
	defer text.Close()
	return ParseText(text)
}

// ParseText parses the text of a report file, like Parse.
func ParseText(text io.Reader) (Report, error) {
	raw, err := io.ReadAll(io.LimitReader(text, MaxJSON+1))
	switch {
	case err != nil:
		return Report{}, reportfile.WrapError(err)
	case len(raw) > MaxJSON:
		return Report{}, reportfile.Refuse(reportfile.TooLarge, nil)
	}
	var whole wireReport
	if err := json.Unmarshal(raw, &whole); err != nil {
		return Report{}, wrapError(err)
	}
	p := &parser{rows: map[Key]int64{}}
	if err := p.readHead(whole); err != nil {
		return Report{}, err
	}
	if err := decodeList(whole.Policies, p.addPolicy); err != nil {
		return Report{}, wrapError(err)
	}
	return p.finish()
}

// wrapError returns a refusal for an error of the JSON decoder.
func wrapError(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) || strings.HasPrefix(err.Error(), "json: invalid number literal") {
		return reportfile.Refuse(reportfile.InvalidValue, err)
	}
	return reportfile.WrapError(err)
}

// decodeList calls add for each element of a JSON array. A missing array is empty.
func decodeList[T any](raw json.RawMessage, add func(T) error) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return reportfile.Refuse(reportfile.InvalidValue, errors.New("not a list"))
	}
	for d.More() {
		var element T
		if err := d.Decode(&element); err != nil {
			return err
		}
		if err := add(element); err != nil {
			return err
		}
	}
	return nil
}

// parser builds a report from its policies.
type parser struct {
	report   Report
	policies int
	failures int
	rows     map[Key]int64
}

func (p *parser) readHead(w wireReport) (err error) {
	r := &p.report
	if len(w.ID) > maxText {
		return reportfile.Refuse(reportfile.InvalidValue, errors.New("report id too long"))
	}
	r.Organization = reportfile.CleanText([]byte(w.Organization[:min(len(w.Organization), maxText)]))
	r.ID = reportfile.CleanText([]byte(w.ID))
	if r.Organization == "" || r.ID == "" || w.Period.Begin == "" || w.Period.End == "" {
		return reportfile.Refuse(reportfile.Incomplete, nil)
	}
	if r.Begin, err = parseTime(w.Period.Begin); err != nil {
		return err
	}
	if r.End, err = parseTime(w.Period.End); err != nil {
		return err
	}
	if !r.End.After(r.Begin) || r.End.Sub(r.Begin) > maxPeriod {
		return reportfile.Refuse(reportfile.InvalidValue, errors.New("period"))
	}
	return nil
}

// parseTime parses a time of RFC 3339. A time without an offset is in UTC.
func parseTime(value string) (at time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err = time.Parse(layout, value); err == nil && at.Year() >= 1970 {
			return at.UTC(), nil
		}
	}
	return time.Time{}, reportfile.Refuse(reportfile.InvalidValue, errors.New("time"))
}

func (p *parser) addPolicy(w wirePolicy) error {
	if p.policies++; p.policies > MaxPolicies {
		return reportfile.Refuse(reportfile.TooMany, nil)
	}
	domain := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(w.Policy.Domain)), ".")
	if domain == "" || w.Policy.Type == "" {
		return reportfile.Refuse(reportfile.Incomplete, errors.New("policy without type or domain"))
	}
	if !slices.Contains(p.report.Domains, domain) {
		p.report.Domains = append(p.report.Domains, domain)
	}
	policy := knownOr(w.Policy.Type, PolicyTypes)
	successful, err := parseCount(w.Summary.Successful)
	if err != nil {
		return err
	}
	failed, err := parseCount(w.Summary.Failed)
	if err != nil {
		return err
	}
	unexplained := failed
	if err := decodeList(w.Failures, func(f wireFailure) error {
		sessions, err := p.addFailure(policy, f)
		unexplained -= sessions
		return err
	}); err != nil {
		return err
	}
	p.rows[Key{policy, Successful}] += successful
	p.rows[Key{policy, Failed}] += failed
	p.rows[Key{policy, Unspecified}] += max(unexplained, 0)
	return nil
}

func (p *parser) addFailure(policy string, w wireFailure) (sessions int64, err error) {
	if p.failures++; p.failures > MaxFailures {
		return 0, reportfile.Refuse(reportfile.TooMany, nil)
	}
	if w.Type == "" {
		return 0, reportfile.Refuse(reportfile.Incomplete, errors.New("failure without type"))
	}
	if sessions, err = parseCount(w.Sessions); err != nil {
		return 0, err
	}
	p.rows[Key{policy, knownOr(w.Type, FailureTypes)}] += sessions
	return sessions, nil
}

// knownOr returns the known value, whatever the case of its letters, or Other.
func knownOr(value string, known []string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	if slices.Contains(known, value) {
		return value
	}
	return Other
}

func parseCount(value json.Number) (int64, error) {
	if value == "" {
		return 0, reportfile.Refuse(reportfile.Incomplete, errors.New("missing count"))
	}
	n, err := strconv.ParseInt(value.String(), 10, 64)
	if err != nil || n < 0 || n > maxSessions {
		return 0, reportfile.Refuse(reportfile.InvalidValue, fmt.Errorf("count %.20q", value.String()))
	}
	return n, nil
}

func (p *parser) finish() (Report, error) {
	r := p.report
	if p.policies == 0 {
		return Report{}, reportfile.Refuse(reportfile.Incomplete, errors.New("no policy"))
	}
	r.Rows = make([]Row, 0, len(p.rows))
	for key, sessions := range p.rows {
		if sessions > 0 {
			r.Rows = append(r.Rows, Row{key, sessions})
		}
	}
	sortRows(r.Rows)
	return r, nil
}
