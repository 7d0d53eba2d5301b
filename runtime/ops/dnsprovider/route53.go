package dnsprovider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libdns/libdns"
)

// route53 implements the required part of the Amazon Route 53 API: three requests
// (https://docs.aws.amazon.com/Route53/latest/APIReference/). Its unit is the record set: all records with
// one name and type, which are written together.
type route53 struct {
	http   *http.Client
	key    awsKey
	zoneID string // if empty, looked up by the name of the zone
	pause  time.Duration
}

var _ backend = (*route53)(nil)

const (
	route53Address = "https://route53.amazonaws.com"
	route53API     = "/2013-04-01/"
	route53Space   = "https://route53.amazonaws.com/doc/2013-04-01/"

	route53TTL = 300 // default, in seconds
)

// openRoute53 does not connect yet.
func openRoute53(_ context.Context, s *Service, c given) (backend, error) {
	// The service has no regions; its API is signed for this region.
	key := awsKey{id: c["access_key_id"], secret: c["secret_access_key"], session: c["session_token"],
		region: "us-east-1", service: "route53"}
	return &route53{http: s.http, key: key, zoneID: c["hosted_zone_id"], pause: s.retryPause}, nil
}

// route53Set is a resource record set.
type route53Set struct {
	Name string
	Type string
	// distinguishes several sets with the same name and type, with a routing policy
	SetIdentifier string         `xml:",omitempty"`
	TTL           int            `xml:",omitempty"`
	Values        []route53Value `xml:"ResourceRecords>ResourceRecord"` // empty for an alias
}

type route53Value struct{ Value string }

// GetRecords returns all records of a zone, except for aliases, which have no values.
func (p *route53) GetRecords(ctx context.Context, zone string) ([]libdns.Record, error) {
	_, sets, err := p.sets(ctx, zone)
	if err != nil {
		return nil, err
	}
	var records []libdns.Record
	for _, set := range sets {
		for _, v := range set.Values {
			records = append(records, set.record(zone, v))
		}
	}
	return records, nil
}

// AppendRecords adds records to their sets.
func (p *route53) AppendRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	return p.change(ctx, zone, records, func(set *route53Set, rr libdns.RR) bool {
		set.TTL = cmp.Or(set.TTL, int(rr.TTL.Seconds()), route53TTL)
		set.Values = append(set.Values, route53Value{route53Text(rr)})
		return true
	})
}

// DeleteRecords removes records from their sets, and returns those that existed.
func (p *route53) DeleteRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	return p.change(ctx, zone, records, func(set *route53Set, rr libdns.RR) bool {
		before := len(set.Values)
		set.Values = slices.DeleteFunc(set.Values, func(v route53Value) bool {
			return set.record(zone, v).RR().
				Data == rr.Data
		})
		return len(set.Values) < before
	})
}

// change edits the set of each record in turn and writes the whole set.
func (p *route53) change(ctx context.Context, zone string, records []libdns.Record,
	edit func(*route53Set, libdns.RR) bool) ([]libdns.Record, error) {
	var changed []libdns.Record
	for _, record := range records {
		rr := record.RR()
		zoneID, sets, err := p.sets(ctx, zone)
		if err != nil {
			return changed, err
		}
		set := route53Set{Name: libdns.AbsoluteName(rr.Name, zone), Type: rr.Type}
		if at := slices.IndexFunc(sets, set.same); at >= 0 {
			set = sets[at]
		}
		if set.SetIdentifier != "" {
			return changed, fmt.Errorf("the records %s %s have a routing policy", set.Type, set.Name)
		}
		before := set
		before.Values = slices.Clone(set.Values)
		if !edit(&set, rr) {
			continue
		}
		action := "UPSERT"
		if len(set.Values) == 0 { // deleting a set requires its current content
			action, set = "DELETE", before
		}
		if err := p.write(ctx, zoneID, action, set); err != nil {
			return changed, err
		}
		changed = append(changed, record)
	}
	return changed, nil
}

func (s route53Set) same(other route53Set) bool {
	return s.Type == other.Type && canonicalName(s.Name) == canonicalName(other.Name)
}

// record returns one value of the set as a record.
func (s route53Set) record(zone string, v route53Value) libdns.Record {
	rr := libdns.RR{Name: libdns.RelativeName(route53Unescape(s.Name), zone), Type: s.Type,
		TTL: time.Duration(s.TTL) * time.Second, Data: v.Value}
	if s.Type == "TXT" || s.Type == "SPF" {
		rr.Data = route53Unquote(v.Value)
	}
	return rr
}

// route53Text returns the value in the API's format: texts are quoted.
func route53Text(rr libdns.RR) string {
	if rr.Type == "TXT" || rr.Type == "SPF" {
		return quoteStrings(rr.Data)
	}
	return rr.Data
}

// route53Escape matches an escaped byte: one outside of plain ASCII, or one with a special meaning.
var route53Escape = regexp.MustCompile(`\\(?:[0-3][0-7][0-7]|.)`)

