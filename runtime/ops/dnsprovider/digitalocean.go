package dnsprovider

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/libdns/libdns"
)

// digitalOcean implements the required part of the DigitalOcean API
// (https://docs.digitalocean.com/reference/api/digitalocean/#tag/Domain-Records). Its unit is the record, which
// has an id.
type digitalOcean struct{ api restClient }

var _ backend = (*digitalOcean)(nil)

// openDigitalOcean does not connect yet.
func openDigitalOcean(_ context.Context, s *Service, c given) (backend, error) {
	return &digitalOcean{s.newRESTClient("https://api.digitalocean.com/v2/", c["api_token"])}, nil
}

type digitalOceanRecord struct {
	ID       int64   `json:"id,omitempty"`
	Type     string  `json:"type"`
	Name     string  `json:"name"`
	Data     string  `json:"data"` // a host has a final dot in requests, but not in responses
	Priority *uint16 `json:"priority,omitempty"`
	TTL      int     `json:"ttl,omitempty"`
}

// identifiedRecord is a record with the id that a provider gave it.
type identifiedRecord struct {
	rr libdns.RR
	id int64
}

// RR returns the record without its id.
func (r identifiedRecord) RR() libdns.RR { return r.rr }

func (r digitalOceanRecord) record() libdns.Record {
	rr := libdns.RR{Type: r.Type, Name: r.Name, Data: r.Data, TTL: time.Duration(r.TTL) * time.Second}
	if r.Type == "MX" && r.Priority != nil {
		rr.Data = strconv.Itoa(int(*r.Priority)) + " " + r.Data
	}
	return identifiedRecord{rr, r.ID}
}

func recordsPath(zone string) string {
	return "domains/" + url.PathEscape(strings.TrimSuffix(zone, ".")) + "/records"
}

// GetRecords returns all records of a zone.
func (p *digitalOcean) GetRecords(ctx context.Context, zone string) ([]libdns.Record, error) {
	var records []libdns.Record
	for number := 1; number <= maxPages; number++ {
		var page struct {
			Records []digitalOceanRecord `json:"domain_records"`
			Links   struct{ Pages struct{ Next string } }
		}
		query := url.Values{"per_page": {"200"}, "page": {strconv.Itoa(number)}}
		if err := p.api.call(ctx, http.MethodGet, recordsPath(zone), query, nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			records = append(records, r.record())
		}
		if page.Links.Pages.Next == "" {
			return records, nil
		}
	}
	return nil, errTooManyRecords
}

// AppendRecords adds records, and returns them with their ids.
func (p *digitalOcean) AppendRecords(ctx context.Context, zone string,
	records []libdns.Record) ([]libdns.Record, error) {
	var added []libdns.Record
	for _, record := range records {
		rr := record.RR()
		r := digitalOceanRecord{Type: rr.Type, Name: rr.Name, Data: rr.Data, TTL: int(rr.TTL.Seconds())}
		if mx, ok := record.(libdns.MX); ok {
			r.Data, r.Priority = mx.Target, &mx.Preference
		}
		var answer struct {
			Record digitalOceanRecord `json:"domain_record"`
		}
		if err := p.api.call(ctx, http.MethodPost, recordsPath(zone), nil, r, &answer); err != nil {
			return added, err
		}
		added = append(added, answer.Record.record())
	}
	return added, nil
}

// DeleteRecords removes records that GetRecords or AppendRecords returned, and returns those that existed.
func (p *digitalOcean) DeleteRecords(ctx context.Context, zone string,
	records []libdns.Record) ([]libdns.Record, error) {
	var deleted []libdns.Record
	for _, record := range records {
		identified, ok := record.(identifiedRecord)
		if !ok {
			return deleted, errors.New("the record has no id")
		}
		path := recordsPath(zone) + "/" + strconv.FormatInt(identified.id, 10)
		err := p.api.call(ctx, http.MethodDelete, path, nil, nil, nil)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return deleted, err
		}
		deleted = append(deleted, record)
	}
	return deleted, nil
}

var errTooManyRecords = errors.New("the zone has too many records")
