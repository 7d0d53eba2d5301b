package dmarcreport

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"

	"github.com/postrider/postrider/runtime/mail/reportfile"
)

// The limits of the contents of a report.
const (
	MaxRecords  = 100_000       // records of a report
	MaxRows     = 20_000        // distinct rows, which are stored
	maxMessages = 1_000_000_000 // of one record, so that sums cannot overflow
	maxDepth    = 12
	maxText     = 512 // bytes of one element
	maxPeriod   = 8 * 24 * time.Hour

	// maxToken is the number of bytes of a tag, a text or a comment. The decoder holds each of them several times.
	maxToken = 1 << 20
)

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
func ParseText(text *reportfile.Text) (Report, error) {
	p := &parser{rows: map[Key]int64{}}
	if err := p.parse(text); err != nil {
		return Report{}, reportfile.WrapError(err)
	}
	return p.finish()
}

// MemoryToParse is an upper limit of the bytes that parsing one file takes: for its rows, and for its largest token.
const MemoryToParse = 32 << 20

// parser builds a report from the elements of its XML.
type parser struct {
	report  Report
	path    []string
	text    []byte
	clipped bool
	records int
	record  record
	rows    map[Key]int64
	fields  int // of the head, as a set of bits
}

// record is the record that is being read.
type record struct {
	key              Key
	messages         int64
	source, counted  bool
	spf, dkim        bool // evaluated results were present
	dispositionFound bool
}

func (p *parser) parse(text *reportfile.Text) error {
	text.LimitToken(maxToken)
	d := xml.NewDecoder(text)
	d.CharsetReader = readCharset
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		text.LimitToken(maxToken)
		if err := p.take(token); err != nil {
			return err
		}
	}
	if len(p.path) > 0 {
		return errors.New("the document is truncated")
	}
	return nil
}

// readCharset decodes the character sets that receivers use.
func readCharset(charset string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "us-ascii", "ascii", "utf8":
		return in, nil
	case "iso-8859-1", "windows-1252":
		return charmap.Windows1252.NewDecoder().Reader(in), nil
	}
	return nil, fmt.Errorf("unknown character set %.20q", charset)
}

func (p *parser) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		return reportfile.Refuse(reportfile.Doctype, nil)
	case xml.StartElement:
		return p.open(strings.ToLower(t.Name.Local))
	case xml.EndElement:
		return p.close(strings.ToLower(t.Name.Local))
	case xml.CharData:
		if room := maxText - len(p.text); len(t) > room {
			t, p.clipped = t[:max(room, 0)], true
		}
		p.text = append(p.text, t...)
	}
	return nil
}

func (p *parser) open(name string) error {
	if len(p.path) >= maxDepth {
		return reportfile.Refuse(reportfile.Malformed, errors.New("nested too deeply"))
	}
	if len(p.path) == 0 && name != "feedback" {
		return reportfile.Refuse(reportfile.Malformed, errors.New("not an aggregate report"))
	}
	p.path, p.text, p.clipped = append(p.path, name), p.text[:0], false
	if strings.Join(p.path, "/") == "feedback/record" {
		if p.records++; p.records > MaxRecords {
			return reportfile.Refuse(reportfile.TooMany, nil)
		}
		p.record = record{}
	}
	return nil
}

func (p *parser) close(name string) error {
	if len(p.path) == 0 || p.path[len(p.path)-1] != name {
		return reportfile.Refuse(reportfile.Malformed, errors.New("end tag without its start"))
	}
	path := strings.Join(p.path, "/")
	p.path = p.path[:len(p.path)-1]
	value := reportfile.CleanText(p.text)
	p.text = p.text[:0]
	if path == "feedback/record" {
		return p.addRecord()
	}
	if inside, found := strings.CutPrefix(path, "feedback/record/"); found {
		return p.setRecord(inside, value)
	}
	return p.setHead(path, value)
}

// The required fields of the head.
const (
	hasOrganization = 1 << iota
	hasID
	hasBegin
	hasEnd
	hasDomain
	hasAll = 1<<iota - 1
)