func route53Unescape(s string) string {
	return route53Escape.ReplaceAllStringFunc(s, func(escaped string) string {
		if len(escaped) == 4 {
			if octet, err := strconv.ParseUint(escaped[1:], 8, 8); err == nil {
				return string([]byte{byte(octet)})
			}
		}
		return escaped[1:]
	})
}

// route53Unquote joins the strings of a text.
func route53Unquote(value string) string {
	value = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(value), `"`), `"`)
	return route53Unescape(seam.ReplaceAllString(value, ""))
}

// sets reads the whole zone.
func (p *route53) sets(ctx context.Context, zone string) (zoneID string, sets []route53Set, err error) {
	if zoneID, err = p.findZone(ctx, zone); err != nil {
		return "", nil, err
	}
	query := url.Values{"maxitems": {"1000"}}
	for {
		var page struct {
			Sets                                                 []route53Set `xml:"ResourceRecordSets>ResourceRecordSet"`
			IsTruncated                                          bool
			NextRecordName, NextRecordType, NextRecordIdentifier string
		}
		if err := p.ask(ctx, http.MethodGet, "hostedzone/"+url.PathEscape(zoneID)+"/rrset", query, nil,
			&page); err != nil {
			return "", nil, err
		}
		sets = append(sets, page.Sets...)
		if !page.IsTruncated {
			return zoneID, sets, nil
		}
		query = url.Values{"maxitems": {"1000"}, "name": {page.NextRecordName}, "type": {page.NextRecordType}}
		if page.NextRecordIdentifier != "" {
			query.Set("identifier", page.NextRecordIdentifier)
		}
	}
}

// findZone returns the id of the hosted zone with that name, preferably a public one.
func (p *route53) findZone(ctx context.Context, zone string) (string, error) {
	if p.zoneID != "" {
		return p.zoneID, nil
	}
	var found struct {
		Zones []struct {
			ID      string `xml:"Id"`
			Name    string
			Private bool `xml:"Config>PrivateZone"`
		} `xml:"HostedZones>HostedZone"`
	}
	if err := p.ask(ctx, http.MethodGet, "hostedzonesbyname", url.Values{"dnsname": {zone}, "maxitems": {"100"}}, nil,
		&found); err != nil {
		return "", err
	}
	id := ""
	for _, z := range found.Zones {
		if canonicalName(z.Name) != canonicalName(zone) || id != "" && z.Private {
			continue
		}
		if id = strings.TrimPrefix(z.ID, "/hostedzone/"); !z.Private {
			break
		}
	}
	if id == "" {
		return "", fmt.Errorf("the account has no hosted zone %s", zone)
	}
	return id, nil
}

func (p *route53) write(ctx context.Context, zoneID, action string, set route53Set) error {
	type change struct {
		Action string
		Set    route53Set `xml:"ResourceRecordSet"`
	}
	body, err := xml.Marshal(struct { //nolint:musttag // the names of the API are those of the fields
		XMLName xml.Name `xml:"ChangeResourceRecordSetsRequest"`
		Space   string   `xml:"xmlns,attr"`
		Changes []change `xml:"ChangeBatch>Changes>Change"`
	}{Space: route53Space, Changes: []change{{action, set}}})
	if err != nil {
		return err
	}
	return p.ask(ctx, http.MethodPost, "hostedzone/"+url.PathEscape(zoneID)+"/rrset/", nil, body, nil)
}

// ask sends a request and decodes its response. It retries a temporary error once.
func (p *route53) ask(ctx context.Context, method, path string, query url.Values, body []byte, into any) error {
	return retryOnce(ctx, p.pause, func() error { return p.doOnce(ctx, method, path, query, body, into) })
}

func (p *route53) doOnce(ctx context.Context, method, path string, query url.Values, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, route53Address+route53API+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.URL.RawQuery = awsQuery(query)
	if body != nil {
		r.Header.Set("Content-Type", "application/xml")
	}
	p.key.sign(r, body, time.Now())
	answer, err := p.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said := xml.NewDecoder(io.LimitReader(answer.Body, maxResponse))
	if answer.StatusCode != http.StatusOK {
		refused := &route53Error{status: answer.StatusCode}
		if err := said.Decode(refused); err != nil {
			refused.Code = http.StatusText(answer.StatusCode) // not an error of the API
		}
		return refused
	}
	if into == nil {
		return nil
	}
	if err := said.Decode(into); err != nil {
		return fmt.Errorf("invalid response: %w", err)
	}
	return nil
}

// route53Error is an error response: ErrorResponse, or InvalidChangeBatch, which has Messages.
type route53Error struct {
	status   int
	Code     string   `xml:"Error>Code"`
	Message  string   `xml:"Error>Message"`
	Messages []string `xml:"Messages>Message"`
}

func (e *route53Error) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", e.status, e.Code,
		strings.Join(append(e.Messages, e.Message), " ")))
}

// isTemporary reports whether the same request may succeed a moment later.
func (e *route53Error) isTemporary() bool {
	return e.status >= http.StatusInternalServerError || e.status == http.StatusTooManyRequests ||
		e.Code == "Throttling" || e.Code == "PriorRequestNotComplete"
}