func (p *parser) setHead(path, value string) (err error) {
	r := &p.report
	switch path {
	case "feedback/report_metadata/org_name":
		r.Organization = value
		p.mark(hasOrganization, value)
	case "feedback/report_metadata/report_id":
		r.ID = value
		p.mark(hasID, value)
	case "feedback/report_metadata/date_range/begin":
		r.Begin, err = parseTime(value)
		p.mark(hasBegin, value)
	case "feedback/report_metadata/date_range/end":
		r.End, err = parseTime(value)
		p.mark(hasEnd, value)
	case "feedback/policy_published/domain":
		r.Domain = strings.TrimSuffix(strings.ToLower(value), ".")
		p.mark(hasDomain, value)
	case "feedback/policy_published/p":
		r.Policy = parsePolicy(value)
	}
	if p.clipped && strings.HasPrefix(path, "feedback/report_metadata/report_id") {
		return reportfile.Refuse(reportfile.InvalidValue, errors.New("report id too long"))
	}
	return err
}

func (p *parser) mark(field int, value string) {
	if value != "" {
		p.fields |= field
	}
}

func (p *parser) setRecord(path, value string) error {
	r := &p.record
	switch path {
	case "row/source_ip":
		source, err := netip.ParseAddr(value)
		if err != nil || source.Zone() != "" {
			return reportfile.Refuse(reportfile.InvalidValue, errors.New("source address"))
		}
		r.key.Source, r.source = source.Unmap(), true
	case "row/count":
		count, err := strconv.ParseInt(value, 10, 64)
		if err != nil || count < 0 || count > maxMessages {
			return reportfile.Refuse(reportfile.InvalidValue, errors.New("count"))
		}
		r.messages, r.counted = count, true
	case "row/policy_evaluated/disposition":
		r.key.Disposition, r.dispositionFound = parsePolicy(value), true
	case "row/policy_evaluated/dkim":
		r.key.DKIM, r.dkim = isPass(value), true
	case "row/policy_evaluated/spf":
		r.key.SPF, r.spf = isPass(value), true
	case "auth_results/dkim/result":
		r.key.Signed = r.key.Signed || isPass(value)
	case "auth_results/spf/result":
		r.key.Permitted = r.key.Permitted || isPass(value)
	}
	return nil
}

func (p *parser) addRecord() error {
	r := p.record
	if !r.source || !r.counted || !r.spf && !r.dkim {
		return reportfile.Refuse(reportfile.Incomplete, errors.New("record without source, count or results"))
	}
	if !r.dispositionFound {
		r.key.Disposition = "none"
	}
	if _, known := p.rows[r.key]; !known && len(p.rows) >= MaxRows {
		return reportfile.Refuse(reportfile.TooMany, nil)
	}
	p.rows[r.key] += r.messages
	return nil
}

func isPass(value string) bool { return strings.EqualFold(value, "pass") }

// parsePolicy returns none for values that are not a policy, such as the "pass" of the successor's format, which
// means that no policy was applied.
func parsePolicy(value string) string {
	switch value = strings.ToLower(value); value {
	case "quarantine", "reject":
		return value
	}
	return "none"
}

// parseTime parses seconds since 1970. Some receivers write a time with an offset instead.
func parseTime(value string) (time.Time, error) {
	if whole, _, _ := strings.Cut(value, "."); whole != "" {
		if seconds, err := strconv.ParseInt(whole, 10, 64); err == nil {
			if seconds < 0 || seconds > 1<<40 {
				return time.Time{}, reportfile.Refuse(reportfile.InvalidValue, errors.New("time"))
			}
			return time.Unix(seconds, 0).UTC(), nil
		}
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return time.Time{}, reportfile.Refuse(reportfile.InvalidValue, errors.New("time"))
	}
	return at.UTC(), nil
}

func (p *parser) finish() (Report, error) {
	r := p.report
	switch {
	case p.fields != hasAll:
		return Report{}, reportfile.Refuse(reportfile.Incomplete, nil)
	case !r.End.After(r.Begin), r.End.Sub(r.Begin) > maxPeriod:
		return Report{}, reportfile.Refuse(reportfile.InvalidValue, errors.New("period"))
	}
	if r.Policy == "" {
		r.Policy = "none"
	}
	r.Rows = make([]Row, 0, len(p.rows))
	for key, messages := range p.rows {
		if messages > 0 {
			r.Rows = append(r.Rows, Row{key, messages})
		}
	}
	sortRows(r.Rows)
	return r, nil
}
